/* SPDX-License-Identifier: Apache-2.0 */
/* Traces that are written here; see file_delivery.h. */
#include "daemon/serve/calls/file_delivery.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/diag.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/serve/message/reply.h"
#include "daemon/serve/session/repository.h"
#include "daemon/serve/session/session_request.h"
#include "rpc/server.h"
#include "trace/run_dir.h"

#define HOST_BYTES 300

int file_delivery_is_wanted(
	const struct repository *repository, const struct session_request *request)
{
	return !request->emit_xspace && request->repository_root && request->session_id &&
	       repository_contains(repository, request->repository_root);
}

/* The name of the file. */
static const char *name_host(const struct session_request *request, char own_name[HOST_BYTES])
{
	repository_name_host(own_name, HOST_BYTES);
	return request->host_name ? request->host_name : own_name;
}

static int open_run(
	const struct repository *repository, struct session_request *request, struct diag *d)
{
	int r = -ENOMEM;

	request->run = calloc(1, sizeof *request->run);
	if (request->run)
		r = repository_open_run(
			repository, request->repository_root, request->session_id, request->run, d);
	if (r) {
		free(request->run);
		request->run = NULL;
	}
	return r;
}

int file_delivery_open(const struct repository *repository, struct session_request *request)
{
	struct diag d = DIAG_INIT;
	char own_name[HOST_BYTES];
	int r = open_run(repository, request, &d);

	if (!r)
		r = repository_check_free(request->run, name_host(request, own_name), &d);
	if (r)
		rpc_call_fail(request->call, RPC_INTERNAL, r == -ENOMEM ? "out of memory" : d.text);
	return r;
}

void file_delivery_finish(
	struct session_request *request, struct capture_result *result, struct diag *d)
{
	char own_name[HOST_BYTES];
	int error = 0;

	if (!result->is_empty)
		error = repository_publish(
			request->run, result->delivery, name_host(request, own_name), d);
	result->delivery = delivery_free(result->delivery);
	if (error)
		rpc_call_fail(request->call, RPC_INTERNAL, d->text);
	else
		reply_profile(request->call, result, 0);
}
