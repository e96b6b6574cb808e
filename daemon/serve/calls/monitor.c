/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Monitor of tensorflow.ProfilerService: the program's present activity in numbers and as a text
 * for people. It measures for the requested time. Meanwhile it records steps (level 1) or steps and
 * spans (level 2) if no session runs, and stops recording as soon as somebody asks for a session.
 */
#include "daemon/serve/calls/service.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/pipeline/usage/usage.h"
#include "daemon/serve/calls/errand.h"
#include "daemon/serve/calls/monitor_text.h"
#include "daemon/serve/message/reply.h"
#include "daemon/serve/session/session.h"
#include "daemon/serve/session/session_request.h"
#include "daemon/target/family.h"
#include "daemon/target/target.h"
#include "rpc/server.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

/* The recording needs little memory: it has only steps, or at level 2 also spans. */
#define MAX_RECORDING_BYTES (INT64_C(32) << 20)
#define SAMPLE_INTERVAL_MS 1000

typedef Tensorflow__ProfilerServiceMonitorResult Result;

struct monitor {
	struct errand *errand;
	struct session *session;
	uint64_t duration_ms;
	int level; /* 1 or 2 */
	bool is_stamped;
	struct usage usage;
	bool is_recorded; /* the recording has been delivered; under the errands' mutex */
	bool has_steps; /* |steps| is known */
	struct step_times steps;
};

/* --- the recording -------------------------------------------------------------------------- */

static void deliver_recording(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	struct monitor *m = request->context;

	(void)d;
	m->has_steps = !r && step_times_read(result->delivery, &m->steps) == 0;
	delivery_free(result->delivery);
	errand_raise(m->errand, &m->is_recorded);
}

static int set_option(struct session_request *request, const char *key, int64_t value)
{
	struct diag d = DIAG_INIT;

	return profile_options_set_map(&request->capture.options, key, OPTION_INT, value, "", &d);
}

static struct session_request *make_request(struct monitor *m)
{
	struct session_request *request = calloc(1, sizeof *request);

	if (!request)
		return NULL;
	profile_options_init(&request->capture.options);
	request->capture.options.host_tracer_level = (uint32_t)m->level;
	request->capture.options.device_tracer_level = 0;
	request->capture.options.duration_ms = m->duration_ms;
	request->call = m->errand->call;
	request->deliver = deliver_recording;
	request->context = m;
	request->yields = 1;
	if (set_option(request, "ptap_usage_interval_ms", 0) ||
		set_option(request, "ptap_sample_hz", 0) ||
		set_option(request, "ptap_max_capture_bytes", MAX_RECORDING_BYTES))
		return session_request_free(request);
	return request;
}

/*
 * A short recording may be delivered before session_take() returns. So is_recorded is set here only
 * if there is no recording.
 */
static void begin_recording(struct monitor *m)
{
	struct session_request *request = make_request(m);

	if (!request || session_take(m->session, request))
		errand_raise(m->errand, &m->is_recorded);
}

/* Ends the recording early if the call was given up. */
static void end_recording(struct monitor *m, bool is_cancelled)
{
	if (is_cancelled)
		session_cancel(m->session, m->errand->call);
	errand_await(m->errand, &m->is_recorded);
}

/* --- the usage ------------------------------------------------------------------------------ */

static const struct target *get_target(const struct monitor *m)
{
	return m->session->family->main;
}

static int64_t find_end(const struct monitor *m)
{
	int64_t now_ns = monotonic_ns();

	if (m->duration_ms > (uint64_t)(INT64_MAX - now_ns) / (uint64_t)NS_PER_MS)
		return INT64_MAX;
	return now_ns + (int64_t)m->duration_ms * NS_PER_MS;
}

/* Samples until the duration or the program ends. Returns true if the call was given up. */
static bool sample_usage(struct monitor *m)
{
	int64_t end_ns = find_end(m);
	bool is_cancelled = false;

	usage_open(&m->usage, "", get_target(m)->pid, SAMPLE_INTERVAL_MS);
	usage_open_family(&m->usage, "");
	while (!is_cancelled && monotonic_ns() < end_ns &&
		target_get_life(get_target(m)) == TARGET_ALIVE) {
		int64_t poll_ns = monotonic_ns() + SAMPLE_INTERVAL_MS * NS_PER_MS;

		is_cancelled = errand_wait(m->errand, poll_ns < end_ns ? poll_ns : end_ns);
		usage_visit(&m->usage);
	}
	usage_finish(&m->usage, target_get_life(get_target(m)) == TARGET_DEAD);
	return is_cancelled;
}

static void reply_monitor(struct monitor *m, Result *result, char *text)
{
	Tensorflow__MonitorResponse response = TENSORFLOW__MONITOR_RESPONSE__INIT;

	response.data = text;
	response.monitor_result = result;
	reply_message(m->errand->call, &response.base);
}

static void answer_monitor(struct monitor *m, double seconds)
{
	char *text = NULL;
	size_t n = 0;
	struct monitor_text words = {
		.to = open_memstream(&text, &n),
		.target = get_target(m),
		.usage = &m->usage,
		.steps = m->has_steps ? &m->steps : NULL,
		.seconds = seconds,
		.is_detailed = m->level > 1,
		.is_stamped = m->is_stamped,
	};
	Result result;
	bool is_written = false;

	if (words.to) {
		monitor_text_write(&words, &result);
		is_written = fclose(words.to) == 0;
	}
	if (is_written)
		reply_monitor(m, &result, text);
	else
		reply_no_memory(m->errand->call);
	free(text);
}

static void measure_program(struct monitor *m)
{
	int64_t begin_ns = monotonic_ns();
	double seconds;
	bool is_cancelled;

	begin_recording(m);
	is_cancelled = sample_usage(m);
	seconds = (double)(monotonic_ns() - begin_ns) / 1e9;
	end_recording(m, is_cancelled);
	if (is_cancelled)
		rpc_call_fail(m->errand->call, RPC_CANCELLED, "the client went away");
	else if (target_get_life(get_target(m)) != TARGET_ALIVE)
		reply_gone(m->errand->call, m->session);
	else
		answer_monitor(m, seconds);
	usage_close(&m->usage);
}

static void do_monitor(struct errand *e)
{
	Tensorflow__MonitorRequest *request =
		tensorflow__monitor_request__unpack(NULL, e->request_bytes, e->request);
	const struct service *service = e->context;
	struct monitor m = {.errand = e, .session = service->session};

	if (!request) {
		rpc_call_fail(e->call, RPC_INVALID_ARGUMENT, "the request is not a MonitorRequest");
		return;
	}
	m.duration_ms = request->duration_ms;
	m.level = request->monitoring_level > 1 ? 2 : 1;
	m.is_stamped = request->timestamp;
	tensorflow__monitor_request__free_unpacked(request, NULL);
	if (m.duration_ms == 0)
		rpc_call_fail(
			e->call, RPC_INVALID_ARGUMENT, "duration_ms must be greater than zero.");
	else
		measure_program(&m);
}

void monitor_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct service *service = context;

	errand_start(service->errands, ERRAND_MONITOR, call, bytes, n, do_monitor);
}
