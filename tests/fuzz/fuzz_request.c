/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz harness of the service's decoding of ProfileRequest, CaptureRequest and StartRequest. A
 * refusal has a message. In an accepted request, every value is in its range, and the options can
 * be packed again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "daemon/serve/message/request.h"
#include "daemon/serve/session/session_request.h"
#include "tests/fuzz/fuzz.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

static void check_accepted(const struct session_request *request)
{
	const struct profile_options *o = &request->capture.options;

	if (o->host_tracer_level > 3 || o->device_tracer_level > 1 || o->python_tracer_level > 1)
		abort();
	for (size_t i = 0; i < o->n_map; i++)
		if (!o->map[i].key)
			abort();
	for (size_t i = 0; i < request->capture.n_warnings; i++)
		if (!request->capture.warnings[i][0])
			abort();
}

/* Checks that the trace repeats the request. */
static void check_echo(const struct session_request *request)
{
	Tensorflow__ProfileOptions *again;

	if (!request->capture.options_bytes)
		return;
	again = tensorflow__profile_options__unpack(
		NULL, request->capture.n_options_bytes, request->capture.options_bytes);
	if (!again)
		abort();
	tensorflow__profile_options__free_unpacked(again, NULL);
}

/* Checks and frees |request|, which was decoded with the result |r|. */
static void check(struct session_request *request, int r, const struct diag *d)
{
	if (r) {
		if (request || (r != -ENOMEM && !d->text[0]) || r > 0)
			abort();
		return;
	}
	check_accepted(request);
	check_echo(request);
	session_request_free(request);
}

static void check_capture(const uint8_t *data, size_t n_bytes)
{
	struct session_request *request;
	struct diag d = DIAG_INIT;
	uint32_t interval_ms = 0;
	int r = request_decode_capture(data, n_bytes, &request, &interval_ms, &d);

	if (!r && (interval_ms < 50 || !request->capture.options.duration_ms))
		abort();
	check(request, r, &d);
}

static void check_start(const uint8_t *data, size_t n_bytes)
{
	struct session_request *request;
	struct diag d = DIAG_INIT;
	bool for_recorder;
	int r = request_decode_start(data, n_bytes, &request, &for_recorder, &d);

	if (!r && !request->session_id[0])
		abort();
	check(request, r, &d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct session_request *request;
	struct diag d = DIAG_INIT;
	int r = request_decode(data, n_bytes, &request, &d);

	check(request, r, &d);
	check_capture(data, n_bytes);
	check_start(data, n_bytes);
	return 0;
}
