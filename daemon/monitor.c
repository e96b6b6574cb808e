/* SPDX-License-Identifier: Apache-2.0 */
/* Monitor; see monitor.h. The text is in the style of the one that TensorFlow's own monitor shows for TPUs. */
#include "daemon/monitor.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/chunks.h"
#include "base/clock.h"
#include "base/diag.h"
#include "daemon/capture.h"
#include "daemon/delivery.h"
#include "daemon/errand.h"
#include "daemon/family.h"
#include "daemon/service.h"
#include "daemon/session.h"
#include "daemon/session_request.h"
#include "daemon/step_times.h"
#include "daemon/target.h"
#include "daemon/usage.h"
#include "rpc/server.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

/* Of the recording, beside the program: steps are few. */
#define MAX_RECORDING_BYTES (INT64_C(32) << 20)
#define SAMPLE_INTERVAL_MS 1000
#define BUSIEST_THREADS 5

typedef Tensorflow__ProfilerServiceMonitorResult Result;

struct monitor {
	struct errand *errand;
	uint64_t duration_ms;
	int level; /* 1 or 2 */
	int is_stamped;
	struct usage usage;
	int is_recorded; /* the recording has been delivered; under the errands' mutex */
	int has_steps; /* |steps| is known */
	struct step_times steps;
	FILE *text;
};

/* The recording. */

static void deliver(
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

	return profile_options_set_map(&request->options, key, OPTION_INT, value, "", &d);
}

static struct session_request *make_request(struct monitor *m)
{
	struct session_request *request = calloc(1, sizeof *request);

	if (!request)
		return NULL;
	profile_options_init(&request->options);
	request->options.host_tracer_level = (uint32_t)m->level;
	request->options.duration_ms = m->duration_ms;
	request->call = m->errand->call;
	request->deliver = deliver;
	request->context = m;
	request->yields = 1;
	if (set_option(request, "ptap_usage_interval_ms", 0) ||
		set_option(request, "ptap_max_capture_bytes", MAX_RECORDING_BYTES))
		return session_request_free(request);
	return request;
}

static void begin_recording(struct monitor *m)
{
	struct session_request *request = make_request(m);

	m->is_recorded = !request || session_take(m->errand->service->session, request) != 0;
}

/* Nobody waits for the end of a duration that is given up. */
static void end_recording(struct monitor *m, int is_cancelled)
{
	if (is_cancelled)
		session_cancel(m->errand->service->session, m->errand->call);
	errand_await(m->errand, &m->is_recorded);
}

/* The use. */

static const struct target *target_of(const struct monitor *m)
{
	return m->errand->service->session->family->main;
}

static int64_t end_of(const struct monitor *m)
{
	int64_t now_ns = monotonic_ns();

	if (m->duration_ms > (uint64_t)(INT64_MAX - now_ns) / (uint64_t)NS_PER_MS)
		return INT64_MAX;
	return now_ns + (int64_t)m->duration_ms * NS_PER_MS;
}

/* 1 when the call is given up. */
static int watch(struct monitor *m)
{
	int64_t end_ns = end_of(m);
	int is_cancelled = 0;

	usage_open(&m->usage, "", target_of(m)->pid, SAMPLE_INTERVAL_MS);
	while (!is_cancelled && monotonic_ns() < end_ns &&
		target_get_life(target_of(m)) == TARGET_ALIVE) {
		int64_t look_ns = monotonic_ns() + SAMPLE_INTERVAL_MS * NS_PER_MS;

		is_cancelled = errand_wait(m->errand, look_ns < end_ns ? look_ns : end_ns);
		usage_visit(&m->usage);
	}
	usage_finish(&m->usage, target_get_life(target_of(m)) == TARGET_DEAD);
	return is_cancelled;
}

static int count_processors(pid_t pid)
{
	cpu_set_t set;

	return sched_getaffinity(pid, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* From the first sample to the last; 0 when it is not known. */
static double find_rate(const struct usage *u, enum usage_metric metric)
{
	const struct usage_sample *a = u->samples;
	const struct usage_sample *b = a + u->n_samples - 1;

	if (u->n_samples < 2 || !(a->known & b->known & 1u << metric) || b->at_ns <= a->at_ns ||
		b->value[metric] < a->value[metric])
		return 0;
	return (double)(b->value[metric] - a->value[metric]) * (double)NS_PER_S /
	       (double)(b->at_ns - a->at_ns);
}

static uint64_t find_last(const struct usage *u, enum usage_metric metric)
{
	return u->n_samples ? u->samples[u->n_samples - 1].value[metric] : 0;
}

/* The words. */

static void say_time(struct monitor *m)
{
	time_t now = realtime_ns() / NS_PER_S;
	char stamp[16];
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(stamp, sizeof stamp, "%H:%M:%S", &tm);
	fprintf(m->text, "Timestamp: %s\n", stamp);
}

static void say_steps(struct monitor *m)
{
	const struct step_times *s = &m->steps;

	if (!m->has_steps)
		fprintf(m->text, "Step time: not known: another session has the recorder\n");
	else if (!s->n_steps)
		fprintf(m->text, "Step time: no step ended meanwhile\n");
	else
		fprintf(m->text,
			"Step time: %.3f ms (avg), %.3f ms (min), %.3f ms (max), %" PRIu64
			" steps\n",
			(double)s->total_ns / (double)s->n_steps / 1e6, (double)s->min_ns / 1e6,
			(double)s->max_ns / 1e6, s->n_steps);
}

static void say_threads(struct monitor *m, double seconds)
{
	const struct usage_threads *t = &m->usage.threads;

	for (size_t i = 0; i < t->n && i < BUSIEST_THREADS; i++) {
		double used_s = (double)usage_thread_count_ns(t->v[i]) / 1e9;

		if (used_s > 0)
			fprintf(m->text, "Thread %s (%d): %.1f %% CPU\n", t->v[i]->name,
				(int)t->v[i]->tid, 100 * used_s / seconds);
	}
}

static void say_details(struct monitor *m, double seconds)
{
	const struct usage *u = &m->usage;

	fprintf(m->text, "Memory: %.1f MiB resident, %.0f faults/s\n",
		(double)find_last(u, USAGE_RSS) / (1 << 20),
		find_rate(u, USAGE_MINOR_FAULTS) + find_rate(u, USAGE_MAJOR_FAULTS));
	fprintf(m->text, "Threads: %" PRIu64 ", %.0f context switches/s\n",
		find_last(u, USAGE_THREADS), find_rate(u, USAGE_SWITCHES));
	fprintf(m->text, "I/O: %.0f bytes/s read, %.0f bytes/s written\n", find_rate(u, USAGE_READ),
		find_rate(u, USAGE_WRITTEN));
	if (m->has_steps)
		fprintf(m->text, "Annotations: %" PRIu64 " on %" PRIu64 " threads\n",
			m->steps.n_events, m->steps.n_threads);
	say_threads(m, seconds);
}

static double find_idle_percent(double processors_used, int n_processors)
{
	double idle = 100 * (1 - processors_used / n_processors);

	return idle < 0 ? 0 : idle;
}

static void fill(struct monitor *m, Result *result, double seconds)
{
	const struct target *t = target_of(m);
	double used = find_rate(&m->usage, USAGE_CPU) / 1e9;
	int n = count_processors(t->pid);

	tensorflow__profiler_service_monitor_result__init(result);
	result->response_type =
		TENSORFLOW__PROFILER_SERVICE_MONITOR_RESULT__RESPONSE_TYPE__UTIL_IDLE;
	result->device_idle_time_percent = find_idle_percent(used, n);
	if (m->is_stamped)
		say_time(m);
	fprintf(m->text, "Program: %s (pid %d), measured for %.1f s\n", t->name, (int)t->pid,
		seconds);
	fprintf(m->text, "CPU: %.1f %%, of %d processors\n", 100 * used, n);
	fprintf(m->text, "CPU idle time (lower is better): %.1f %%\n",
		result->device_idle_time_percent);
	say_steps(m);
	if (m->level > 1)
		say_details(m, seconds);
	if (!m->has_steps || !m->steps.n_steps)
		return;
	result->response_type =
		TENSORFLOW__PROFILER_SERVICE_MONITOR_RESULT__RESPONSE_TYPE__UTIL_IDLE_STEP;
	result->step_time_ms_avg = (double)m->steps.total_ns / (double)m->steps.n_steps / 1e6;
	result->step_time_ms_min = (double)m->steps.min_ns / 1e6;
	result->step_time_ms_max = (double)m->steps.max_ns / 1e6;
}

static void reply(struct monitor *m, Result *result, char *text)
{
	Tensorflow__MonitorResponse response = TENSORFLOW__MONITOR_RESPONSE__INIT;
	struct chunks message = CHUNKS_INIT;
	uint8_t *room;
	size_t n;

	response.data = text;
	response.monitor_result = result;
	n = tensorflow__monitor_response__get_packed_size(&response);
	room = chunks_reserve(&message, n);
	if (room)
		chunks_commit(&message, tensorflow__monitor_response__pack(&response, room));
	rpc_call_reply(m->errand->call, &message);
}

static void answer(struct monitor *m, double seconds)
{
	char *text = NULL;
	size_t n = 0;
	Result result;

	m->text = open_memstream(&text, &n);
	if (m->text) {
		fill(m, &result, seconds);
		if (fclose(m->text) == 0)
			reply(m, &result, text);
		else
			m->text = NULL;
	}
	if (!m->text)
		rpc_call_fail(m->errand->call, RPC_RESOURCE_EXHAUSTED,
			"the profiler server is out of memory");
	free(text);
}

static void measure(struct monitor *m)
{
	int64_t begin_ns = monotonic_ns();
	double seconds;
	int is_cancelled;

	begin_recording(m);
	is_cancelled = watch(m);
	seconds = (double)(monotonic_ns() - begin_ns) / 1e9;
	end_recording(m, is_cancelled);
	if (is_cancelled)
		rpc_call_fail(m->errand->call, RPC_CANCELLED, "the client went away");
	else if (target_get_life(target_of(m)) != TARGET_ALIVE)
		rpc_call_fail(m->errand->call, RPC_UNAVAILABLE, session_gone_text);
	else
		answer(m, seconds);
	usage_close(&m->usage);
}

static void work(struct errand *e)
{
	Tensorflow__MonitorRequest *request =
		tensorflow__monitor_request__unpack(NULL, e->request_bytes, e->request);
	struct monitor m = {.errand = e};

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
		measure(&m);
}

void monitor_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *service)
{
	errand_start(service, call, bytes, n, work);
}
