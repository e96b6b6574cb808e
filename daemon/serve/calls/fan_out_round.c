/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds of a fan-out; see fan_out_round.h. */
#include "daemon/serve/calls/fan_out_round.h"

#include "base/clock.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/serve/calls/fan_out_host.h"

/* Beyond the recording: what collecting may take. */
#define GRACE_MS 60000
#define LOOK_MS 20

int64_t fan_out_round_find_end_ns(const Tensorflow__ProfileRequest *q)
{
	uint64_t ms = q->opts && q->opts->duration_ms ? q->opts->duration_ms : q->duration_ms;
	int64_t wait_ms =
		q->opts ? capture_find_wait_ns(q->opts->start_timestamp_ns) / NS_PER_MS : 0;

	return ms > INT32_MAX || wait_ms > INT32_MAX
		       ? INT64_MAX
		       : monotonic_ns() + ((int64_t)ms + wait_ms + GRACE_MS) * NS_PER_MS;
}

int64_t fan_out_round_find_snapshot_end_ns(void)
{
	return monotonic_ns() + GRACE_MS * NS_PER_MS;
}

int fan_out_round_poll(struct fan_out_host *hosts, size_t n, const struct fan_out_host *own,
	struct fan_out_turn *turn)
{
	int n_left = 0;

	turn->wait_ms = turn->has_read ? 0 : LOOK_MS;
	turn->has_read = 0;
	turn->n_streams = 0;
	for (size_t i = 0; i < n; i++)
		if (&hosts[i] != own)
			n_left += fan_out_host_poll(&hosts[i], turn);
	return n_left;
}
