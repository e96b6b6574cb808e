/* SPDX-License-Identifier: Apache-2.0 */
/* Requests for a capture; see session_request.h. */
#include "daemon/session_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/local_trace.h"
#include "trace/run_dir.h"

void session_request_deinit(struct session_request *request)
{
	profile_options_deinit(&request->options);
	for (size_t i = 0; i < request->n_warnings; i++)
		free(request->warnings[i]);
	free(request->options_bytes);
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

int session_request_warn(struct session_request *request, const char *text)
{
	size_t n = request->n_warnings;

	if (n == SESSION_MAX_WARNINGS)
		return 0;
	if (n + 1 == SESSION_MAX_WARNINGS)
		text = "further warnings about the request are left out";
	request->warnings[n] = strdup(text);
	if (!request->warnings[n])
		return -ENOMEM;
	request->n_warnings++;
	return 0;
}
