/* SPDX-License-Identifier: Apache-2.0 */
/* Requests for one recording; see capture_request.h. */
#include "daemon/pipeline/recording/capture_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/profile_options.h"
#include "proto/pack.h"
#include "tsl/profiler/protobuf/profiler_options.pb-c.h"

void capture_request_deinit(struct capture_request *request)
{
	profile_options_deinit(&request->options);
	for (size_t i = 0; i < request->n_warnings; i++)
		free(request->warnings[i]);
	free(request->options_bytes);
}

int capture_request_warn(struct capture_request *request, const char *text)
{
	size_t n = request->n_warnings;

	if (n == CAPTURE_MAX_WARNINGS)
		return 0;
	if (n + 1 == CAPTURE_MAX_WARNINGS)
		text = "further warnings about the request are left out";
	request->warnings[n] = strdup(text);
	if (!request->warnings[n])
		return -ENOMEM;
	request->n_warnings++;
	return 0;
}

const struct profile_options *capture_request_get_device_options(
	const struct capture_request *request)
{
	return request->options.device_tracer_level ? &request->options : NULL;
}

/* --- options echo ----------------------------------------------------------------------------- */

int options_echo(
	const struct profile_options *from, const char *repository, uint8_t **out, size_t *n_out)
{
	Tensorflow__ProfileOptions o = TENSORFLOW__PROFILE_OPTIONS__INIT;

	o.version = 1;
	o.host_tracer_level = from->host_tracer_level;
	o.device_tracer_level = from->device_tracer_level;
	o.python_tracer_level = from->python_tracer_level;
	o.start_timestamp_ns = from->start_timestamp_ns;
	o.duration_ms = from->duration_ms == UINT64_MAX ? 0 : from->duration_ms;
	o.session_id = (char *)from->session_id;
	if (repository)
		o.repository_path = (char *)repository;
	return proto_pack(&o.base, out, n_out);
}

/* --- recorder options ------------------------------------------------------------------------- */

int recorder_options_parse(struct profile_options *o, char *lines, struct diag *d)
{
	char *rest = NULL;
	int r = 0;

	for (char *line = strtok_r(lines, "\n", &rest); line && r >= 0;
		line = strtok_r(NULL, "\n", &rest))
		r = profile_options_parse(o, line, d);
	/*
	 * Options that elsewhere cause a warning are refused here, because no client would see the
	 * warning.
	 */
	return r < 0 ? r : profile_options_check_recorder(o, d);
}
