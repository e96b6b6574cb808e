/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests; see profile_call.h. A ProfileRequest has everything that a stock client sends, so that
 * servers of JAX and TensorFlow of any age understand it. emit_xspace makes them send the data
 * instead of writing it to their own disk.
 */
#include "client/answer/profile_call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/profile_options.h"
#include "proftap/v1/profiler.pb-c.h"
#include "proto/options_message.h"
#include "proto/pack.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

typedef Tensorflow__ProfileOptions proto_options;

#define MAX_EVENTS 1000000
/* The interval is short enough for a person who watches the progress. */
#define PROGRESS_INTERVAL_MS 200

/* Stock clients send this list; stock servers ignore it. */
static char *tools[] = {"trace_viewer", "op_profile", "input_pipeline", "kernel_stats",
	"memory_viewer", "memory_profile", "overview_page", "pod_viewer", "tensorflow_stats",
	"xplane.pb"};

/* Encodes |message| with the options of |call| in its field |place|. */
static int pack_with_options(const struct profile_call *call, const ProtobufCMessage *message,
	proto_options **place, uint8_t **out, size_t *n_out)
{
	struct options_message options;
	int r = options_message_init(&options, call->options, call->host_name);

	if (r == 0) {
		if (call->log_dir)
			options.message.repository_path = (char *)call->log_dir;
		*place = &options.message;
		r = proto_pack(message, out, n_out);
		*place = NULL;
	}
	options_message_deinit(&options);
	return r;
}

/*
 * Trailing slashes are removed, because an object store reads two slashes as an empty name between
 * them.
 */
char *profile_call_make_root(const char *log_dir)
{
	int n = (int)strlen(log_dir);
	char *root;

	while (n > 0 && log_dir[n - 1] == '/')
		n--;
	return asprintf(&root, "%.*s/plugins/profile", n, log_dir) < 0 ? NULL : root;
}

int profile_call_encode(const struct profile_call *call, uint8_t **out, size_t *n_out)
{
	Tensorflow__ProfileRequest request = TENSORFLOW__PROFILE_REQUEST__INIT;
	_cleanup_free_ char *root = call->log_dir ? profile_call_make_root(call->log_dir) : NULL;

	if (call->log_dir && !root)
		return -ENOMEM;
	request.duration_ms = call->options->duration_ms;
	request.max_events = MAX_EVENTS;
	request.n_tools = sizeof tools / sizeof tools[0];
	request.tools = tools;
	if (root)
		request.repository_root = root;
	request.session_id = (char *)call->options->session_id;
	request.host_name = (char *)call->address;
	request.emit_xspace = !call->server_writes;
	return pack_with_options(call, &request.base, &request.opts, out, n_out);
}

int profile_call_encode_terminate(const char *session_id, uint8_t **out, size_t *n_out)
{
	Tensorflow__TerminateRequest request = TENSORFLOW__TERMINATE_REQUEST__INIT;

	request.session_id = (char *)session_id;
	return proto_pack(&request.base, out, n_out);
}

int profile_call_encode_capture(const struct profile_call *call, uint8_t **out, size_t *n_out)
{
	Proftap__V1__CaptureRequest request = PROFTAP__V1__CAPTURE_REQUEST__INIT;

	request.progress_interval_ms = PROGRESS_INTERVAL_MS;
	return pack_with_options(call, &request.base, &request.options, out, n_out);
}

int profile_call_encode_start(
	const struct profile_call *call, bool of_recorder, uint8_t **out, size_t *n_out)
{
	Proftap__V1__StartRequest request = PROFTAP__V1__START_REQUEST__INIT;

	request.recorder = of_recorder;
	return pack_with_options(call, &request.base, &request.options, out, n_out);
}

int profile_call_encode_snapshot(
	const char *session_id, uint64_t last_ms, bool keep, uint8_t **out, size_t *n_out)
{
	Proftap__V1__SnapshotRequest request = PROFTAP__V1__SNAPSHOT_REQUEST__INIT;

	request.session_id = (char *)session_id;
	request.last_ms = last_ms;
	request.keep = keep;
	return proto_pack(&request.base, out, n_out);
}

int profile_call_encode_stop(const char *session_id, bool discard, uint8_t **out, size_t *n_out)
{
	Proftap__V1__StopRequest request = PROFTAP__V1__STOP_REQUEST__INIT;

	request.session_id = (char *)session_id;
	request.discard = discard;
	return proto_pack(&request.base, out, n_out);
}
