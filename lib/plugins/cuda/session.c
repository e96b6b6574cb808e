/* SPDX-License-Identifier: Apache-2.0 */
/* One capture of CUDA's activity; see session.h. */
#include "lib/plugins/cuda/session.h"

#include <errno.h>
#include <proftap/collector.h>
#include <string.h>
#include <time.h>

#include "lib/plugins/cuda/buffers.h"
#include "lib/plugins/cuda/cupti.h"
#include "lib/plugins/cuda/process.h"
#include "lib/plugins/cuda/sentence.h"
#include "lib/plugins/cuda/version.h"

/*
 * The interval at which complete records are flushed, even from buffers that are not full: a crash
 * loses no more than that.
 */
#define SESSION_FLUSH_NS INT64_C(1000000000)

static int read_buffer(void *context, uint8_t *buffer, size_t n_bytes)
{
	return records_read(context, buffer, n_bytes);
}

static int read_buffers(struct cuda_session *s)
{
	return buffers_read(read_buffer, &s->records);
}

static struct result_context make_result_context(const struct cuda_session *s)
{
	return (struct result_context){
		.cupti = &s->cupti,
		.path = s->library.path,
		.driver_version = s->facts.driver_version,
	};
}

/* --- the clock ----------------------------------------------------------------------------- */

/*
 * The number of readings, of which the fastest is used: at least one is probably not interrupted.
 */
#define N_READINGS 8

static int take_anchor(
	const struct cupti *c, const struct ptap_collector_services *services, struct anchor *out)
{
	int64_t narrowest = INT64_MAX;

	for (int i = 0; i < N_READINGS; i++) {
		int64_t before = services->monotonic_ns();
		uint64_t cupti_ns = 0;
		int result = c->get_timestamp(&cupti_ns);
		int64_t took = services->monotonic_ns() - before;

		if (result)
			return result;
		if (took >= narrowest)
			continue;
		narrowest = took;
		out->cupti_ns = cupti_ns;
		out->monotonic_ns = before + took / 2;
	}
	return CUPTI_OK;
}

static int emit_anchor(const struct anchor *a, const struct ptap_collector_services *services)
{
	struct ptap_device_record record = {
		.size = sizeof record,
		.kind = PTAP_DEVICE_ANCHOR,
		.start_ns = a->cupti_ns,
		.end_ns = (uint64_t)a->monotonic_ns,
	};

	return services->emit(&record);
}

/* --- the begin ----------------------------------------------------------------------------- */

/* Loads CUPTI once in a process; it stays loaded. */
static int load_cupti(struct cuda_session *s, char *why)
{
	int r = s->is_loaded ? 0
			     : library_open(&s->library, s->facts.driver_version, &s->cupti, why);

	if (r || s->is_loaded)
		return r;
	calls_choose(&s->callbacks.calls, &s->cupti);
	s->callbacks.calls.contexts = &s->contexts;
	s->callbacks.calls.synchronizer = &s->synchronizer;
	/* Set these now: from arm() on buffers are filled, if another tool has enabled a kind. */
	s->records.cupti = &s->cupti;
	s->records.contexts = &s->contexts;
	s->is_loaded = true;
	return 0;
}

int cuda_session_open(
	struct cuda_session *s, const struct ptap_collector_services *services, char *why)
{
	int r = driver_check(&s->driver, &s->facts, why);

	if (!r)
		r = load_cupti(s, why);
	if (r)
		return r;
	options_read(&s->options, services);
	if (buffers_open(
		    s->options.buffer_mb, !version_has(s->cupti.version, VERSION_NEEDS_BUFFERS)))
		return sentence_write(why, -ENOMEM, "no memory for the buffers of CUPTI");
	s->services = services;
	cuda_names_begin(&s->records.names, services);
	s->state = SESSION_OPEN;
	return 0;
}

static int count_devices(const struct cuda_session *s)
{
	int n = s->facts.n_devices;

	return (uint32_t)n < s->options.n_devices ? n : (int)s->options.n_devices;
}

static void open_counters(struct cuda_session *s)
{
	struct result_context context = make_result_context(s);

	s->records.services = s->services;
	counters_open(&s->counters, s->library.handle, count_devices(s), &s->driver, &s->options,
		&context, &s->records);
}

int cuda_session_arm(struct cuda_session *s, char *why)
{
	struct result_context context = make_result_context(s);
	int result;
	int r = process_enter();

	if (r)
		return sentence_write(why, r, "the program exits");
	r = subscriber_open(&s->subscriber, &context, &s->callbacks, why);
	if (r) {
		process_leave();
		return r;
	}
	s->state = SESSION_ARMED;
	atomic_store(&s->callbacks.is_dead, 0);
	s->cupti.set_thread_id_type(CUPTI_THREAD_ID_SYSTEM);
	/*
	 * Versions of CUPTI whose requests cannot be refused may get the same last buffer again,
	 * so not all buffers are zeroed.
	 */
	attributes_set(
		&s->attributes, &s->cupti, !version_has(s->cupti.version, VERSION_NEEDS_BUFFERS));
	buffers_begin();
	result = s->cupti.register_callbacks(buffers_request, buffers_complete);
	if (result)
		return result_explain(&context, result, "CUPTI takes no buffers", why);
	open_counters(s);
	return 0;
}

/* Turns the failure of a kind into a warning; the other kinds are recorded. */
static void warn_of_refused_kind(void *context, const char *what, int result)
{
	struct cuda_session *s = context;
	struct result_context c = make_result_context(s);
	char sentence[SENTENCE_BYTES];

	result_explain(&c, result, what, sentence);
	s->services->warn(sentence);
}

static void warn_of_missing_function(void *context, const char *function, const char *without)
{
	const struct cuda_session *s = context;
	char version[VERSION_BYTES];
	char sentence[SENTENCE_BYTES];

	sentence_write(sentence, 0, "%.600s, of %s, has no %s: %s", s->library.path,
		version_format(s->cupti.version, version), function, without);
	s->services->warn(sentence);
}

static void begin_reading(struct cuda_session *s)
{
	struct records *r = &s->records;
	bool forgets =
		version_has(s->cupti.version, VERSION_WRONG_GRAPH_CORRELATION) && s->n_recorded > 0;

	if (forgets)
		launches_clear(&s->launches);
	contexts_clear(&s->contexts);
	synchronizer_clear(&s->synchronizer);
	r->services = s->services;
	r->launches = forgets ? &s->launches : NULL;
	r->losses = (struct cuda_losses){0};
	r->from_ns = s->start.cupti_ns;
	r->until_ns = UINT64_MAX;
	r->max_wanted = s->options.max_records;
	r->n_wanted = 0;
	r->n_emitted = 0;
	r->n_devices = s->options.n_devices;
}

static void begin_calls(struct cuda_session *s)
{
	struct calls_wish wish = {
		.max = s->options.max_calls,
		.n_devices = s->options.n_devices,
		.launches = s->records.launches,
		.cupti_offset_ns = (int64_t)s->start.cupti_ns - s->start.monotonic_ns,
	};

	calls_begin(&s->callbacks.calls, &wish, s->services);
	callbacks_enable(&s->callbacks, s->subscriber.handle, true);
	calls_enable(&s->callbacks.calls, s->subscriber.handle, s->options.has_all_calls);
}

static int emit_devices(struct cuda_session *s)
{
	struct driver_devices devices = {
		.driver = &s->driver,
		.n = count_devices(s),
		.driver_version = (uint32_t)s->facts.driver_version,
		.library_version = s->cupti.version,
	};

	return driver_emit_devices(&devices, &s->records.names, s->services);
}

int cuda_session_start(struct cuda_session *s, char *why)
{
	struct result_context context = make_result_context(s);
	int result = take_anchor(&s->cupti, s->services, &s->start);
	int r;

	if (result)
		return result_explain(&context, result, "CUPTI's clock cannot be read", why);
	r = emit_anchor(&s->start, s->services);
	if (!r)
		r = emit_devices(s);
	if (r)
		return sentence_write(why, r, "the recording no longer waits for records");
	cupti_tell_missing(&s->cupti, warn_of_missing_function, s);
	begin_reading(s);
	begin_calls(s);
	result = kinds_enable(&s->kinds, &s->cupti, &s->options, warn_of_refused_kind, s);
	if (result)
		return result_explain(&context, result, "recording kernels", why);
	counters_start(&s->counters, &context, &s->records);
	s->state = SESSION_RECORDING;
	s->n_recorded++;
	s->n_dropped = 0;
	s->flush_at_ns = s->services->monotonic_ns() + SESSION_FLUSH_NS;
	return 0;
}

/* --- the end ------------------------------------------------------------------------------- */

#define NS_PER_MS INT64_C(1000000)
/* The sleep between two checks whether the capture is still wanted. */
#define NAP_NS (10 * NS_PER_MS)
#define SHORT_NAP_NS NS_PER_MS

static void sleep_ns(int64_t ns)
{
	struct timespec t = {.tv_sec = 0, .tv_nsec = ns};

	nanosleep(&t, NULL);
}

static bool is_capture_wanted(const struct cuda_session *s)
{
	return !process_is_exiting() && !s->services->is_cancelled();
}

/* Gives running kernels time to end: without an end their records are useless. */
static void settle_kernels(const struct cuda_session *s, int64_t deadline_ns)
{
	const struct ptap_collector_services *services = s->services;
	int64_t now_ns = services->monotonic_ns();
	int64_t end_ns = now_ns + s->options.settle_ms * NS_PER_MS;

	/* The flush needs most of the time until the deadline. */
	if (end_ns > now_ns + (deadline_ns - now_ns) / 4)
		end_ns = now_ns + (deadline_ns - now_ns) / 4;
	while (now_ns < end_ns && is_capture_wanted(s)) {
		sleep_ns(end_ns - now_ns < NAP_NS ? end_ns - now_ns : NAP_NS);
		now_ns = services->monotonic_ns();
	}
}

/*
 * Waits for at most half of the time until the deadline: a kernel may never end, and the flush
 * needs the other half.
 */
static void synchronize_devices(struct cuda_session *s, int64_t deadline_ns)
{
	int64_t now_ns = s->services->monotonic_ns();
	int64_t end_ns = now_ns + (deadline_ns - now_ns) / 2;
	int r = synchronizer_start(
		&s->synchronizer, &s->driver, s->facts.n_devices, s->services, end_ns);

	while (!r && synchronizer_is_running(&s->synchronizer) && now_ns < end_ns &&
		is_capture_wanted(s)) {
		sleep_ns(SHORT_NAP_NS);
		now_ns = s->services->monotonic_ns();
	}
	if (r || (synchronizer_is_running(&s->synchronizer) && is_capture_wanted(s)))
		s->services->warn(
			"ptap_cuda_sync_at_stop: the devices were not done in time; what had not ended is "
			"missing, and counted");
}

static void stop_session_callbacks(struct cuda_session *s)
{
	calls_disable(&s->callbacks.calls, s->subscriber.handle, s->options.has_all_calls);
	callbacks_enable(&s->callbacks, s->subscriber.handle, false);
	if (s->options.detach != OPTIONS_STAY)
		subscriber_close(&s->subscriber);
}

/*
 * Kernels stay enabled where disabling them may hang. Then their buffers are discarded as they come
 * (buffers.h), until the next capture or the end of the process.
 */
static void stop_session_kinds(struct cuda_session *s)
{
	kinds_disable(&s->kinds, &s->cupti,
		!version_disable_hangs(s->cupti.version, s->facts.driver_version));
}

static void flush_cupti(struct cuda_session *s)
{
	size_t n = 0;

	s->cupti.flush(CUPTI_FLUSH_COMPLETE);
	s->cupti.flush(CUPTI_FLUSH_FORCED);
	/* The call resets CUPTI's counter, so it is made once. */
	if (!s->cupti.get_dropped(NULL, 0, &n) && n)
		losses_add(&s->records.losses, PTAP_DEVICE_LOSS_DROPPED, 0, n);
}

static int emit_end(struct cuda_session *s)
{
	struct anchor end;

	return take_anchor(&s->cupti, s->services, &end) ? 0 : emit_anchor(&end, s->services);
}

/* Stops CUPTI in any state from SESSION_ARMED on. */
static int stop_cupti(struct cuda_session *s, int64_t deadline_ns)
{
	struct result_context context = make_result_context(s);
	uint64_t now_ns = 0;
	int r;

	if (!s->cupti.get_timestamp(&now_ns))
		s->records.until_ns = now_ns;
	r = counters_read(&s->counters, &context, &s->records);
	counters_stop(&s->counters);
	/* Callbacks must stay enabled meanwhile, to learn of destroyed contexts. */
	if (s->options.syncs_at_stop && is_capture_wanted(s))
		synchronize_devices(s, deadline_ns);
	stop_session_callbacks(s);
	stop_session_kinds(s);
	if (!s->options.syncs_at_stop)
		settle_kernels(s, deadline_ns);
	flush_cupti(s);
	counters_close(&s->counters, false);
	attributes_restore(&s->attributes, &s->cupti);
	return r ? r : emit_end(s);
}

int cuda_session_stop(struct cuda_session *s, int64_t deadline_ns, char *why)
{
	int r = 0;

	if (s->state != SESSION_ARMED && s->state != SESSION_RECORDING)
		return 0;
	calls_end(&s->callbacks.calls);
	/* When CUPTI has ended itself it has undone everything. */
	if (callbacks_is_dead(&s->callbacks)) {
		s->subscriber.handle = NULL;
		s->kinds.enabled = 0;
		counters_close(&s->counters, true);
	} else {
		r = stop_cupti(s, deadline_ns);
	}
	s->state = SESSION_STOPPED;
	return r ? sentence_write(why, r, "the recording no longer waits for records") : 0;
}

/* bytes, of the smallest kind of record; the real number of lost records may be lower */
#define LEAST_RECORD_BYTES 24u

static int hand_on_losses(struct cuda_session *s)
{
	struct cuda_losses *losses = &s->records.losses;
	struct buffers_counts counts;

	buffers_get_counts(&counts);
	losses_add(losses, PTAP_DEVICE_LOSS_DROPPED, 0, counts.lost_bytes / LEAST_RECORD_BYTES);
	losses_add(losses, PTAP_DEVICE_LOSS_CALLS, 0, calls_count_lost(&s->callbacks.calls));
	for (int kind = 0; kind < PTAP_DEVICE_KINDS; kind++)
		losses_add(losses, PTAP_DEVICE_LOSS_NAMES, (enum ptap_device_kind)kind,
			s->records.names.n_lost[kind]);
	s->n_dropped = losses_sum(losses);
	return losses_emit(losses, s->services, s->records.until_ns);
}

int cuda_session_drain(struct cuda_session *s, char *why)
{
	int r;

	if (s->state != SESSION_STOPPED)
		return 0;
	r = read_buffers(s);
	if (!r)
		r = hand_on_losses(s);
	buffers_end();
	s->state = SESSION_OPEN;
	process_leave();
	return r ? sentence_write(why, r, "the recording no longer waits for records") : 0;
}

static void warn_of_unsafe_finalize(const struct cuda_session *s)
{
	char version[VERSION_BYTES];
	char sentence[SENTENCE_BYTES];

	sentence_write(sentence, 0,
		"ptap_cuda_detach=finalize: the CUPTI of %s could crash a program with graphs; CUPTI was only "
		"unsubscribed",
		version_format(s->cupti.version, version));
	s->services->warn(sentence);
}

static void finalize_cupti(struct cuda_session *s)
{
	if (!version_has(s->cupti.version, VERSION_FINALIZE_IS_SAFE))
		warn_of_unsafe_finalize(s);
	else if (!process_enter()) {
		s->cupti.finalize();
		process_leave();
	}
}

void cuda_session_close(struct cuda_session *s)
{
	char why[SENTENCE_BYTES];

	if (s->state == SESSION_NONE)
		return;
	/* Clean up after steps that failed. */
	cuda_session_stop(s, s->services->monotonic_ns(), why);
	cuda_session_drain(s, why);
	if (s->options.detach == OPTIONS_FINALIZE && s->n_recorded &&
		!callbacks_is_dead(&s->callbacks))
		finalize_cupti(s);
	s->state = SESSION_NONE;
}

/* --- while it runs ------------------------------------------------------------------------- */

static int say_dead(const struct cuda_session *s, char *why)
{
	struct result_context context = make_result_context(s);
	char reason[SENTENCE_BYTES];

	result_explain(&context, s->callbacks.result, "CUPTI has ended itself", reason);
	return sentence_write(why, -EIO, "%.700s%s%s; what was recorded until then is in the trace",
		reason, s->callbacks.message[0] ? ": " : "", s->callbacks.message);
}

static int read_all_records(struct cuda_session *s)
{
	struct result_context context = make_result_context(s);
	int code = read_buffers(s);

	return code ? code : counters_read(&s->counters, &context, &s->records);
}

int cuda_session_poll(struct cuda_session *s, char *why)
{
	int64_t now_ns = s->services->monotonic_ns();

	if (s->state != SESSION_RECORDING)
		return 0;
	if (callbacks_is_dead(&s->callbacks))
		return say_dead(s, why);
	if (process_is_exiting()) {
		cuda_session_stop(s, now_ns, why);
		return cuda_session_drain(s, why);
	}
	if (now_ns >= s->flush_at_ns) {
		s->cupti.flush(CUPTI_FLUSH_COMPLETE);
		s->flush_at_ns = s->services->monotonic_ns() + SESSION_FLUSH_NS;
	}
	return read_all_records(s);
}

int cuda_session_flush(struct cuda_session *s, char *why)
{
	s->flush_at_ns = 0;
	return cuda_session_poll(s, why);
}

void cuda_session_get_stats(const struct cuda_session *s, struct ptap_collector_stats *out)
{
	struct buffers_counts counts;

	buffers_get_counts(&counts);
	out->n_records = s->records.n_emitted;
	out->n_calls = calls_count_recorded(&s->callbacks.calls);
	out->n_dropped = s->n_dropped;
	out->buffer_bytes = counts.most_bytes;
}

/*
 * Only stores, and calls that free memory: a forked child may do little else, and its one thread
 * runs this.
 */
void cuda_session_forget(struct cuda_session *s)
{
	calls_end(&s->callbacks.calls);
	buffers_reset();
	synchronizer_reset(&s->synchronizer);
	memset(&s->records.names, 0, sizeof s->records.names);
	memset(&s->counters, 0, sizeof s->counters);
	s->subscriber.handle = NULL;
	s->kinds.enabled = 0;
	s->n_recorded = 0;
	s->state = SESSION_NONE;
}
