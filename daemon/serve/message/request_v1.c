/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of proftap.v1; see request.h. Their options are those of a ProfileRequest. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "daemon/serve/message/request.h"
#include "daemon/serve/message/request_fields.h"
#include "daemon/serve/session/session_request.h"
#include "proftap/v1/profiler.pb-c.h"

#define DEFAULT_INTERVAL_MS 500
#define MIN_INTERVAL_MS 50

/* Nothing is ignored for its version. */
static int read_v1_options(
	struct session_request *request, const Tensorflow__ProfileOptions *o, struct diag *d)
{
	profile_options_init(&request->capture.options);
	if (!o || o->version != 1)
		return diag_set(d, -EINVAL, "options.version: %u is not known; it must be 1",
			o ? o->version : 0);
	return request_read_options(request, o, d);
}

static int read_interval(uint32_t ms, uint32_t *out, struct diag *d)
{
	*out = ms ? ms : DEFAULT_INTERVAL_MS;
	if (*out >= MIN_INTERVAL_MS)
		return 0;
	return diag_set(d, -EINVAL,
		"progress_interval_ms: %u is out of range; at least %u, or 0 for %u", ms,
		MIN_INTERVAL_MS, DEFAULT_INTERVAL_MS);
}

static int decode_capture(const uint8_t *bytes, size_t n, struct session_request *request,
	uint32_t *interval_ms, struct diag *d)
{
	Proftap__V1__CaptureRequest *message = proftap__v1__capture_request__unpack(NULL, n, bytes);
	int r;

	if (!message)
		return diag_set(d, -EINVAL, "the request is not a CaptureRequest");
	r = read_v1_options(request, message->options, d);
	if (!r)
		r = profile_options_check_recording(&request->capture.options, d);
	if (!r)
		r = read_interval(message->progress_interval_ms, interval_ms, d);
	/* No length is taken for one that was forgotten. */
	if (!r && !request->capture.options.duration_ms)
		r = diag_set(d, -EINVAL, "options.duration_ms: 0 is out of range; at least 1");
	proftap__v1__capture_request__free_unpacked(message, NULL);
	return r;
}

int request_decode_capture(const uint8_t *bytes, size_t n, struct session_request **out,
	uint32_t *interval_ms, struct diag *d)
{
	struct session_request *request = calloc(1, sizeof *request);
	int r = request ? decode_capture(bytes, n, request, interval_ms, d) : -ENOMEM;

	*out = r ? session_request_free(request) : request;
	return r;
}

/* There is one at a time, so the time names it. */
static int make_session_id(struct session_request *request)
{
	char id[32];

	snprintf(id, sizeof id, "s%llx", (unsigned long long)realtime_ns());
	return request_set_session_id(request, id);
}

/* Of a session, or of the recorder: each has its names. */
static int name_start(struct session_request *request, int for_recorder, struct diag *d)
{
	int is_recorder =
		request->session_id && strcmp(request->session_id, REQUEST_RECORDER_ID) == 0;

	if (!for_recorder && is_recorder)
		return diag_set(d, -EINVAL,
			"session_id: \"" REQUEST_RECORDER_ID "\" is the flight recorder's name");
	if (!for_recorder)
		return request->session_id ? 0 : make_session_id(request);
	if (request->session_id && !is_recorder)
		return diag_set(d, -EINVAL,
			"session_id: \"%.64s\": the flight recorder's is \"" REQUEST_RECORDER_ID
			"\"; leave it empty",
			request->session_id);
	return request_set_session_id(request, REQUEST_RECORDER_ID);
}

static int read_start(struct session_request *request, const Proftap__V1__StartRequest *message,
	int *for_recorder, struct diag *d)
{
	int r = read_v1_options(request, message->options, d);

	*for_recorder = message->recorder;
	if (!r)
		r = message->recorder
			    ? profile_options_check_recorder(&request->capture.options, d)
			    : profile_options_check_recording(&request->capture.options, d);
	return r ? r : name_start(request, message->recorder, d);
}

static int decode_start(const uint8_t *bytes, size_t n, struct session_request *request,
	int *for_recorder, struct diag *d)
{
	Proftap__V1__StartRequest *message = proftap__v1__start_request__unpack(NULL, n, bytes);
	int r;

	if (!message)
		return diag_set(d, -EINVAL, "the request is not a StartRequest");
	r = read_start(request, message, for_recorder, d);
	proftap__v1__start_request__free_unpacked(message, NULL);
	return r;
}

int request_decode_start(const uint8_t *bytes, size_t n, struct session_request **out,
	int *for_recorder, struct diag *d)
{
	struct session_request *request = calloc(1, sizeof *request);
	int r = request ? decode_start(bytes, n, request, for_recorder, d) : -ENOMEM;

	*out = r ? session_request_free(request) : request;
	return r;
}
