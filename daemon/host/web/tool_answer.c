/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that proftap makes; see tool_answer.h. */
#include "daemon/host/web/tool_answer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/diag.h"
#include "daemon/host/web/api_answer.h"
#include "daemon/host/web/conversions.h"
#include "daemon/host/web/tool.h"
#include "daemon/host/web/web.h"
#include "http/exchange.h"
#include "rpc/server.h"

struct answering {
	struct http_exchange *x;
	struct web *web;
	struct tool *tool;
	const char *type;
	char *key; /* NULL: the output is not kept */
	int usage_status;
	char disposition[192]; /* "": none */
};

static struct answering *free_answering(struct answering *a)
{
	free(a->key);
	free(a);
	return NULL;
}

/* Answers with the file |fd|, which it takes. */
static void answer_with_file(struct answering *a, int fd, uint64_t n_bytes)
{
	if (a->disposition[0])
		http_set_header(a->x, "Content-Disposition", a->disposition);
	http_reply_file(a->x, a->type, fd, 0, n_bytes);
}

static void on_end(void *context, struct tool_outcome *outcome)
{
	struct answering *a = context;

	a->web->api.n_tools--;
	if (outcome->status == RPC_UNIMPLEMENTED && a->usage_status)
		outcome->status = a->usage_status;
	if (outcome->status) {
		api_refuse(a->x, outcome->status, &outcome->diag, NULL);
	} else {
		conversions_keep(&a->web->api.conversions, a->key, outcome->fd, outcome->n_bytes);
		a->key = NULL;
		answer_with_file(a, outcome->fd, outcome->n_bytes);
	}
	free_answering(a);
}

/* The peer has closed the connection. */
static void on_gone(void *context)
{
	struct answering *a = context;

	a->web->api.n_tools--;
	tool_abandon(a->tool);
	free_answering(a);
}

static struct answering *new_answering(
	struct http_exchange *x, struct web *w, const struct tool_answer *what)
{
	struct answering *a = calloc(1, sizeof *a);

	if (!a) {
		free(what->key);
		return NULL;
	}
	*a = (struct answering){.x = x,
		.web = w,
		.type = what->type,
		.key = what->key,
		.usage_status = what->usage_status};
	if (what->file_name)
		snprintf(a->disposition, sizeof a->disposition, "attachment; filename=\"%s\"",
			what->file_name);
	return a;
}

/* Answers with a kept conversion. Returns true if there was one. */
static bool answer_from_cache(struct answering *a)
{
	uint64_t n_bytes;
	int fd = a->key ? conversions_find(&a->web->api.conversions, a->key, &n_bytes) : -1;

	if (fd >= 0)
		answer_with_file(a, fd, n_bytes);
	return fd >= 0;
}

/* 0, or a gRPC status with |d|. */
static int start_tool(struct answering *a, const struct tool_answer *what, struct diag *d)
{
	struct web *w = a->web;

	if (w->api.n_tools == TOOL_ANSWERS_MAX) {
		diag_set(d, -EAGAIN,
			"there may be %u reports and conversions at a time; wait a little",
			TOOL_ANSWERS_MAX);
		return RPC_RESOURCE_EXHAUSTED;
	}
	a->tool = tool_start(w->loop, what->cwd, what->argv, on_end, a, d);
	if (!a->tool)
		return RPC_UNIMPLEMENTED;
	w->api.n_tools++;
	http_defer(a->x, on_gone, a);
	return 0;
}

void tool_answer_start(struct http_exchange *x, struct web *w, const struct tool_answer *what)
{
	struct answering *a = new_answering(x, w, what);
	struct diag d = DIAG_INIT;
	int r;

	if (!a) {
		api_refuse_memory(x);
		return;
	}
	if (answer_from_cache(a)) {
		free_answering(a);
		return;
	}
	r = start_tool(a, what, &d);
	if (r) {
		free_answering(a);
		api_refuse(x, r, &d, NULL);
	}
}
