/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GetSnapshot of tensorflow.ProfilerService at the host daemon: what the session has that its user
 * began last, or the flight recorder of the program that is meant (call_target.h); as an answer of
 * stock_answer.h. One that has a name is passed on: its program's server may write it to a file.
 */
#include "daemon/host/calls/host_handlers.h"

#include "daemon/host/calls/call_target.h"
#include "daemon/host/calls/host_calls.h"
#include "daemon/host/calls/stock_answer.h"
#include "daemon/serve/calls/errand.h"
#include "rpc/server.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

static void take(struct errand *e, const struct program *program)
{
	const struct remote_snapshot any = {0};
	struct stock_answer *answer = stock_answer_new(e);

	if (!answer)
		return;
	stock_answer_add(answer, program);
	stock_answer_begin(answer, LEDGER_SNAPSHOT);
	capture_group_start_snapshot(&answer->ensemble.group, &any);
	stock_answer_finish(answer, 1);
	stock_answer_free(answer);
}

static void work(struct errand *e)
{
	const struct program *chosen;
	struct call_target target;

	if (call_target_find(&target, e))
		return;
	chosen = call_target_choose(&target, e);
	if (chosen)
		take(e, chosen);
	call_target_deinit(&target);
}

/* One that has a name may become a file, which is for the program's own server to say. */
static int is_nameless(const uint8_t *bytes, size_t n)
{
	Tensorflow__GetSnapshotRequest *request =
		tensorflow__get_snapshot_request__unpack(NULL, n, bytes);
	int is_nameless = request && !request->snapshot_session_id[0];

	if (request)
		tensorflow__get_snapshot_request__free_unpacked(request, NULL);
	return is_nameless;
}

void host_snapshot_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct host_service *h = context;

	if (!is_nameless(bytes, n))
		passing_handle(call, bytes, n, context);
	else if (!host_admit(call, bytes, n, h))
		errand_start(&h->errands, ERRAND_PASSING, call, bytes, n, work);
}

void host_snapshot_handle_old(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	(void)bytes;
	(void)n;
	host_snapshot_handle(call, (const uint8_t *)"", 0, context);
}
