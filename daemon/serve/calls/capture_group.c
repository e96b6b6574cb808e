/* SPDX-License-Identifier: Apache-2.0 */
/* Captures of several programs; see capture_group.h. */
#include "daemon/serve/calls/capture_group.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "daemon/kernel/time_namespace.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/serve/remote/remote_error.h"
#include "proto/pack.h"
#include "rpc/client.h"
#include "rpc/server.h"

#define DEFAULT_SILENCE_NS (60 * NS_PER_S)
#define RECORD_WAIT_MS 20
/* The time between two requests to end a recording. */
#define ASK_AGAIN_NS (NS_PER_S / 5)
/* The limit of streams that are read at a time: each holds a message of 1 MiB in memory. */
#define STREAMS_AT_A_TIME 16

struct group_member *capture_group_add(struct capture_group *g)
{
	return &g->members[g->n++];
}

void group_member_fail(struct group_member *m, const char *text)
{
	remote_error_format(m->error, sizeof m->error, m->name, text);
}

bool group_member_is_over(const struct group_member *m)
{
	return m->is_stock ? remote_profile_is_over(&m->profile)
			   : remote_capture_is_over(&m->capture);
}

/* --- asking -------------------------------------------------------------------------------- */

static uint64_t request_find_duration_ms(const Tensorflow__ProfileRequest *request)
{
	return request->opts && request->opts->duration_ms ? request->opts->duration_ms
							   : request->duration_ms;
}

/* A ProfileRequest has two fields for the id of the session. */
static char *member_find_session_id(const struct group_member *m)
{
	const Tensorflow__ProfileRequest *request = m->request;

	if (m->session_id)
		return (char *)m->session_id;
	return request->opts && request->opts->session_id[0] ? request->opts->session_id
							     : request->session_id;
}

static void member_find_options(const struct group_member *m, Tensorflow__ProfileOptions *options)
{
	tensorflow__profile_options__init(options);
	if (m->request->opts)
		*options = *m->request->opts;
	remote_capture_fill_options(options);
	options->duration_ms = request_find_duration_ms(m->request);
	options->session_id = member_find_session_id(m);
}

static struct rpc_channel *member_take_channel(struct group_member *m)
{
	struct rpc_channel *channel =
		m->channel ? m->channel : rpc_channel_new_to(m->address ? m->address : m->name);

	m->channel = NULL;
	return channel;
}

static void member_start_stock(struct group_member *m)
{
	Tensorflow__ProfileRequest request = *m->request;
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t n = 0;

	m->is_stock = true;
	request.host_name = (char *)(m->address ? m->address : m->name);
	if (proto_pack(&request.base, &bytes, &n))
		remote_profile_fail(&m->profile, "out of memory");
	else
		remote_profile_start(
			&m->profile, m->name, member_take_channel(m), bytes, n, m->share);
}

static void member_start(struct group_member *m)
{
	Tensorflow__ProfileOptions options;

	member_find_options(m, &options);
	/* A Profile without a duration ends at once; a Capture must have a duration. */
	if (options.duration_ms && !m->is_stock)
		remote_capture_start(
			&m->capture, m->name, member_take_channel(m), &options, m->share);
	else
		member_start_stock(m);
}

static void member_refuse_words(struct group_member *m)
{
	m->profile.status = RPC_UNIMPLEMENTED;
	group_member_fail(m,
		"JAX's and TensorFlow's profiler servers have no flight recorder, and no names for "
		"sessions; ask for the session that runs, without a name");
}

static void member_start_snapshot(struct group_member *m, const struct remote_snapshot *what)
{
	if (!m->is_stock)
		remote_capture_start_snapshot(
			&m->capture, m->name, member_take_channel(m), what, m->share);
	else if ((what->session_id && what->session_id[0]) || what->last_ms)
		member_refuse_words(m);
	else
		remote_profile_start_snapshot(
			&m->profile, m->name, member_take_channel(m), what->ends, m->share);
}

/* A member with |is_ours| and without a channel has an error already. */
static bool member_can_be_asked(const struct group_member *m)
{
	return !m->is_local && (m->channel || !m->is_ours);
}

static int64_t request_find_give_up_ns(const Tensorflow__ProfileRequest *q, int64_t silence_ns)
{
	uint64_t ms = request_find_duration_ms(q);
	int64_t wait_ms =
		q->opts ? capture_find_wait_ns(q->opts->start_timestamp_ns) / NS_PER_MS : 0;

	return ms > INT32_MAX || wait_ms > INT32_MAX
		       ? INT64_MAX
		       : monotonic_ns() + ((int64_t)ms + wait_ms) * NS_PER_MS + silence_ns;
}

static void group_prepare_member(struct capture_group *g, struct group_member *m)
{
	m->share = &g->share;
	m->capture.progress_interval_ms = g->progress_interval_ms;
	m->silence_ns = g->silence_ns ? g->silence_ns : DEFAULT_SILENCE_NS;
}

void capture_group_start_member(
	struct capture_group *g, struct group_member *m, const Tensorflow__ProfileRequest *request)
{
	group_prepare_member(g, m);
	m->request = request;
	m->give_up_ns = request_find_give_up_ns(request, m->silence_ns);
	if (member_can_be_asked(m))
		member_start(m);
}

void capture_group_start(struct capture_group *g, const Tensorflow__ProfileRequest *request)
{
	for (size_t i = 0; i < g->n; i++)
		capture_group_start_member(g, &g->members[i], request);
}

void capture_group_start_snapshot(struct capture_group *g, const struct remote_snapshot *what)
{
	for (size_t i = 0; i < g->n; i++) {
		struct group_member *m = &g->members[i];

		group_prepare_member(g, m);
		m->give_up_ns = monotonic_ns() + m->silence_ns;
		if (member_can_be_asked(m))
			member_start_snapshot(m, what);
	}
}

/*
 * A request for an end has no effect if the server takes it before the capture, as gRPC may send
 * the later of two calls first. So requests are made until one has followed the server's first
 * message.
 */
static void member_ask_stream_to_end(struct group_member *m)
{
	m->ask_again_ns = m->capture.has_begun ? 0 : monotonic_ns() + ASK_AGAIN_NS;
	remote_capture_ask_to_end(&m->capture, member_find_session_id(m));
}

static void member_ask_to_end(struct group_member *m, int64_t end_ns)
{
	if (m->is_stock) {
		remote_profile_ask_to_end(&m->profile, member_find_session_id(m));
	} else if (!remote_capture_is_over(&m->capture)) {
		member_ask_stream_to_end(m);
		m->end_by_ns = end_ns ? monotonic_ns() + end_ns : 0;
	}
}

void capture_group_ask_to_end(struct capture_group *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (!g->members[i].is_local)
			member_ask_to_end(&g->members[i], g->end_ns);
}

/* --- the outcome --------------------------------------------------------------------------- */

static void member_take_outcome(struct group_member *m, struct spool *spool, const char *error)
{
	if (!m->error[0])
		snprintf(m->error, sizeof m->error, "%s", error);
	if (!m->error[0] && !m->trace && spool && delivery_new_from_file(spool, &m->trace))
		group_member_fail(m, "out of memory");
}

/*
 * Copies the start and duration of the recording from the trace. The end in the trace may include
 * the time of collecting, so the requested duration is the limit. The values are valid only if the
 * server is on this machine.
 */
static void member_note_window(struct group_member *m)
{
	uint64_t asked_ms = m->request ? request_find_duration_ms(m->request) : 0;
	int64_t start_ns = m->profile.start_unix_ns - clock_find_unix_offset_ns() -
			   time_namespace_find_ahead_ns("", 0);

	if (m->profile.start_unix_ns <= 0 || m->profile.stop_unix_ns <= m->profile.start_unix_ns ||
		start_ns <= 0)
		return;
	m->capture.start_unix_ns = (uint64_t)m->profile.start_unix_ns;
	m->capture.usage_since_ns = (uint64_t)start_ns;
	m->capture.usage_duration_ns =
		(uint64_t)(m->profile.stop_unix_ns - m->profile.start_unix_ns);
	if (asked_ms && asked_ms < m->capture.usage_duration_ns / NS_PER_MS)
		m->capture.usage_duration_ns = asked_ms * NS_PER_MS;
}

/* Gives the member up unless it is over; takes its outcome. A second call is allowed. */
static void member_end(struct group_member *m)
{
	if (m->is_stock) {
		remote_profile_end(&m->profile);
		m->is_empty = m->profile.is_empty;
		m->capture.status = m->profile.status;
		m->capture.n_events = m->profile.n_events;
		member_note_window(m);
		member_take_outcome(m, m->profile.trace.spool, m->profile.error);
		return;
	}
	remote_capture_end(&m->capture);
	m->is_empty = m->capture.is_empty;
	member_take_outcome(m, m->capture.trace.spool, m->capture.error);
}

/* --- reading ------------------------------------------------------------------------------- */

/* Called when the member has sent something, or when it was not its turn. */
static void member_grant_time(struct group_member *m)
{
	int64_t until_ns = monotonic_ns() + m->silence_ns;

	if (m->give_up_ns < until_ns)
		m->give_up_ns = until_ns;
}

static void member_repeat_request(struct group_member *m)
{
	if (m->ask_again_ns && monotonic_ns() >= m->ask_again_ns &&
		remote_capture_end_is_answered(&m->capture, 0))
		member_ask_stream_to_end(m);
}

/*
 * When the request for an end has been answered, limits the silence of the member. In a recording
 * without a duration it had no limit before.
 */
static void member_note_end_answer(struct group_member *m)
{
	if (!m->end_by_ns || !remote_capture_end_is_answered(&m->capture, 0))
		return;
	m->end_by_ns = 0;
	m->give_up_ns = monotonic_ns() + m->silence_ns;
}

static bool member_is_silent(const struct group_member *m)
{
	int64_t now_ns = monotonic_ns();

	return now_ns >= m->give_up_ns || (m->end_by_ns && now_ns >= m->end_by_ns);
}

/* Only one member waits in each round; the calls of the others continue meanwhile. */
static int64_t turn_take_wait(struct group_turn *turn)
{
	int64_t wait_ms = turn->wait_ms;

	turn->wait_ms = 0;
	return wait_ms;
}

static void member_poll_stock(struct group_member *m, struct group_turn *turn)
{
	if (remote_profile_is_over(&m->profile) ||
		!remote_profile_has_begun(&m->profile, turn_take_wait(turn)))
		return;
	if (turn->stock != m)
		member_grant_time(m);
	if (!turn->stock)
		turn->stock = m;
	if (turn->stock == m && remote_profile_read(&m->profile, turn_take_wait(turn)))
		turn->has_read = true;
}

static void member_poll_stream(struct group_member *m, struct group_turn *turn)
{
	if (remote_capture_is_over(&m->capture))
		return;
	member_note_end_answer(m);
	member_repeat_request(m);
	/* A server that has not sent anything yet may not know the call, so always read from it. */
	if (m->capture.has_begun && turn->n_streams++ >= STREAMS_AT_A_TIME) {
		member_grant_time(m);
	} else if (remote_capture_read(&m->capture, turn_take_wait(turn))) {
		member_grant_time(m);
		turn->has_read = true;
	}
}

/* Reads from a member if it is its turn. Returns false if the member is over. */
static bool member_poll(struct group_member *m, struct group_turn *turn)
{
	if (!m->is_stock)
		member_poll_stream(m, turn);
	if (!m->is_stock && !m->is_ours && remote_capture_is_unknown(&m->capture)) {
		remote_capture_deinit(&m->capture);
		member_start_stock(m);
		turn->has_read = true;
	}
	if (m->is_stock)
		member_poll_stock(m, turn);
	/*
	 * Gives up a silent member: its disk space goes back to the share, and its server stops
	 * recording.
	 */
	if (!group_member_is_over(m) && member_is_silent(m))
		member_end(m);
	if (!group_member_is_over(m))
		return true;
	if (turn->stock == m)
		turn->stock = NULL;
	return false;
}

int capture_group_poll(struct capture_group *g, int64_t wait_ms)
{
	int n_left = 0;

	g->turn.wait_ms = g->turn.has_read ? 0 : wait_ms;
	g->turn.has_read = false;
	g->turn.n_streams = 0;
	for (size_t i = 0; i < g->n; i++)
		if (!g->members[i].is_local)
			n_left += member_poll(&g->members[i], &g->turn);
	return n_left;
}

bool capture_group_record(
	struct capture_group *g, bool (*is_cancelled)(void *context), void *context)
{
	bool is_over = false;

	while (!is_over && capture_group_poll(g, RECORD_WAIT_MS))
		is_over = is_cancelled(context);
	return is_over;
}

void capture_group_end(struct capture_group *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (!g->members[i].is_local)
			member_end(&g->members[i]);
}

void group_member_deinit(struct group_member *m)
{
	remote_capture_deinit(&m->capture);
	remote_profile_deinit(&m->profile);
	m->channel = rpc_channel_free(m->channel);
	m->trace = delivery_free(m->trace);
}

void capture_group_deinit(struct capture_group *g)
{
	for (size_t i = 0; i < g->n; i++)
		group_member_deinit(&g->members[i]);
}
