/* SPDX-License-Identifier: Apache-2.0 */
/* The route of a program's share of memory; see api_routes.h. */
#include <errno.h>

#include "base/clock.h"
#include "base/diag.h"
#include "daemon/host/calls/host_calls.h"
#include "daemon/host/programs/measuring.h"
#include "daemon/host/programs/programs.h"
#include "daemon/host/web/api_answer.h"
#include "daemon/host/web/api_program.h"
#include "daemon/host/web/api_routes.h"
#include "daemon/host/web/deferred.h"
#include "daemon/host/web/web.h"
#include "http/exchange.h"
#include "rpc/server.h"

/* While one is measured its program's mmap() waits, and so does a thread here. */
#define MAX_AT_A_TIME 2
#define WAIT_MS 2000

static int explain(struct deferred *d, const struct program *p, int error)
{
	static const struct {
		int error;
		enum rpc_status status;
		const char *why;
	} reasons[] = {
		{ESRCH, RPC_NOT_FOUND, "it has just ended"},
		{ENOENT, RPC_FAILED_PRECONDITION,
			"it has just ended, or the kernel has no smaps_rollup"},
		{EACCES, RPC_FAILED_PRECONDITION,
			"the kernel tells its user nothing: the program is not dumpable (prctl(2), "
			"PR_SET_DUMPABLE)"},
		{ETIMEDOUT, RPC_UNAVAILABLE, "its server does not answer"},
		{EAGAIN, RPC_UNAVAILABLE, "its server does not answer"},
	};
	size_t i = 0;

	while (i < sizeof reasons / sizeof *reasons && reasons[i].error != -error)
		i++;
	if (i < sizeof reasons / sizeof *reasons) {
		diag_set(&d->diag, error, "%s (%d): %s", p->status.name, (int)p->pid,
			reasons[i].why);
		return reasons[i].status;
	}
	diag_set(&d->diag, error, "%s (%d): its share of memory: %s", p->status.name, (int)p->pid,
		errno_words(error));
	return RPC_INTERNAL;
}

static int measure(struct deferred *d)
{
	struct program p;
	struct json *j = &d->text.json;
	uint64_t n_bytes;
	int r = api_program_find(d, api_parse_id(d->name), &p);

	if (r)
		return r;
	r = measuring_ask(d->web->host->programs, p.id, WAIT_MS, &n_bytes);
	if (r)
		return explain(d, &p, r);
	json_uint(j, "id", p.id);
	json_int(j, "pid", p.pid);
	json_uint(j, "pss_bytes", n_bytes);
	json_int(j, "at_unix_ms", realtime_ns() / NS_PER_MS);
	return 0;
}

static int measure_few(struct deferred *d)
{
	_Atomic unsigned *n = &d->web->api.n_measured;
	int r;

	if (atomic_fetch_add(n, 1) < MAX_AT_A_TIME) {
		r = measure(d);
	} else {
		diag_set(&d->diag, -EAGAIN, "%d programs are measured at a time; wait a little",
			MAX_AT_A_TIME);
		r = RPC_RESOURCE_EXHAUSTED;
	}
	atomic_fetch_sub(n, 1);
	return r;
}

void api_answer_memory(struct http_exchange *x, void *context)
{
	deferred_start(x, context, measure_few, http_get_param(x, "id"));
}
