/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings, for the ledger; see account.h. */
#include "daemon/host/calls/account.h"

#include "base/clock.h"
#include "daemon/host/calls/ensemble.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "proftap/v1/profiler.pb-c.h"
#include "rpc/client.h"

/* A Progress or a Trailer is not larger; a chunk is looked at only if it is as small. */
#define SMALL_BYTES 256

void account_begin(struct account *a, enum ledger_call call, uint64_t id)
{
	*a = (struct account){.entry.call = call, .id = id, .began_ns = monotonic_ns()};
}

static void take_trailer(struct account *a, const Proftap__V1__Trailer *trailer)
{
	a->is_complete = 1;
	a->is_empty = trailer->is_empty;
	a->entry.trace_bytes = trailer->xspace_bytes;
	a->entry.n_events = trailer->n_events;
	a->entry.n_dropped = trailer->n_dropped;
}

void account_look(struct account *a, struct rpc_pending *from)
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
		take_trailer(a, reply->trailer);
	proftap__v1__capture_reply__free_unpacked(reply, NULL);
}

static enum ledger_result judge(const struct account *a, int status)
{
	if (status != RPC_OK || !a->is_complete)
		return ledger_judge(status);
	return a->is_empty ? LEDGER_EMPTY : LEDGER_OK;
}

/* A Stop that hands over nothing has ended a Capture, whose answer has it all. */
static int is_recording(const struct account *a)
{
	return a->entry.call != LEDGER_STOP || a->entry.result != LEDGER_EMPTY;
}

void account_end(struct account *a, struct ledger *ledger, int status)
{
	a->entry.took_ns = monotonic_ns() - a->began_ns;
	a->entry.result = judge(a, status);
	if (!is_recording(a))
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
	int is_cancelled)
{
	for (size_t i = 0; i < e->group.n; i++) {
		struct account a = *asked;

		account_take_member(&a, e, i);
		account_end(&a, ledger,
			is_cancelled && !a.is_complete ? RPC_CANCELLED
						       : e->group.members[i].capture.status);
	}
}
