/* SPDX-License-Identifier: Apache-2.0 */
/* Counts what the daemon has done; see ledger.h. */
#include "daemon/host/calls/ledger.h"

#include <string.h>

#include "daemon/host/programs/programs.h"
#include "rpc/server.h"

#define MS(n) ((n)*UINT64_C(1000000))
#define S(n) ((n)*UINT64_C(1000000000))
#define KIB(n) ((n)*UINT64_C(1024))
#define MIB(n) KIB((n)*1024)

const uint64_t ledger_duration_bounds_ns[LEDGER_BOUNDS] = {
	MS(50), MS(200), MS(500), S(1), S(2), S(5), S(10), S(30), S(60), S(600)};

const uint64_t ledger_size_bounds_bytes[LEDGER_BOUNDS] = {
	KIB(4), KIB(16), KIB(64), KIB(256), MIB(1), MIB(4), MIB(16), MIB(64), MIB(256), MIB(1024)};

static const char *const calls[] = {
	[LEDGER_CAPTURE] = "capture",
	[LEDGER_SNAPSHOT] = "snapshot",
	[LEDGER_STOP] = "stop",
	[LEDGER_PROFILE] = "profile",
	[LEDGER_WEB] = "web",
};

static const char *const results[] = {
	[LEDGER_OK] = "ok",
	[LEDGER_EMPTY] = "empty",
	[LEDGER_BUSY] = "busy",
	[LEDGER_REFUSED] = "refused",
	[LEDGER_CANCELLED] = "cancelled",
	[LEDGER_FAILED] = "failed",
};

const char *ledger_name_call(enum ledger_call call)
{
	return calls[call];
}

const char *ledger_name_result(enum ledger_result result)
{
	return results[result];
}

void ledger_init(struct ledger *l, struct programs *programs)
{
	memset(l, 0, sizeof *l);
	l->programs = programs;
	pthread_mutex_init(&l->mutex, NULL);
}

static void observe(struct ledger_histogram *h, const uint64_t *bounds, uint64_t value)
{
	unsigned i = 0;

	while (i < LEDGER_BOUNDS && value > bounds[i])
		i++;
	h->counts[i]++;
	h->sum += value;
}

void ledger_add(struct ledger *l, uint64_t id, const struct ledger_entry *entry)
{
	struct ledger_sums *sums = &l->sums;
	const struct program_sums of_program = {
		entry->result == LEDGER_OK, entry->trace_bytes, entry->n_events, entry->n_dropped};

	programs_note_captured(l->programs, id, &of_program);
	pthread_mutex_lock(&l->mutex);
	sums->n[entry->call][entry->result]++;
	sums->trace_bytes += entry->trace_bytes;
	sums->n_events += entry->n_events;
	sums->n_dropped += entry->n_dropped;
	if (entry->result == LEDGER_OK) {
		observe(&sums->duration, ledger_duration_bounds_ns, (uint64_t)entry->took_ns);
		observe(&sums->size, ledger_size_bounds_bytes, entry->trace_bytes);
	}
	pthread_mutex_unlock(&l->mutex);
}

void ledger_add_sample(struct ledger *l, int64_t took_ns)
{
	pthread_mutex_lock(&l->mutex);
	l->sums.n_samples++;
	l->sums.sample_ns += (uint64_t)took_ns;
	pthread_mutex_unlock(&l->mutex);
}

void ledger_get(struct ledger *l, struct ledger_sums *out)
{
	pthread_mutex_lock(&l->mutex);
	*out = l->sums;
	pthread_mutex_unlock(&l->mutex);
}

enum ledger_result ledger_judge(int status)
{
	switch (status) {
	case RPC_ALREADY_EXISTS:
		return LEDGER_BUSY;
	case RPC_CANCELLED:
	case RPC_DEADLINE_EXCEEDED:
		return LEDGER_CANCELLED;
	case RPC_INVALID_ARGUMENT:
	case RPC_NOT_FOUND:
	case RPC_PERMISSION_DENIED:
	case RPC_FAILED_PRECONDITION:
	case RPC_RESOURCE_EXHAUSTED:
		return LEDGER_REFUSED;
	default:
		return LEDGER_FAILED;
	}
}
