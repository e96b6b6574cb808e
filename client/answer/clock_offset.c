/* SPDX-License-Identifier: Apache-2.0 */
/* Clock offsets; see clock_offset.h. */
#include "client/answer/clock_offset.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/stock_servers.h"
#include "client/connect/method.h"
#include "client/process/interrupt.h"
#include "client/target/address.h"
#include "proftap/v1/profiler.pb-c.h"
#include "rpc/client.h"
#include "trace/saturate.h"

#define N_ROUNDS 8
#define ROUND_TIMEOUT_MS 1000
#define TURN_MS 100
#define MAX_REPLY_BYTES 65536
/* The year 2116: adding a duration to such a time cannot overflow. */
#define MAX_UNIX_NS (INT64_MAX / 2)

/* Hostname, pid and start time together differ for any two programs. */
static void name_target(const Proftap__V1__Target *target, struct clock_round *round)
{
	if (!target)
		return;
	snprintf(round->target, sizeof round->target, "%.200s %" PRId32 " %" PRIu64,
		target->hostname, target->pid, target->since_unix_ns);
	snprintf(round->name, sizeof round->name, "%s", target->name);
	round->pid = target->pid;
}

static bool read_reply(struct rpc_pending *pending, struct clock_round *round)
{
	uint8_t bytes[MAX_REPLY_BYTES];
	Proftap__V1__StatusReply *reply;
	size_t n;

	if (rpc_pending_get_status(pending) != RPC_OK ||
		rpc_pending_copy(pending, bytes, sizeof bytes, &n))
		return false;
	reply = proftap__v1__status_reply__unpack(NULL, n, bytes);
	if (!reply)
		return false;
	round->unix_ns = reply->unix_ns;
	round->monotonic_ns = reply->monotonic_ns;
	name_target(reply->target, round);
	proftap__v1__status_reply__free_unpacked(reply, NULL);
	return true;
}

static bool wait_for_end(struct rpc_pending *pending)
{
	while (!rpc_pending_wait(pending, TURN_MS))
		if (interrupt_get_count() > 0)
			return false;
	return true;
}

static bool call_status(struct rpc_channel *channel, struct clock_round *round)
{
	const struct rpc_request request = {
		.path = STATUS_PATH,
		.message = (const uint8_t *)"", /* no fields */
		.timeout_ms = ROUND_TIMEOUT_MS,
		.max_reply_bytes = MAX_REPLY_BYTES,
	};
	struct rpc_pending *pending = NULL;
	bool is_done;

	round->sent_unix_ns = realtime_ns();
	round->sent_monotonic_ns = monotonic_ns();
	if (rpc_call_start(channel, &request, &pending, NULL) < 0)
		return false;
	is_done = wait_for_end(pending);
	round->received_monotonic_ns = monotonic_ns();
	is_done = is_done && read_reply(pending, round);
	rpc_pending_free(pending);
	return is_done;
}

/* Two machines hardly ever started within the time of one round trip. */
static bool is_same_kernel(const struct clock_round *round)
{
	return round->monotonic_ns >= (uint64_t)round->sent_monotonic_ns &&
	       round->monotonic_ns <= (uint64_t)round->received_monotonic_ns;
}

bool clock_offset_judge(const struct clock_round *round, struct clock_offset *out)
{
	int64_t half_ns = (round->received_monotonic_ns - round->sent_monotonic_ns) / 2;

	if (round->unix_ns == 0 || round->unix_ns > MAX_UNIX_NS)
		return false;
	*out = (struct clock_offset){.is_known = true};
	memcpy(out->target, round->target, sizeof out->target);
	memcpy(out->name, round->name, sizeof out->name);
	out->pid = round->pid;
	if (is_same_kernel(round))
		return true;
	out->offset_ns = (int64_t)round->unix_ns - (round->sent_unix_ns + half_ns);
	/*
	 * One more for the half of an odd number, and so that it is never 0, which means the same
	 * clock.
	 */
	out->uncertainty_ns = half_ns + 1;
	return true;
}

void clock_offset_measure(struct rpc_channel *channel, struct clock_offset *out)
{
	*out = (struct clock_offset){.is_known = false};
	for (int i = 0; i < N_ROUNDS; i++) {
		struct clock_offset one;
		struct clock_round round = {.target = ""};

		if (!call_status(channel, &round) || !clock_offset_judge(&round, &one))
			return;
		if (!out->is_known || one.uncertainty_ns < out->uncertainty_ns)
			*out = one;
		if (out->uncertainty_ns == 0)
			return;
	}
}

bool clock_offset_find_name(struct rpc_channel *channel, struct clock_offset *out)
{
	struct clock_round round = {.target = ""};

	return call_status(channel, &round) && clock_offset_judge(&round, out) && out->name[0];
}

/*
 * This looks up the listening process and calls no server. A tunnel's end or a forwarded port
 * belongs to a process without JAX's or TensorFlow's library.
 */
bool clock_offset_find_stock_here(const struct address *address, struct clock_offset *out)
{
	struct stock_servers stock = STOCK_SERVERS_INIT;
	bool is_here = false;

	if (address->port && address_is_here(address) && stock_servers_list(&stock, 0) == 0) {
		stock_servers_identify(&stock, 0);
		for (size_t i = 0; i < stock.n && !is_here; i++) {
			is_here = stock.v[i].pid && stock.v[i].port == address->port;
			if (!is_here)
				continue;
			*out = (struct clock_offset){.is_known = true, .pid = (int)stock.v[i].pid};
			snprintf(out->name, sizeof out->name, "%s", stock.v[i].name);
		}
	}
	stock_servers_deinit(&stock);
	return is_here;
}

/*
 * The recording started after we sent the request, and ended before the answer came:
 * docs/internals/many_targets.md.
 */
bool clock_offset_bracket(const struct clock_bracket *b, struct clock_offset *out)
{
	int64_t least_ns;
	int64_t most_ns;

	if (b->start_ns <= 0 || b->stop_ns < b->start_ns || b->stop_ns > MAX_UNIX_NS)
		return false;
	least_ns = b->stop_ns - b->answered_unix_ns;
	most_ns = b->start_ns - b->sent_unix_ns;
	if (least_ns > most_ns)
		return false;
	*out = (struct clock_offset){
		.is_known = true,
		.is_bracket = true,
		.offset_ns = least_ns + (most_ns - least_ns) / 2,
		.uncertainty_ns = (most_ns - least_ns) / 2 + 1,
	};
	return true;
}

int64_t clock_offset_convert(const struct clock_offset *offset, int64_t unix_ns)
{
	int64_t there = offset->is_known ? add_saturated(unix_ns, offset->offset_ns) : unix_ns;

	return there > 0 ? there : 1;
}

void clock_offset_format(const struct clock_offset *offset, char *out, size_t n)
{
	if (!offset->is_known)
		snprintf(out, n, "clock unknown");
	else if (offset->uncertainty_ns == 0)
		snprintf(out, n, "same clock");
	else
		snprintf(out, n, "clock %+.3f ms ± %.3f ms", (double)offset->offset_ns / 1e6,
			(double)offset->uncertainty_ns / 1e6);
}
