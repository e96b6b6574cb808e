/* SPDX-License-Identifier: Apache-2.0 */
/* Stock profiler servers among the programs; see stock_finder.h. */
#include "daemon/host/programs/stock_finder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/log.h"
#include "daemon/host/programs/programs.h"
#include "daemon/kernel/container.h"
#include "daemon/kernel/proc_file.h"
#include "daemon/serve/children/starter.h"
#include "daemon/serve/children/stock_query.h"

#define ANSWER_MS 500
/*
 * A program that does not answer is asked this many times, because it may have just begun to
 * listen. A stopped program is asked when it continues.
 */
#define MAX_SILENT 5

static struct seen_socket *find_seen(struct stock_finder *s, uint64_t inode)
{
	for (size_t i = 0; i < s->n_seen; i++)
		if (s->seen[i].inode == inode)
			return &s->seen[i];
	return NULL;
}

static bool socket_is_listed(const struct stock_servers *now, uint64_t inode)
{
	for (size_t i = 0; i < now->n; i++)
		if (now->v[i].inode == inode)
			return true;
	return false;
}

/* Forgets sockets that are closed, and their programs. */
static void forget_closed(struct stock_finder *s, const struct stock_servers *now)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_seen; i++) {
		if (socket_is_listed(now, s->seen[i].inode))
			s->seen[n++] = s->seen[i];
		else if (s->seen[i].id)
			programs_remove(s->programs, s->seen[i].id);
	}
	s->n_seen = n;
}

static bool must_ask(const struct seen_socket *seen)
{
	return !seen || (seen->n_silent && seen->n_silent < MAX_SILENT &&
				!proc_is_stopped(seen->silent_pid));
}

static void remove_known(struct stock_finder *s, struct stock_servers *now)
{
	size_t n = 0;

	for (size_t i = 0; i < now->n; i++)
		if (must_ask(find_seen(s, now->v[i].inode)))
			now->v[n++] = now->v[i];
	now->n = n;
}

static uint64_t add_program(struct stock_finder *s, const struct stock_server *one)
{
	struct program p = {.connection = -1, .pid = one->pid, .uid = one->uid};
	const char *form = strchr(one->address, ':') ? "[%s]:%u" : "%s:%u";

	p.status.pid = one->pid;
	p.status.uid = one->uid;
	p.status.port = one->port;
	p.status.since_ns = one->since_ns;
	memcpy(p.status.name, one->name, sizeof p.status.name);
	memcpy(p.status.make, one->make, sizeof p.status.make);
	snprintf(p.status.address, sizeof p.status.address, "%s", one->address);
	snprintf(p.stock_address, sizeof p.stock_address, form, one->address, one->port);
	container_find("", p.pid, &p.container);
	log_info(LOG_TARGET, "process %d (%s) of uid %u has a server of %s's at %s", (int)p.pid,
		p.status.name, (unsigned)p.uid, p.status.make, p.stock_address);
	return programs_add(s->programs, &p);
}

static void take_socket(struct stock_finder *s, const struct stock_server *one)
{
	struct seen_socket *seen = find_seen(s, one->inode);

	if (!seen) {
		if (grow(&s->seen, &s->n_allocated, s->n_seen + 1))
			return;
		seen = &s->seen[s->n_seen++];
		*seen = (struct seen_socket){.inode = one->inode};
	}
	seen->n_silent = one->pid && !one->has_answered ? seen->n_silent + 1 : 0;
	seen->silent_pid = one->pid;
	if (one->is_one)
		seen->id = add_program(s, one);
}

static void examine_sockets(uv_work_t *work)
{
	struct stock_finder *s = work->data;

	stock_servers_identify(&s->fresh, 0);
	stock_servers_ask(&s->fresh, ANSWER_MS);
	stock_query_ask(s->starter, &s->fresh);
}

static void on_searched(uv_work_t *work, int status)
{
	struct stock_finder *s = work->data;

	s->is_searching = false;
	for (size_t i = 0; i < s->fresh.n && !status; i++)
		take_socket(s, &s->fresh.v[i]);
	stock_servers_deinit(&s->fresh);
}

void stock_finder_search(struct stock_finder *s, bool is_wanted)
{
	if (s->is_searching)
		return;
	if (!is_wanted) {
		forget_closed(s, &s->fresh);
	} else if (stock_servers_list(&s->fresh, s->starter->may_become_others) == 0) {
		forget_closed(s, &s->fresh);
		remove_known(s, &s->fresh);
		s->work.data = s;
		s->is_searching = s->fresh.n &&
				  !uv_queue_work(s->loop, &s->work, examine_sockets, on_searched);
	}
	if (!s->is_searching)
		stock_servers_deinit(&s->fresh);
}

void stock_finder_deinit(struct stock_finder *s)
{
	stock_servers_deinit(&s->fresh);
	free(s->seen);
	s->seen = NULL;
	s->n_seen = s->n_allocated = 0;
}
