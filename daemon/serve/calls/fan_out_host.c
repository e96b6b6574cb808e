/* SPDX-License-Identifier: Apache-2.0 */
/* A host of a fan-out; see fan_out_host.h. */
#include "daemon/serve/calls/fan_out_host.h"

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

/* What making a trace, or the next part of it, may take without a word; and a whole answer of Profile. */
#define SILENCE_NS (60 * NS_PER_S)
/* Streams are read from so many at a time: each holds a message of 1 MiB in memory. */
#define AT_A_TIME 16

void fan_out_host_fail(struct fan_out_host *h, const char *text)
{
	remote_error_format(h->error, sizeof h->error, h->name, text);
}

/* Asking. */

/* What a Profile says in two places. */
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

static struct rpc_channel *take_channel(struct fan_out_host *h)
{
	struct rpc_channel *channel =
		h->channel ? h->channel : rpc_channel_new_to(h->address ? h->address : h->name);

	h->channel = NULL;
	return channel;
}

static void start_stock(struct fan_out_host *h)
{
	Tensorflow__ProfileRequest request = *h->request;
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t n = 0;

	h->is_stock = 1;
	request.host_name = (char *)(h->address ? h->address : h->name);
	if (proto_pack(&request.base, &bytes, &n))
		remote_profile_fail(&h->profile, "out of memory");
	else
		remote_profile_start(&h->profile, h->name, take_channel(h), bytes, n, h->share);
}

void fan_out_host_start(struct fan_out_host *h, const Tensorflow__ProfileRequest *request,
	struct disk_share *share, int64_t give_up_ns)
{
	Tensorflow__ProfileOptions options;

	h->request = request;
	h->share = share;
	h->give_up_ns = give_up_ns;
	find_options(request, &options);
	/* A Profile without a duration ends at once; a Capture takes none. */
	if (options.duration_ms && !h->is_stock)
		remote_capture_start(&h->capture, h->name, take_channel(h), &options, share);
	else
		start_stock(h);
}

static void refuse_words(struct fan_out_host *h)
{
	h->profile.status = RPC_UNIMPLEMENTED;
	fan_out_host_fail(h,
		"JAX's and TensorFlow's profiler servers have no flight recorder, and no names for "
		"sessions; ask for the session that runs, without a name");
}

void fan_out_host_start_snapshot(struct fan_out_host *h, const struct remote_snapshot *what,
	struct disk_share *share, int64_t give_up_ns)
{
	h->share = share;
	h->give_up_ns = give_up_ns;
	if (!h->is_stock)
		remote_capture_start_snapshot(&h->capture, h->name, take_channel(h), what, share);
	else if ((what->session_id && what->session_id[0]) || what->last_ms)
		refuse_words(h);
	else
		remote_profile_start_snapshot(
			&h->profile, h->name, take_channel(h), what->ends, share);
}

void fan_out_host_ask_to_end(struct fan_out_host *h, const char *session_id)
{
	if (h->is_stock)
		remote_profile_ask_to_end(&h->profile, session_id);
	else if (!remote_capture_is_over(&h->capture))
		remote_capture_ask_to_end(&h->capture, session_id);
}

int fan_out_host_is_over(const struct fan_out_host *h)
{
	return h->is_stock ? remote_profile_is_over(&h->profile)
			   : remote_capture_is_over(&h->capture);
}

/* Reading. */

/* It has said something, or it was not listened to. */
static void grant_time(struct fan_out_host *h)
{
	int64_t until_ns = monotonic_ns() + SILENCE_NS;

	if (h->give_up_ns < until_ns)
		h->give_up_ns = until_ns;
}

static int is_silent(const struct fan_out_host *h)
{
	return monotonic_ns() >= h->give_up_ns;
}

/* Whoever waits lets the calls of the others go on: one waits in a round. */
static int64_t take_wait(struct fan_out_turn *turn)
{
	int64_t wait_ms = turn->wait_ms;

	turn->wait_ms = 0;
	return wait_ms;
}

static int poll_stock(struct fan_out_host *h, struct fan_out_turn *turn)
{
	if (remote_profile_is_over(&h->profile))
		return 0;
	if (!remote_profile_has_begun(&h->profile, take_wait(turn)))
		return !is_silent(h);
	if (turn->stock != h)
		grant_time(h);
	if (!turn->stock)
		turn->stock = h;
	if (turn->stock != h)
		return 1;
	if (remote_profile_read(&h->profile, take_wait(turn)))
		turn->has_read = 1;
	return !remote_profile_is_over(&h->profile) && !is_silent(h);
}

static int poll_stream(struct fan_out_host *h, struct fan_out_turn *turn)
{
	if (remote_capture_is_over(&h->capture))
		return 0;
	/* Who has said nothing at all may not know the call. */
	if (h->capture.has_begun && turn->n_streams++ >= AT_A_TIME) {
		grant_time(h);
		return 1;
	}
	if (remote_capture_read(&h->capture, take_wait(turn))) {
		grant_time(h);
		turn->has_read = 1;
	}
	return !remote_capture_is_over(&h->capture) && !is_silent(h);
}

int fan_out_host_poll(struct fan_out_host *h, struct fan_out_turn *turn)
{
	if (!h->is_stock && poll_stream(h, turn))
		return 1;
	if (!h->is_stock && !h->is_ours && remote_capture_is_unknown(&h->capture)) {
		remote_capture_deinit(&h->capture);
		start_stock(h);
		turn->has_read = 1;
	}
	if (h->is_stock && poll_stock(h, turn))
		return 1;
	if (turn->stock == h)
		turn->stock = NULL;
	return 0;
}

/* The end. */

static void take_outcome(struct fan_out_host *h, struct spool *spool, const char *error)
{
	if (!h->error[0])
		snprintf(h->error, sizeof h->error, "%s", error);
	if (!h->error[0] && spool && delivery_new_from_file(spool, &h->trace))
		fan_out_host_fail(h, "out of memory");
}

/* When it recorded, as its trace tells, where the end may be that of collecting. Of use on its machine only. */
static void note_window(struct fan_out_host *h)
{
	const Tensorflow__ProfileRequest *q = h->request;
	uint64_t asked_ms = q && q->opts && q->opts->duration_ms ? q->opts->duration_ms
			    : q					 ? q->duration_ms
								 : 0;
	int64_t start_ns = h->profile.start_unix_ns - clock_find_unix_offset_ns() -
			   time_namespace_find_ahead_ns("", 0);

	if (h->profile.start_unix_ns <= 0 || h->profile.stop_unix_ns <= h->profile.start_unix_ns ||
		start_ns <= 0)
		return;
	h->capture.start_unix_ns = (uint64_t)h->profile.start_unix_ns;
	h->capture.usage_since_ns = (uint64_t)start_ns;
	h->capture.usage_duration_ns =
		(uint64_t)(h->profile.stop_unix_ns - h->profile.start_unix_ns);
	if (asked_ms && asked_ms < h->capture.usage_duration_ns / NS_PER_MS)
		h->capture.usage_duration_ns = asked_ms * NS_PER_MS;
}

void fan_out_host_end(struct fan_out_host *h)
{
	if (h->is_stock) {
		remote_profile_end(&h->profile);
		h->is_empty = h->profile.is_empty;
		h->capture.status = h->profile.status;
		h->capture.n_events = h->profile.n_events;
		note_window(h);
		take_outcome(h, h->profile.trace.spool, h->profile.error);
		return;
	}
	remote_capture_end(&h->capture);
	h->is_empty = h->capture.is_empty;
	take_outcome(h, h->capture.trace.spool, h->capture.error);
}

void fan_out_host_deinit(struct fan_out_host *h)
{
	remote_capture_deinit(&h->capture);
	remote_profile_deinit(&h->profile);
	h->channel = rpc_channel_free(h->channel);
	h->trace = delivery_free(h->trace);
}
