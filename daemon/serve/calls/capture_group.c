/* SPDX-License-Identifier: Apache-2.0 */
/* Captures of several programs; see capture_group.h. */
#include "daemon/serve/calls/capture_group.h"

#include "base/clock.h"
#include "daemon/pipeline/recording/capture.h"

/* Beyond the recording, a member may be silent that long while it makes its trace. */
#define GRACE_MS 60000
#define LOOK_MS 20

struct group_member *capture_group_add(struct capture_group *g)
{
	return &g->members[g->n++];
}

static int64_t find_give_up_ns(const Tensorflow__ProfileRequest *q)
{
	uint64_t ms = q->opts && q->opts->duration_ms ? q->opts->duration_ms : q->duration_ms;
	int64_t wait_ms =
		q->opts ? capture_find_wait_ns(q->opts->start_timestamp_ns) / NS_PER_MS : 0;

	return ms > INT32_MAX || wait_ms > INT32_MAX
		       ? INT64_MAX
		       : monotonic_ns() + ((int64_t)ms + wait_ms + GRACE_MS) * NS_PER_MS;
}

/* A member that is ours and has no channel has an error instead. */
static int can_be_asked(const struct group_member *m)
{
	return !m->is_local && (m->channel || !m->is_ours);
}

void capture_group_start(struct capture_group *g, const Tensorflow__ProfileRequest *request)
{
	int64_t give_up_ns = find_give_up_ns(request);

	for (size_t i = 0; i < g->n; i++) {
		g->members[i].capture.progress_interval_ms = g->progress_interval_ms;
		if (can_be_asked(&g->members[i]))
			group_member_start(&g->members[i], request, &g->share, give_up_ns);
	}
}

void capture_group_start_snapshot(struct capture_group *g, const struct remote_snapshot *what)
{
	int64_t give_up_ns = monotonic_ns() + GRACE_MS * NS_PER_MS;

	for (size_t i = 0; i < g->n; i++)
		if (can_be_asked(&g->members[i]))
			group_member_start_snapshot(&g->members[i], what, &g->share, give_up_ns);
}

/*
 * One round over all members; it waits a little if the round before had nothing to read. Returns
 * how many are not over.
 */
static int capture_group_poll(struct capture_group *g)
{
	int n_left = 0;

	g->turn.wait_ms = g->turn.has_read ? 0 : LOOK_MS;
	g->turn.has_read = 0;
	g->turn.n_streams = 0;
	for (size_t i = 0; i < g->n; i++)
		if (!g->members[i].is_local)
			n_left += group_member_poll(&g->members[i], &g->turn);
	return n_left;
}

int capture_group_record(struct capture_group *g, int (*is_cancelled)(void *context), void *context)
{
	int is_over = 0;

	while (!is_over && capture_group_poll(g))
		is_over = is_cancelled(context);
	return is_over;
}

void capture_group_ask_to_end(struct capture_group *g, const char *session_id)
{
	for (size_t i = 0; i < g->n; i++)
		if (!g->members[i].is_local)
			group_member_ask_to_end(&g->members[i], session_id);
}

void capture_group_end(struct capture_group *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (!g->members[i].is_local)
			group_member_end(&g->members[i]);
}

void capture_group_deinit(struct capture_group *g)
{
	for (size_t i = 0; i < g->n; i++)
		group_member_deinit(&g->members[i]);
}
