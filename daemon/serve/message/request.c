/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of clients; see request.h. The stock server's treatment of each field is in
 * tsl/profiler/lib/profiler_session.cc and xla/tsl/profiler/rpc/profiler_service_impl.cc.
 */
#include "daemon/serve/message/request.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "daemon/serve/message/trace_part.h"
#include "daemon/serve/session/session_request.h"
#include "proftap/v1/profiler.pb-c.h"
#include "proto/pack.h"
#include "rpc/server.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

typedef Tensorflow__ProfileOptions Options;
typedef Tensorflow__ProfileOptions__AdvancedConfigValue Value;

/* --- options, for both services ------------------------------------------------------------- */

static const char not_a_request[] = "the request is not a ProfileRequest";

static int read_map_value(
	struct session_request *request, const char *key, const Value *value, struct diag *d)
{
	enum option_type type = OPTION_STRING;
	int64_t number = 0;
	const char *text = "";
	int r;

	/* protobuf-c gives NULL for a map entry without a value. */
	switch (value ? value->value_case
		      : TENSORFLOW__PROFILE_OPTIONS__ADVANCED_CONFIG_VALUE__VALUE__NOT_SET) {
	case TENSORFLOW__PROFILE_OPTIONS__ADVANCED_CONFIG_VALUE__VALUE_BOOL_VALUE:
		type = OPTION_BOOL;
		number = value->bool_value;
		break;
	case TENSORFLOW__PROFILE_OPTIONS__ADVANCED_CONFIG_VALUE__VALUE_INT64_VALUE:
		type = OPTION_INT;
		number = value->int64_value;
		break;
	case TENSORFLOW__PROFILE_OPTIONS__ADVANCED_CONFIG_VALUE__VALUE_STRING_VALUE:
		text = value->string_value;
		break;
	default:
		if (option_find(key))
			return diag_set(d, -EINVAL, "%s: no value", key);
		break;
	}
	r = profile_options_set_map(&request->capture.options, key, type, number, text, d);
	return r == OPTION_NOTED ? capture_request_warn(&request->capture, d->text) : r;
}

static int check_level(const char *key, uint32_t value, struct diag *d)
{
	const struct option *option = option_find(key);

	if ((int64_t)value <= option->max)
		return 0;
	return diag_set(d, -EINVAL, "%s: %u is out of range; %lld to %lld", key, value,
		(long long)option->min, (long long)option->max);
}

/* JAX records GPUs only if the type is unspecified or GPU. */
static int read_device_type(struct session_request *request, const Options *o, struct diag *d)
{
	switch (o->device_type) {
	case TENSORFLOW__PROFILE_OPTIONS__DEVICE_TYPE__UNSPECIFIED:
	case TENSORFLOW__PROFILE_OPTIONS__DEVICE_TYPE__GPU:
		return 0;
	case TENSORFLOW__PROFILE_OPTIONS__DEVICE_TYPE__CPU:
		request->capture.options.device_tracer_level = 0;
		return 0;
	case TENSORFLOW__PROFILE_OPTIONS__DEVICE_TYPE__TPU:
		request->capture.options.device_tracer_level = 0;
		return capture_request_warn(&request->capture,
			"device_type: TPU: no device is recorded: this machine has no TPU");
	case TENSORFLOW__PROFILE_OPTIONS__DEVICE_TYPE__PLUGGABLE_DEVICE:
		request->capture.options.device_tracer_level = 0;
		return capture_request_warn(&request->capture,
			"device_type: PLUGGABLE_DEVICE: no device is recorded: proftap knows "
			"none");
	default:
		return diag_set(
			d, -EINVAL, "device_type: %d is out of range; 0 to 4", (int)o->device_type);
	}
}

/* Warns about fields that JAX's servers use and this one does not. */
static int warn_of_ignored_fields(struct session_request *request, const Options *o)
{
	int r = 0;

	/* The upper half of the mask has no meaning. Without trace_options there is no filter. */
	if (o->trace_options && (uint32_t)o->trace_options->host_traceme_filter_mask != UINT32_MAX)
		r = capture_request_warn(&request->capture,
			"trace_options.host_traceme_filter_mask: ignored: annotations of proftap "
			"have no filters");
	if (!r && o->raise_error_on_start_failure)
		r = capture_request_warn(&request->capture,
			"raise_error_on_start_failure: ignored: failures are warnings of the "
			"trace");
	if (!r && o->enable_multipass)
		r = capture_request_warn(&request->capture,
			"enable_multipass: ignored: kernels are not run again for metrics");
	return r;
}

/* Reads the fields that count only in version 1. */
static int read_levels(struct session_request *request, const Options *o, struct diag *d)
{
	int r = check_level("host_tracer_level", o->host_tracer_level, d);

	if (!r)
		r = check_level("device_tracer_level", o->device_tracer_level, d);
	if (!r)
		r = check_level("python_tracer_level", o->python_tracer_level, d);
	if (r)
		return r;
	request->capture.options.host_tracer_level = o->host_tracer_level;
	request->capture.options.device_tracer_level = o->device_tracer_level;
	request->capture.options.python_tracer_level = o->python_tracer_level;
	request->capture.options.start_timestamp_ns = o->start_timestamp_ns;
	r = read_device_type(request, o, d);
	if (!r)
		r = warn_of_ignored_fields(request, o);
	for (size_t i = 0; i < o->n_advanced_configuration && !r; i++)
		r = read_map_value(request, o->advanced_configuration[i]->key,
			o->advanced_configuration[i]->value, d);
	return r;
}

static bool is_readable(const uint8_t *bytes, size_t n)
{
	Options *again = tensorflow__profile_options__unpack(NULL, n, bytes);

	if (again)
		tensorflow__profile_options__free_unpacked(again, NULL);
	return again != NULL;
}

/*
 * Keeps the options as bytes. protobuf-c accepts unknown fields with overlong tags, but writes them
 * wrongly; such a request is refused.
 */
static int echo_options(struct session_request *request, const Options *o, struct diag *d)
{
	int r = proto_pack(
		&o->base, &request->capture.options_bytes, &request->capture.n_options_bytes);

	if (r)
		return r;
	if (!is_readable(request->capture.options_bytes, request->capture.n_options_bytes))
		return diag_set(d, -EINVAL, "%s", not_a_request);
	return 0;
}

static int set_session_id(struct session_request *request, const char *id)
{
	free(request->session_id);
	request->session_id = strdup(id);
	return request->session_id ? 0 : -ENOMEM;
}

/* Version 0 means the defaults, as in JAX's server; warns if the request sets other fields. */
static int warn_of_version_0(struct session_request *request, const Options *o)
{
	if (!o->host_tracer_level && !o->device_tracer_level && !o->python_tracer_level &&
		!o->device_type && !o->start_timestamp_ns && !o->n_advanced_configuration)
		return 0;
	return capture_request_warn(&request->capture,
		"options.version: 0 means the defaults: levels, start and advanced configuration "
		"of the request are ignored; set version to 1");
}

/* Reads |o| into a request with initialised options. 0; -EINVAL with |d|; -ENOMEM. */
static int read_options(struct session_request *request, const Options *o, struct diag *d)
{
	int r = echo_options(request, o, d);

	if (o->duration_ms)
		request->capture.options.duration_ms = o->duration_ms;
	if (!r && o->session_id[0])
		r = set_session_id(request, o->session_id);
	if (!r)
		r = o->version ? read_levels(request, o, d) : warn_of_version_0(request, o);
	return r;
}

/* --- tensorflow.ProfilerService ------------------------------------------------------------- */

/* "" becomes NULL. */
static int copy_text(const char *text, char **out)
{
	*out = text[0] ? strdup(text) : NULL;
	return text[0] && !*out ? -ENOMEM : 0;
}

/*
 * Sets the host in the name of the file, from the first field that the stock server would use. It
 * stays NULL without such a field: this server's own name.
 */
static int set_host_name(struct session_request *request, const Tensorflow__ProfileRequest *message)
{
	const struct profile_options *o = &request->capture.options;
	const char *mapped = profile_options_get_text(o, "override_hostname");

	if (profile_options_get_number(o, "use_system_hostname", 0))
		return 0;
	if (message->opts && message->opts->override_hostname[0])
		return copy_text(message->opts->override_hostname, &request->host_name);
	return copy_text(mapped && mapped[0] ? mapped : message->host_name, &request->host_name);
}

static int read_request(
	struct session_request *request, const Tensorflow__ProfileRequest *message, struct diag *d)
{
	int r = 0;

	profile_options_init(&request->capture.options);
	request->capture.options.duration_ms = message->duration_ms;
	request->emit_xspace = message->emit_xspace;
	if (message->session_id[0] && set_session_id(request, message->session_id))
		return -ENOMEM;
	if (message->opts)
		r = read_options(request, message->opts, d);
	if (!r)
		r = profile_options_check_recording(&request->capture.options, d);
	if (!r)
		r = copy_text(message->repository_root, &request->repository_root);
	return r ? r : set_host_name(request, message);
}

static int decode_profile(
	const uint8_t *bytes, size_t n, struct session_request *request, struct diag *d)
{
	Tensorflow__ProfileRequest *message = tensorflow__profile_request__unpack(NULL, n, bytes);
	int r;

	if (!message)
		return diag_set(d, -EINVAL, "%s", not_a_request);
	r = read_request(request, message, d);
	tensorflow__profile_request__free_unpacked(message, NULL);
	return r;
}

int request_decode(const uint8_t *bytes, size_t n, struct session_request **out, struct diag *d)
{
	struct session_request *request = calloc(1, sizeof *request);
	int r = request ? decode_profile(bytes, n, request, d) : -ENOMEM;

	*out = r ? session_request_free(request) : request;
	return r;
}

int request_warn_of_host_options(struct session_request *request, const struct rpc_call *call)
{
	char target[TRACE_PART_WORD_BYTES];

	if (!profile_options_get_number(&request->capture.options, "ptap_machine_usage", 0))
		return 0;
	/* A host daemon sends a target with every call that it passes on. */
	rpc_call_get_target(call, target, sizeof target);
	if (target[0])
		return 0;
	return capture_request_warn(&request->capture, SESSION_REQUEST_NO_MACHINE_USAGE);
}

/* --- proftap.v1 ----------------------------------------------------------------------------- */

#define DEFAULT_INTERVAL_MS 500
#define MIN_INTERVAL_MS 50

/* Any version but 1 is an error here, because no field may be ignored silently. */
static int read_v1_options(
	struct session_request *request, const Tensorflow__ProfileOptions *o, struct diag *d)
{
	profile_options_init(&request->capture.options);
	if (!o || o->version != 1)
		return diag_set(d, -EINVAL, "options.version: %u is not known; it must be 1",
			o ? o->version : 0);
	return read_options(request, o, d);
}

static int read_interval(uint32_t ms, uint32_t *out, struct diag *d)
{
	*out = ms ? ms : DEFAULT_INTERVAL_MS;
	if (*out >= MIN_INTERVAL_MS)
		return 0;
	return diag_set(d, -EINVAL,
		"progress_interval_ms: %u is out of range; at least %u, or 0 for the default of %u",
		ms, MIN_INTERVAL_MS, DEFAULT_INTERVAL_MS);
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
	/* 0 means that the client forgot the field. */
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

/* The time is a unique name, because only one session runs at a time. */
static int make_session_id(struct session_request *request)
{
	char id[32];

	snprintf(id, sizeof id, "s%llx", (unsigned long long)realtime_ns());
	return set_session_id(request, id);
}

/* Checks or makes the name; the recorder's name is reserved for the recorder. */
static int name_start(struct session_request *request, bool for_recorder, struct diag *d)
{
	bool is_recorder =
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
	return set_session_id(request, REQUEST_RECORDER_ID);
}

static int read_start(struct session_request *request, const Proftap__V1__StartRequest *message,
	bool *for_recorder, struct diag *d)
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
	bool *for_recorder, struct diag *d)
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
	bool *for_recorder, struct diag *d)
{
	struct session_request *request = calloc(1, sizeof *request);
	int r = request ? decode_start(bytes, n, request, for_recorder, d) : -ENOMEM;

	*out = r ? session_request_free(request) : request;
	return r;
}
