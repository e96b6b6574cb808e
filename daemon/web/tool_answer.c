/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that proftap makes; see tool_answer.h. */
#include "daemon/web/tool_answer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/diag.h"
#include "daemon/web/api_answer.h"
#include "daemon/web/tool.h"
#include "daemon/web/web.h"
#include "http/exchange.h"
#include "rpc/server.h"

struct answering {
	struct http_exchange *x;
	struct web *web;
	struct tool *tool;
	const char *type;
	int usage_status;
	char disposition[192]; /* "": none */
};

static void on_end(void *context, struct tool_outcome *outcome)
{
	struct answering *a = context;

	a->web->api.n_tools--;
	if (outcome->status == RPC_UNIMPLEMENTED && a->usage_status)
		outcome->status = a->usage_status;
	if (a->disposition[0] && !outcome->status)
		http_set_header(a->x, "Content-Disposition", a->disposition);
	if (outcome->status)
		api_refuse(a->x, outcome->status, &outcome->diag, NULL);
	else
		http_reply_file(a->x, a->type, outcome->fd, 0, outcome->n_bytes);
	free(a);
}

/* The peer does not wait for it. */
static void on_gone(void *context)
{
	struct answering *a = context;

	a->web->api.n_tools--;
	tool_abandon(a->tool);
	free(a);
}

static void refuse(struct http_exchange *x, int status, struct diag *d)
{
	api_refuse(x, status, d, NULL);
}

void tool_answer_start(struct http_exchange *x, struct web *w, const struct tool_answer *what)
{
	struct answering *a;
	struct diag d = DIAG_INIT;

	if (w->api.n_tools == TOOL_ANSWERS_MAX) {
		diag_set(&d, -EAGAIN,
			"there may be %u reports and conversions at a time; wait a little",
			TOOL_ANSWERS_MAX);
		refuse(x, RPC_RESOURCE_EXHAUSTED, &d);
		return;
	}
	a = calloc(1, sizeof *a);
	if (!a) {
		api_refuse_memory(x);
		return;
	}
	*a = (struct answering){
		.x = x, .web = w, .type = what->type, .usage_status = what->usage_status};
	if (what->file_name)
		snprintf(a->disposition, sizeof a->disposition, "attachment; filename=\"%s\"",
			what->file_name);
	a->tool = tool_start(w->loop, what->cwd, what->argv, on_end, a, &d);
	if (!a->tool) {
		free(a);
		refuse(x, RPC_UNIMPLEMENTED, &d);
		return;
	}
	w->api.n_tools++;
	http_defer(x, on_gone, a);
}
