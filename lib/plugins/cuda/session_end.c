/* SPDX-License-Identifier: Apache-2.0 */
/* A capture ends: nothing is recorded any more, the rest is handed on, and CUPTI is anybody's again. See session.h. */
#include <errno.h>
#include <proftap/collector.h>
#include <time.h>

#include "lib/plugins/cuda/buffers.h"
#include "lib/plugins/cuda/process.h"
#include "lib/plugins/cuda/sentence.h"
#include "lib/plugins/cuda/session.h"
#include "lib/plugins/cuda/session_steps.h"
#include "lib/plugins/cuda/version.h"

#define NS_PER_MS INT64_C(1000000)
/* So long it sleeps at a time, and looks whether anybody still wants it. */
#define NAP_NS (10 * NS_PER_MS)
#define SHORT_NAP_NS NS_PER_MS

static void nap(int64_t ns)
{
	struct timespec t = {.tv_sec = 0, .tv_nsec = ns};

	nanosleep(&t, NULL);
}

static int is_wanted(const struct session *s)
{
	return !process_is_exiting() && !s->services->is_cancelled();
}

/* What was launched and still runs gets time for its end, without which its record is worth nothing. */
static void settle(const struct session *s, int64_t deadline_ns)
{
	const struct ptap_collector_services *services = s->services;
	int64_t now_ns = services->monotonic_ns();
	int64_t end_ns = now_ns + s->options.settle_ms * NS_PER_MS;

	/* The flush needs most of the time. */
	if (end_ns > now_ns + (deadline_ns - now_ns) / 4)
		end_ns = now_ns + (deadline_ns - now_ns) / 4;
	while (now_ns < end_ns && is_wanted(s)) {
		nap(end_ns - now_ns < NAP_NS ? end_ns - now_ns : NAP_NS);
		now_ns = services->monotonic_ns();
	}
}

/* What has not ended by then never may; the flush needs the other half of the time. */
static void synchronize(struct session *s, int64_t deadline_ns)
{
	int64_t now_ns = s->services->monotonic_ns();
	int64_t end_ns = now_ns + (deadline_ns - now_ns) / 2;
	int r = synchronizer_start(
		&s->synchronizer, &s->driver, s->gate.n_devices, s->services, end_ns);

	while (!r && synchronizer_is_running(&s->synchronizer) && now_ns < end_ns && is_wanted(s)) {
		nap(SHORT_NAP_NS);
		now_ns = s->services->monotonic_ns();
	}
	if (r || (synchronizer_is_running(&s->synchronizer) && is_wanted(s)))
		s->services->warn(
			"ptap_cuda_sync_at_stop: the devices were not done in time; what had not ended is "
			"missing, and counted");
}

static void stop_callbacks(struct session *s)
{
	calls_disable(&s->callbacks.calls, s->subscriber.handle, s->options.has_all_calls);
	callbacks_enable(&s->callbacks, s->subscriber.handle, 0);
	if (s->options.detach != OPTIONS_STAY)
		subscriber_close(&s->subscriber);
}

/*
 * Kernels go on being recorded where turning that off may hang; then their buffers are thrown away as they come (buffers.h), until
 * the next capture or the end of the process.
 */
static void stop_kinds(struct session *s)
{
	kinds_disable(&s->kinds, &s->cupti,
		!version_disable_hangs(s->cupti.version, s->gate.driver_version));
}

static void flush(struct session *s)
{
	size_t n = 0;

	s->cupti.flush(CUPTI_FLUSH_COMPLETE);
	s->cupti.flush(CUPTI_FLUSH_FORCED);
	/* It counts from zero again when it was asked: once. */
	if (!s->cupti.get_dropped(NULL, 0, &n) && n)
		losses_add(&s->records.losses, PTAP_DEVICE_LOSS_DROPPED, 0, n);
}

static int emit_end(struct session *s)
{
	struct anchor end;

	return anchor_take(&s->cupti, s->services, &end) ? 0 : anchor_emit(&end, s->services);
}

/* From SESSION_ARMED on, whatever came of it. */
static int stop_cupti(struct session *s, int64_t deadline_ns)
{
	struct result_context context = session_context(s);
	uint64_t now_ns = 0;
	int r;

	if (!s->cupti.get_timestamp(&now_ns))
		s->records.until_ns = now_ns;
	r = counters_read(&s->counters, &context, &s->records);
	counters_stop(&s->counters);
	/* Contexts that are destroyed meanwhile must be told. */
	if (s->options.syncs_at_stop && is_wanted(s))
		synchronize(s, deadline_ns);
	stop_callbacks(s);
	stop_kinds(s);
	if (!s->options.syncs_at_stop)
		settle(s, deadline_ns);
	flush(s);
	counters_close(&s->counters, 0);
	attributes_restore(&s->attributes, &s->cupti);
	return r ? r : emit_end(s);
}

int session_stop(struct session *s, int64_t deadline_ns, char *why)
{
	int r = 0;

	if (s->state != SESSION_ARMED && s->state != SESSION_RECORDING)
		return 0;
	calls_end(&s->callbacks.calls);
	/* CUPTI has undone all of it when it ended itself. */
	if (callbacks_is_dead(&s->callbacks)) {
		s->subscriber.handle = NULL;
		s->kinds.enabled = 0;
		counters_close(&s->counters, 1);
	} else {
		r = stop_cupti(s, deadline_ns);
	}
	s->state = SESSION_STOPPED;
	return r ? say(why, r, "nobody waits for the records any more") : 0;
}

/* Those of the smallest kind are so long: there may have been fewer. */
#define LEAST_RECORD_BYTES 24u

static int hand_on_losses(struct session *s)
{
	struct losses *losses = &s->records.losses;
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

int session_drain(struct session *s, char *why)
{
	int r;

	if (s->state != SESSION_STOPPED)
		return 0;
	r = session_read(s);
	if (!r)
		r = hand_on_losses(s);
	buffers_end();
	s->state = SESSION_OPEN;
	process_leave();
	return r ? say(why, r, "nobody waits for the records any more") : 0;
}

static void warn_unsafe(const struct session *s)
{
	char version[VERSION_BYTES];
	char sentence[SENTENCE_BYTES];

	say(sentence, 0,
		"ptap_cuda_detach=finalize: not with the CUPTI of %s, which may crash a program with graphs; it was "
		"only unsubscribed",
		version_format(s->cupti.version, version));
	s->services->warn(sentence);
}

static void finalize(struct session *s)
{
	if (!version_has(s->cupti.version, VERSION_FINALIZE_IS_SAFE))
		warn_unsafe(s);
	else if (!process_enter()) {
		s->cupti.finalize();
		process_leave();
	}
}

void session_close(struct session *s)
{
	char why[SENTENCE_BYTES];

	if (s->state == SESSION_NONE)
		return;
	/* Steps that failed left something behind. */
	session_stop(s, s->services->monotonic_ns(), why);
	session_drain(s, why);
	if (s->options.detach == OPTIONS_FINALIZE && s->n_recorded &&
		!callbacks_is_dead(&s->callbacks))
		finalize(s);
	s->state = SESSION_NONE;
}
