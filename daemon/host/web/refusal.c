/* SPDX-License-Identifier: Apache-2.0 */
/* Errors as JSON; see refusal.h. */
#include "daemon/host/web/refusal.h"

#include <stdio.h>
#include <stdlib.h>

#include "daemon/host/web/web_audit.h"
#include "http/exchange.h"
#include "trace/json.h"

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

static const char *find_code(unsigned status)
{
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
		if (codes[i].status == status)
			return codes[i].code;
	return "INTERNAL";
}

static void write_object(FILE *out, const char *code, const char *text)
{
	struct json json;

	json_begin(&json, out);
	json_begin_object(&json, "error");
	json_text(&json, "code", code);
	json_text(&json, "message", text);
	json_end_object(&json);
	json_end(&json);
}

void refusal_write_code(
	struct http_exchange *x, unsigned status, const char *code, const char *text)
{
	char *body = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&body, &n);

	if (out)
		write_object(out, code, text);
	if (!out || fclose(out)) {
		free(body);
		http_reply_text(x, status, "text/plain; charset=utf-8", "no memory\n");
		return;
	}
	http_reply_taken(x, status, "application/json", body, n);
}

void refusal_write(struct http_exchange *x, unsigned status, const char *text, void *context)
{
	(void)context;
	web_audit_refused(x, find_code(status), text);
	refusal_write_code(x, status, find_code(status), text);
}
