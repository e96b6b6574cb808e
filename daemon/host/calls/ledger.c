/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger of captures; see ledger.h. */
#include "daemon/host/calls/ledger.h"

#include <string.h>

#include "base/clock.h"
#include "daemon/host/calls/ensemble.h"
#include "daemon/host/programs/programs.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "proftap/v1/profiler.pb-c.h"
#include "rpc/client.h"
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

static void ledger_observe(struct ledger_histogram *h, const uint64_t *bounds, uint64_t value)
{
	unsigned i = 0;

	while (i < LEDGER_BOUNDS && value > bounds[i])
		i++;
	h->counts[i]++;
	h->sum += value;
}

/* Adds a recording of the program |id|, to the program's own sums as well, if it still exists. */
static void ledger_add(struct ledger *l, uint64_t id, const struct ledger_entry *entry)
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
		ledger_observe(
			&sums->duration, ledger_duration_bounds_ns, (uint64_t)entry->took_ns);
		ledger_observe(&sums->size, ledger_size_bounds_bytes, entry->trace_bytes);
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

/* Returns the result of gRPC's |status|; OK (no trailer) is a failure. */
static enum ledger_result ledger_judge(int status)
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

/* --- accounts --------------------------------------------------------------------------------- */

/* A Progress or a Trailer is not larger, so larger messages are chunks and are not read. */
#define SMALL_BYTES 256

void account_begin(struct account *a, enum ledger_call call, uint64_t id)
{
	*a = (struct account){.entry.call = call, .id = id, .began_ns = monotonic_ns()};
}

static void account_take_trailer(struct account *a, const Proftap__V1__Trailer *trailer)
{
	a->is_complete = 1;
	a->is_empty = trailer->is_empty;
	a->entry.trace_bytes = trailer->xspace_bytes;
	a->entry.n_events = trailer->n_events;
	a->entry.n_dropped = trailer->n_dropped;
}

void account_read_message(struct account *a, struct rpc_pending *from)
{
	uint8_t bytes[SMALL_BYTES];
	Proftap__V1__CaptureReply *reply;
	size_t n;

	if (rpc_pending_get_bytes(from) > sizeof bytes ||
		rpc_pending_copy(from, bytes, sizeof bytes, &n))
		return;
	reply = proftap__v1__capture_reply__unpack(NULL, n, bytes);
	if (!reply)
		return;
	if (reply->part_case == PROFTAP__V1__CAPTURE_REPLY__PART_TRAILER)
		account_take_trailer(a, reply->trailer);
	proftap__v1__capture_reply__free_unpacked(reply, NULL);
}

static enum ledger_result account_judge(const struct account *a, int status)
{
	if (status != RPC_OK || !a->is_complete)
		return ledger_judge(status);
	return a->is_empty ? LEDGER_EMPTY : LEDGER_OK;
}

/* A Stop without data has ended a Capture, whose own answer has the data. */
static bool account_is_recording(const struct account *a)
{
	return a->entry.call != LEDGER_STOP || a->entry.result != LEDGER_EMPTY;
}

void account_end(struct account *a, struct ledger *ledger, int status)
{
	a->entry.took_ns = monotonic_ns() - a->began_ns;
	a->entry.result = account_judge(a, status);
	if (!account_is_recording(a))
		return;
	ledger_add(ledger, a->id, &a->entry);
}

void account_take_member(struct account *a, const struct ensemble *e, size_t i)
{
	const struct group_member *host = &e->group.members[i];

	a->id = e->programs[i].id;
	a->is_complete = ensemble_has_trace(e, i);
	a->is_empty = host->is_empty;
	if (!a->is_complete)
		return;
	a->entry.trace_bytes = delivery_get_bytes(host->trace);
	a->entry.n_events = host->capture.n_events;
	a->entry.n_dropped = host->capture.n_dropped;
}

void account_lose(struct account *a)
{
	a->is_complete = 0;
	a->entry.trace_bytes = a->entry.n_events = a->entry.n_dropped = 0;
}

void account_end_all(const struct account *asked, struct ledger *ledger, const struct ensemble *e,
	bool is_cancelled)
{
	for (size_t i = 0; i < e->group.n; i++) {
		struct account a = *asked;

		account_take_member(&a, e, i);
		account_end(&a, ledger,
			is_cancelled && !a.is_complete ? RPC_CANCELLED
						       : e->group.members[i].capture.status);
	}
}
