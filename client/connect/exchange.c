/* SPDX-License-Identifier: Apache-2.0 */
/* Calls with small answers; see exchange.h. */
#include "client/connect/exchange.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/log.h"
#include "base/stock_servers.h"
#include "client/connect/failure.h"
#include "client/connect/link.h"
#include "client/process/clock.h"
#include "client/process/exit.h"
#include "client/process/interrupt.h"
#include "client/target/address.h"
#include "rpc/client.h"

#define TURN_MS 100

static void wait_for_answer(struct exchange *e)
{
	while (!rpc_pending_wait(e->pending, TURN_MS)) {
		e->is_given_up = !e->is_uninterruptible && interrupt_get_count() > 0;
		e->is_silent = !e->is_given_up && link_is_silent(e->link, e->started_ms);
		/* The next turn of the loop then sees the end of the call. */
		if (e->is_given_up || e->is_silent)
			rpc_pending_cancel(e->pending);
	}
	e->ended_ms = clock_monotonic_ms();
}

/* Explains the failed call. */
static int explain_exchange(const struct exchange *e, struct diag *d)
{
	struct failure f = {
		.address = e->address,
		.elapsed_ms = e->ended_ms - e->started_ms,
		.timeout_ms = e->timeout_ms,
		.is_silent = e->is_silent,
		.is_of_session = e->is_of_session,
		.is_of_recorder = e->is_of_recorder,
		.is_of_programs = e->is_of_programs,
		.is_of_proftap = strncmp(e->path, "/proftap.", 9) == 0,
	};

	link_describe_failure(e->link, e->pending, &f);
	return failure_explain(&f, d);
}

static int finish_exchange(struct exchange *e, struct diag *d)
{
	int status = rpc_pending_get_status(e->pending);

	log_info(LOG_CLIENT, "%s: %s: %s after %" PRId64 " ms", e->address->text, e->path,
		rpc_status_name(status), e->ended_ms - e->started_ms);
	if (e->is_given_up) {
		diag_set(d, -EINTR, "%s: interrupted", e->address->text);
		return EXIT_INTERRUPTED;
	}
	if (status == RPC_OK && rpc_pending_has_message(e->pending) && !e->is_silent)
		return EXIT_DONE;
	return explain_exchange(e, d);
}

static size_t get_max_bytes(const struct exchange *e)
{
	return e->max_bytes ? e->max_bytes : EXCHANGE_MAX_BYTES;
}

int exchange_run(struct exchange *e, struct diag *d)
{
	const struct rpc_request request = {
		.path = e->path,
		.message = e->message ? e->message : (const uint8_t *)"",
		.message_bytes = e->message_bytes,
		.timeout_ms = e->timeout_ms,
		.max_reply_bytes = get_max_bytes(e),
	};

	e->started_ms = clock_monotonic_ms();
	if (rpc_call_start(e->link->channel, &request, &e->pending, d) < 0)
		return EXIT_FAILED;
	wait_for_answer(e);
	return finish_exchange(e, d);
}

void exchange_deinit(struct exchange *e)
{
	e->pending = rpc_pending_free(e->pending);
	e->is_silent = e->is_given_up = false;
}

bool exchange_is_unknown(const struct exchange *e)
{
	return e->pending && !e->is_silent && !e->is_given_up &&
	       rpc_pending_get_status(e->pending) == RPC_UNIMPLEMENTED;
}

bool exchange_is_stock(const struct exchange *e)
{
	return exchange_is_unknown(e) &&
	       strcmp(rpc_pending_get_text(e->pending), STOCK_SERVERS_MONITOR_TEXT) == 0;
}

bool exchange_find_stock(const struct exchange *failed)
{
	struct exchange e = {.address = failed->address,
		.link = failed->link,
		.path = MONITOR_PATH,
		.timeout_ms = failed->timeout_ms};
	struct diag d = DIAG_INIT;
	bool is;

	if (!exchange_is_unknown(failed))
		return false;
	is = exchange_run(&e, &d) == EXIT_DONE || exchange_is_stock(&e);
	exchange_deinit(&e);
	return is;
}

/* --- the answer ---------------------------------------------------------------------------- */

int exchange_read(const struct exchange *e, uint8_t **out, size_t *n_out)
{
	int r = -ENOMEM;

	*n_out = 0;
	*out = malloc(get_max_bytes(e));
	if (*out)
		r = rpc_pending_copy(e->pending, *out, get_max_bytes(e), n_out);
	if (r < 0) {
		free(*out);
		*out = NULL;
	}
	return r;
}

ProtobufCMessage *exchange_unpack(
	const struct exchange *e, const ProtobufCMessageDescriptor *type, struct diag *d)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	ProtobufCMessage *message;
	size_t n;
	int r = exchange_read(e, &bytes, &n);

	message = r ? NULL : protobuf_c_message_unpack(type, NULL, n, bytes);
	if (message)
		return message;
	if (r == -ENOMEM)
		diag_set(d, r, "%s: out of memory", e->address->text);
	else
		diag_set(d, -EBADMSG, "%s: the answer is damaged: it is no %s", e->address->text,
			type->short_name);
	return NULL;
}
