/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA as a collector: what <proftap/collector.h> asks for. */
#include <proftap/collector.h>

#include <errno.h>

#include "lib/plugins/cuda/driver.h"
#include "lib/plugins/cuda/gate.h"
#include "lib/plugins/cuda/process.h"
#include "lib/plugins/cuda/session.h"

static struct session session;

static void forget(void)
{
	session_forget(&session);
}

static int probe(const struct ptap_collector_services *services, char *why)
{
	struct driver driver;
	struct gate gate;

	(void)services;
	return gate_check(&driver, &gate, why);
}

static int open_session(const struct ptap_collector_services *services, void **state, char *why)
{
	int r = session_open(&session, services, why);

	if (!r)
		process_watch(forget);
	*state = &session;
	return r;
}

static int arm(void *state, char *why)
{
	return session_arm(state, why);
}

static int start(void *state, char *why)
{
	return session_start(state, why);
}

static int poll_session(void *state, char *why)
{
	return session_poll(state, why);
}

static int flush(void *state, char *why)
{
	return session_flush(state, why);
}

static int stop(void *state, int64_t deadline_ns, char *why)
{
	return session_stop(state, deadline_ns, why);
}

static int drain(void *state, char *why)
{
	return session_drain(state, why);
}

static void stats(void *state, struct ptap_collector_stats *out)
{
	session_get_stats(state, out);
}

static void close_session(void *state)
{
	session_close(state);
}

static const struct ptap_collector collector = {
	.abi = PTAP_COLLECTOR_ABI,
	.flags = PTAP_COLLECTOR_LATE_ATTACH | PTAP_COLLECTOR_EXCLUSIVE | PTAP_COLLECTOR_PRIVILEGED |
		 PTAP_COLLECTOR_COUNTERS | PTAP_COLLECTOR_FORK_SAFE,
	.size = sizeof collector,
	.name = "cuda",
	.probe = probe,
	.open = open_session,
	.arm = arm,
	.start = start,
	.poll = poll_session,
	.stop = stop,
	.drain = drain,
	.stats = stats,
	.close = close_session,
	.flush = flush,
};

__attribute__((visibility("default"))) const struct ptap_collector *ptap_collector_get(uint32_t abi)
{
	return abi == PTAP_COLLECTOR_ABI ? &collector : NULL;
}
