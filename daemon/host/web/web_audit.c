/* SPDX-License-Identifier: Apache-2.0 */
/* The audit of HTTP requests; see web_audit.h. */
#include "daemon/host/web/web_audit.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/host/calls/audit.h"
#include "daemon/host/web/web.h"
#include "http/exchange.h"
#include "rpc/server.h"

/*
 * The audit's words for a request: those of the first row with the request's method and with the
 * beginning of its path. The rest of that path is the name of the |thing|.
 */
static const struct web_audit_row {
	const char *method;
	const char *path;
	const char *what;
	const char *thing; /* NULL: the line has the body */
} rows[] = {
	{"POST", "/api/v1/captures/", "WebStop", "capture"},
	{"POST", "/api/v1/captures", "WebCapture", NULL},
	{"DELETE", "/api/v1/captures/", "WebDelete", "capture"},
	{"POST", "/api/v1/targets/", "WebStart", "target"},
	{"DELETE", "/api/v1/targets/", "WebGiveUp", "target"},
	{"DELETE", "/api/v1/runs/", "WebDelete", "run"},
	/* These rows are used only for a read that is refused. */
	{"GET", "/api/v1/targets/", "WebRead", "target"},
	{"GET", "/api/v1/runs/", "WebRead", "run"},
};

static const struct web_audit_row *find_row(const struct http_exchange *x)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (strcmp(http_get_method(x), rows[i].method) == 0 &&
			strncmp(http_get_path(x), rows[i].path, strlen(rows[i].path)) == 0)
			return &rows[i];
	return NULL;
}

static void name_thing(struct audit *a, const char *thing, const char *name)
{
	snprintf(a->target, sizeof a->target, "%s %.*s", thing, (int)strcspn(name, "/"), name);
}

/* Writes the body on one line. */
static void describe_body(struct audit *a, const struct http_exchange *x)
{
	size_t n;
	const char *body = http_get_body(x, &n);

	snprintf(a->options, sizeof a->options, "%s", body);
	for (char *c = a->options; *c; c++)
		*c = isspace((unsigned char)*c) ? ' ' : *c;
}

static void write_line(const struct http_exchange *x, const char *result, const char *why)
{
	const struct web_audit_row *row = find_row(x);
	struct audit a = {.is_caller_known = true, .begun_ns = monotonic_ns()};

	if (!row)
		return;
	a.what = row->what;
	a.result = result;
	a.reason = why;
	web_get_caller(x, &a.caller);
	if (row->thing)
		name_thing(&a, row->thing, http_get_path(x) + strlen(row->path));
	else
		describe_body(&a, x);
	audit_write(&a);
}

void web_audit_refused(const struct http_exchange *x, const char *code, const char *why)
{
	write_line(x, code, why);
}

void web_audit_not_read(const struct http_exchange *x, int status, const char *why)
{
	if (strcmp(http_get_method(x), "GET") == 0 &&
		(status == RPC_NOT_FOUND || status == RPC_PERMISSION_DENIED))
		write_line(x, rpc_status_name(status), why);
}

void web_audit_done(const struct http_exchange *x)
{
	write_line(x, rpc_status_name(RPC_OK), "");
}

void web_audit_run_deleted(const struct caller *caller, const char *run, int status,
	const char *why, uint64_t n_bytes, int64_t begun_ns)
{
	struct audit a = {
		.what = "WebDelete",
		.caller = *caller,
		.is_caller_known = true,
		.begun_ns = begun_ns,
		.n_bytes = n_bytes,
		.result = rpc_status_name((enum rpc_status)status),
		.reason = status ? why : "",
	};

	name_thing(&a, "run", run);
	audit_write(&a);
}
