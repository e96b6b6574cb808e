/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA as a collector: the interface of <proftap/collector.h>. */
#include <proftap/collector.h>

#include "lib/plugins/cuda/driver.h"
#include "lib/plugins/cuda/process.h"
#include "lib/plugins/cuda/session.h"

static struct cuda_session session;

static void forget_session(void)
{
	cuda_session_forget(&session);
}

static int probe_cuda(const struct ptap_collector_services *services, char *why)
{
	struct driver driver;
	struct driver_facts facts;

	(void)services;
	return driver_check(&driver, &facts, why);
}

static int open_session(const struct ptap_collector_services *services, void **state, char *why)
{
	int r = cuda_session_open(&session, services, why);

	if (!r)
		process_watch(forget_session);
	*state = &session;
	return r;
}

static int arm_session(void *state, char *why)
{
	return cuda_session_arm(state, why);
}

static int start_session(void *state, char *why)
{
	return cuda_session_start(state, why);
}

static int poll_session(void *state, char *why)
{
	return cuda_session_poll(state, why);
}

static int flush_session(void *state, char *why)
{
	return cuda_session_flush(state, why);
}

static int stop_session(void *state, int64_t deadline_ns, char *why)
{
	return cuda_session_stop(state, deadline_ns, why);
}

static int drain_session(void *state, char *why)
{
	return cuda_session_drain(state, why);
}

static void get_session_stats(void *state, struct ptap_collector_stats *out)
{
	cuda_session_get_stats(state, out);
}

static void close_session(void *state)
{
	cuda_session_close(state);
}

static const struct ptap_collector collector = {
	.abi = PTAP_COLLECTOR_ABI,
	.flags = PTAP_COLLECTOR_LATE_ATTACH | PTAP_COLLECTOR_EXCLUSIVE | PTAP_COLLECTOR_PRIVILEGED |
		 PTAP_COLLECTOR_COUNTERS | PTAP_COLLECTOR_FORK_SAFE,
	.size = sizeof collector,
	.name = "cuda",
	.probe = probe_cuda,
	.open = open_session,
	.arm = arm_session,
	.start = start_session,
	.poll = poll_session,
	.stop = stop_session,
	.drain = drain_session,
	.stats = get_session_stats,
	.close = close_session,
	.flush = flush_session,
};

__attribute__((visibility("default"))) const struct ptap_collector *ptap_collector_get(uint32_t abi)
{
	return abi == PTAP_COLLECTOR_ABI ? &collector : NULL;
}
