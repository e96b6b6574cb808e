/* SPDX-License-Identifier: Apache-2.0 */
/* Requests for a capture; see session_request.h. */
#include "daemon/serve/session/session_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
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
