/* SPDX-License-Identifier: Apache-2.0 */
/* Requests for captures, and lists of them; see session_request.h. */
#include "daemon/serve/session/session_request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/serve/session/local_trace.h"
#include "trace/run_dir.h"

void session_request_deinit(struct session_request *request)
{
	capture_request_deinit(&request->capture);
	free(request->session_id);
	free(request->repository_root);
	free(request->host_name);
	if (request->run)
		run_dir_close(request->run);
	free(request->run);
	local_trace_free(request->trace);
}

struct session_request *session_request_free(struct session_request *request)
{
	if (request)
		session_request_deinit(request);
	free(request);
	return NULL;
}

static void describe_length(const struct session_request *request, char *text, size_t n)
{
	if (request->capture.options.duration_ms == PROFILE_TO_THE_END_MS)
		snprintf(text, n, "to the end of the program");
	else if (request->capture.options.duration_ms < INT64_MAX)
		snprintf(text, n, "%.1f s", (double)request->capture.options.duration_ms / 1e3);
	else
		snprintf(text, n, "until it is stopped");
}

void session_request_describe(const struct session_request *request, char *text, size_t n)
{
	double age_s = (double)(monotonic_ns() - request->taken_ns) / 1e9;
	char length[40];

	if (request->trace) {
		snprintf(text, n, "a trace of the program's own, begun %.1f s ago", age_s);
		return;
	}
	describe_length(request, length, sizeof length);
	snprintf(text, n, "session %s: %s, begun %.1f s ago",
		request->session_id ? request->session_id : "without a name", length, age_s);
}

/* --- lists ------------------------------------------------------------------------------------ */

size_t request_list_count(const struct session_request *list)
{
	size_t n = 0;

	for (; list; list = list->next)
		n++;
	return n;
}

int request_list_append(struct session_request **list, struct session_request *request, size_t max)
{
	if (request_list_count(*list) >= max)
		return -ENOSPC;
	while (*list)
		list = &(*list)->next;
	*list = request;
	return 0;
}

struct session_request *request_list_unlink(struct session_request **at)
{
	struct session_request *request = *at;

	*at = request->next;
	request->next = NULL;
	return request;
}

struct session_request *request_list_pick(struct session_request **list,
	bool (*matches)(const struct session_request *, const void *), const void *key)
{
	struct session_request *picked = NULL;
	struct session_request **end = &picked;

	while (*list) {
		if (!matches(*list, key)) {
			list = &(*list)->next;
			continue;
		}
		*end = request_list_unlink(list);
		end = &(*end)->next;
	}
	return picked;
}

bool request_is_of_call(const struct session_request *request, const void *call)
{
	return request->call == call;
}

bool request_has_id(const struct session_request *request, const void *id)
{
	return request->session_id && strcmp(request->session_id, id) == 0;
}

void request_list_tell(struct session_request *list, int r, const char *text)
{
	while (list) {
		struct session_request *request = list;
		struct capture_result nothing = {.is_empty = 0};
		struct diag d = DIAG_INIT;

		list = request->next;
		diag_set(&d, -EBUSY, "%s", text);
		request->deliver(request, r, &nothing, &d);
		session_request_free(request);
	}
}

void request_list_end_unbegun(struct session_request *list)
{
	while (list) {
		struct session_request *request = list;
		struct capture_result result;
		struct diag d = DIAG_INIT;
		int r = capture_make_unbegun(&result);

		list = request->next;
		request->deliver(request, r, &result, &d);
		session_request_free(request);
	}
}
