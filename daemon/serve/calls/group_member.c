/* SPDX-License-Identifier: Apache-2.0 */
/* Members of a capture group; see group_member.h. */
#include "daemon/serve/calls/group_member.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "daemon/kernel/time_namespace.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/serve/remote/remote_error.h"
#include "proto/pack.h"
#include "rpc/client.h"
#include "rpc/server.h"

/*
 * A server may be silent that long while it makes a trace or its next part, or a whole answer of
 * Profile.
 */
#define SILENCE_NS (60 * NS_PER_S)
/* Streams are read from so many at a time: each holds a message of 1 MiB in memory. */
#define AT_A_TIME 16

void group_member_fail(struct group_member *m, const char *text)
{
	remote_error_format(m->error, sizeof m->error, m->name, text);
}

/* Asking. */

/* A ProfileRequest has the duration and the session in two places. */
static void find_options(
	const Tensorflow__ProfileRequest *request, Tensorflow__ProfileOptions *options)
{
	tensorflow__profile_options__init(options);
	if (request->opts)
		*options = *request->opts;
	remote_capture_fill_options(options);
	if (!options->duration_ms)
		options->duration_ms = request->duration_ms;
	if (!options->session_id[0])
		options->session_id = request->session_id;
}

static struct rpc_channel *take_channel(struct group_member *m)
{
	struct rpc_channel *channel =
		m->channel ? m->channel : rpc_channel_new_to(m->address ? m->address : m->name);

	m->channel = NULL;
	return channel;
}

static void start_stock(struct group_member *m)
{
	Tensorflow__ProfileRequest request = *m->request;
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t n = 0;

	m->is_stock = 1;
	request.host_name = (char *)(m->address ? m->address : m->name);
	if (proto_pack(&request.base, &bytes, &n))
		remote_profile_fail(&m->profile, "out of memory");
	else
		remote_profile_start(&m->profile, m->name, take_channel(m), bytes, n, m->share);
}

void group_member_start(struct group_member *m, const Tensorflow__ProfileRequest *request,
	struct disk_share *share, int64_t give_up_ns)
{
	Tensorflow__ProfileOptions options;

	m->request = request;
	m->share = share;
	m->give_up_ns = give_up_ns;
	find_options(request, &options);
	/* A Profile without a duration ends at once; a Capture takes none. */
	if (options.duration_ms && !m->is_stock)
		remote_capture_start(&m->capture, m->name, take_channel(m), &options, share);
	else
		start_stock(m);
}

static void refuse_words(struct group_member *m)
{
	m->profile.status = RPC_UNIMPLEMENTED;
	group_member_fail(m,
		"JAX's and TensorFlow's profiler servers have no flight recorder, and no names for "
		"sessions; ask for the session that runs, without a name");
}

void group_member_start_snapshot(struct group_member *m, const struct remote_snapshot *what,
	struct disk_share *share, int64_t give_up_ns)
{
	m->share = share;
	m->give_up_ns = give_up_ns;
	if (!m->is_stock)
		remote_capture_start_snapshot(&m->capture, m->name, take_channel(m), what, share);
	else if ((what->session_id && what->session_id[0]) || what->last_ms)
		refuse_words(m);
	else
		remote_profile_start_snapshot(
			&m->profile, m->name, take_channel(m), what->ends, share);
}

void group_member_ask_to_end(struct group_member *m, const char *session_id)
{
	if (m->is_stock)
		remote_profile_ask_to_end(&m->profile, session_id);
	else if (!remote_capture_is_over(&m->capture))
		remote_capture_ask_to_end(&m->capture, session_id);
}

int group_member_is_over(const struct group_member *m)
{
	return m->is_stock ? remote_profile_is_over(&m->profile)
			   : remote_capture_is_over(&m->capture);
}

/* Reading. */

/* To be called when it has answered something, or was not read from. */
static void grant_time(struct group_member *m)
{
	int64_t until_ns = monotonic_ns() + SILENCE_NS;

	if (m->give_up_ns < until_ns)
		m->give_up_ns = until_ns;
}

static int is_silent(const struct group_member *m)
{
	return monotonic_ns() >= m->give_up_ns;
}

/* Only one member waits in a round; the calls of the others go on meanwhile. */
static int64_t take_wait(struct group_turn *turn)
{
	int64_t wait_ms = turn->wait_ms;

	turn->wait_ms = 0;
	return wait_ms;
}

static int poll_stock(struct group_member *m, struct group_turn *turn)
{
	if (remote_profile_is_over(&m->profile))
		return 0;
	if (!remote_profile_has_begun(&m->profile, take_wait(turn)))
		return !is_silent(m);
	if (turn->stock != m)
		grant_time(m);
	if (!turn->stock)
		turn->stock = m;
	if (turn->stock != m)
		return 1;
	if (remote_profile_read(&m->profile, take_wait(turn)))
		turn->has_read = 1;
	return !remote_profile_is_over(&m->profile) && !is_silent(m);
}

static int poll_stream(struct group_member *m, struct group_turn *turn)
{
	if (remote_capture_is_over(&m->capture))
		return 0;
	/* A server that has not answered at all may not know the call. */
	if (m->capture.has_begun && turn->n_streams++ >= AT_A_TIME) {
		grant_time(m);
		return 1;
	}
	if (remote_capture_read(&m->capture, take_wait(turn))) {
		grant_time(m);
		turn->has_read = 1;
	}
	return !remote_capture_is_over(&m->capture) && !is_silent(m);
}

int group_member_poll(struct group_member *m, struct group_turn *turn)
{
	if (!m->is_stock && poll_stream(m, turn))
		return 1;
	if (!m->is_stock && !m->is_ours && remote_capture_is_unknown(&m->capture)) {
		remote_capture_deinit(&m->capture);
		start_stock(m);
		turn->has_read = 1;
	}
	if (m->is_stock && poll_stock(m, turn))
		return 1;
	if (turn->stock == m)
		turn->stock = NULL;
	return 0;
}

/* The end. */

static void take_outcome(struct group_member *m, struct spool *spool, const char *error)
{
	if (!m->error[0])
		snprintf(m->error, sizeof m->error, "%s", error);
	if (!m->error[0] && spool && delivery_new_from_file(spool, &m->trace))
		group_member_fail(m, "out of memory");
}

/*
 * Notes the time of the recording as the trace tells it, whose end may be that of collecting. It is only of use if the
 * server is on this machine.
 */
static void note_window(struct group_member *m)
{
	const Tensorflow__ProfileRequest *q = m->request;
	uint64_t asked_ms = q && q->opts && q->opts->duration_ms ? q->opts->duration_ms
			    : q					 ? q->duration_ms
								 : 0;
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

void group_member_end(struct group_member *m)
{
	if (m->is_stock) {
		remote_profile_end(&m->profile);
		m->is_empty = m->profile.is_empty;
		m->capture.status = m->profile.status;
		m->capture.n_events = m->profile.n_events;
		note_window(m);
		take_outcome(m, m->profile.trace.spool, m->profile.error);
		return;
	}
	remote_capture_end(&m->capture);
	m->is_empty = m->capture.is_empty;
	take_outcome(m, m->capture.trace.spool, m->capture.error);
}

void group_member_deinit(struct group_member *m)
{
	remote_capture_deinit(&m->capture);
	remote_profile_deinit(&m->profile);
	m->channel = rpc_channel_free(m->channel);
	m->trace = delivery_free(m->trace);
}
