/* SPDX-License-Identifier: Apache-2.0 */
/* Requests for one recording; see capture_request.h. */
#include "daemon/pipeline/recording/capture_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
