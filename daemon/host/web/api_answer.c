/* SPDX-License-Identifier: Apache-2.0 */
/* Answers and refusals of the JSON API; see api_answer.h. */
#include "daemon/host/web/api_answer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/diag.h"
#include "daemon/host/web/json_text.h"
#include "daemon/host/web/web_audit.h"
#include "http/exchange.h"
#include "rpc/server.h"
#include "trace/json.h"

/* --- refusals --------------------------------------------------------------------------------- */

static const struct {
	unsigned status;
	const char *code;
} codes[] = {
	{400, "INVALID_ARGUMENT"},
	{403, "PERMISSION_DENIED"},
	{404, "NOT_FOUND"},
	{405, "UNIMPLEMENTED"},
	{409, "ALREADY_EXISTS"},
	{413, "RESOURCE_EXHAUSTED"},
	{414, "RESOURCE_EXHAUSTED"},
	{421, "PERMISSION_DENIED"},
	{429, "RESOURCE_EXHAUSTED"},
	{431, "RESOURCE_EXHAUSTED"},
	{501, "UNIMPLEMENTED"},
	{503, "UNAVAILABLE"},
	{504, "DEADLINE_EXCEEDED"},
};

static const char *find_code_name(unsigned status)
{
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
		if (codes[i].status == status)
			return codes[i].code;
	return "INTERNAL";
}

static void write_error(FILE *out, const char *code, const char *text)
{
	struct json json;

	json_begin(&json, out);
	json_begin_object(&json, "error");
	json_text(&json, "code", code);
	json_text(&json, "message", text);
	json_end_object(&json);
	json_end(&json);
}

static void refuse_with_code(
	struct http_exchange *x, unsigned status, const char *code, const char *text)
{
	char *body = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&body, &n);

	if (out)
		write_error(out, code, text);
	if (!out || fclose(out)) {
		free(body);
		http_reply_text(x, status, "text/plain; charset=utf-8", "no memory\n");
		return;
	}
	http_reply_taken(x, status, "application/json", body, n);
}

void api_refuse_http(struct http_exchange *x, unsigned status, const char *text, void *context)
{
	(void)context;
	web_audit_refused(x, find_code_name(status), text);
	refuse_with_code(x, status, find_code_name(status), text);
}

static const unsigned http_statuses[] = {
	[RPC_INVALID_ARGUMENT] = 400,
	[RPC_DEADLINE_EXCEEDED] = 504,
	[RPC_NOT_FOUND] = 404,
	[RPC_ALREADY_EXISTS] = 409,
	[RPC_PERMISSION_DENIED] = 403,
	[RPC_RESOURCE_EXHAUSTED] = 429,
	[RPC_FAILED_PRECONDITION] = 409,
	[RPC_UNIMPLEMENTED] = 501,
	[RPC_INTERNAL] = 500,
	[RPC_UNAVAILABLE] = 503,
};

static unsigned find_http_status(int rpc_status)
{
	unsigned n = sizeof http_statuses / sizeof *http_statuses;
	unsigned found = rpc_status > 0 && (unsigned)rpc_status < n ? http_statuses[rpc_status] : 0;

	return found ? found : 500;
}

void api_refuse_memory(struct http_exchange *x)
{
	refuse_with_code(x, 503, "UNAVAILABLE", "the host daemon is out of memory");
}

void api_refuse(
	struct http_exchange *x, int rpc_status, const struct diag *d, struct json_text *text)
{
	if (text)
		free(json_text_end(text, NULL));
	web_audit_not_read(x, rpc_status, d->text);
	refuse_with_code(x, find_http_status(rpc_status), rpc_status_name(rpc_status), d->text);
}

/* --- answers ---------------------------------------------------------------------------------- */

void api_answer(struct http_exchange *x, unsigned status, struct json_text *text)
{
	size_t n;
	char *bytes = json_text_end(text, &n);

	if (bytes)
		http_reply_taken(x, status, "application/json", bytes, n);
	else
		api_refuse_memory(x);
}

/* --- numbers ---------------------------------------------------------------------------------- */

uint64_t api_parse_id(const char *text)
{
	char *end;
	uint64_t id = strtoull(text, &end, 10);

	return *end || *text < '0' || *text > '9' ? 0 : id;
}

int api_get_number(const struct http_exchange *x, const struct api_number *number, int64_t *out,
	struct diag *d)
{
	const char *text = http_get_query(x, number->key);
	char *end;

	*out = number->otherwise;
	if (!text)
		return 0;
	errno = 0;
	*out = strtoll(text, &end, 10);
	if (*text && !*end && !errno && *out >= number->min && *out <= number->max)
		return 0;
	return diag_set(d, -EINVAL,
		"%s: \"%.32s\": must be a whole number of %" PRId64 " to %" PRId64, number->key,
		text, number->min, number->max);
}
