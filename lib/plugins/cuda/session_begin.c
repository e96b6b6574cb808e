/* SPDX-License-Identifier: Apache-2.0 */
/* A capture begins: what it needs is found, CUPTI becomes ours, and it records. See session.h. */
#include <errno.h>
#include <proftap/collector.h>

#include "lib/plugins/cuda/buffers.h"
#include "lib/plugins/cuda/devices.h"
#include "lib/plugins/cuda/process.h"
#include "lib/plugins/cuda/result.h"
#include "lib/plugins/cuda/sentence.h"
#include "lib/plugins/cuda/session.h"
#include "lib/plugins/cuda/session_steps.h"
#include "lib/plugins/cuda/version.h"

struct result_context session_context(const struct session *s)
{
	return (struct result_context){
		.cupti = &s->cupti,
		.path = s->library.path,
		.driver_version = s->gate.driver_version,
	};
}

/* Once in a process: what was loaded stays. */
static int load(struct session *s, char *why)
{
	int r = s->is_loaded ? 0
			     : library_open(&s->library, s->gate.driver_version, &s->cupti, why);

	if (r || s->is_loaded)
		return r;
	calls_choose(&s->callbacks.calls, &s->cupti);
	s->callbacks.calls.contexts = &s->contexts;
	s->callbacks.calls.synchronizer = &s->synchronizer;
	/* Buffers are filled from arm() on, if somebody else has turned a kind on. */
	s->records.cupti = &s->cupti;
	s->records.contexts = &s->contexts;
	s->is_loaded = 1;
	return 0;
}

int session_open(struct session *s, const struct ptap_collector_services *services, char *why)
{
	int r = gate_check(&s->driver, &s->gate, why);

	if (!r)
		r = load(s, why);
	if (r)
		return r;
	options_read(&s->options, services);
	if (buffers_open(
		    s->options.buffer_mb, !version_has(s->cupti.version, VERSION_NEEDS_BUFFERS)))
		return say(why, -ENOMEM, "no memory for the buffers of CUPTI");
	s->services = services;
	names_begin(&s->records.names, services);
	s->state = SESSION_OPEN;
	return 0;
}

static int count_devices(const struct session *s)
{
	int n = s->gate.n_devices;

	return (uint32_t)n < s->options.n_devices ? n : (int)s->options.n_devices;
}

static void open_counters(struct session *s)
{
	struct result_context context = session_context(s);

	s->records.services = s->services;
	counters_open(&s->counters, s->library.handle, count_devices(s), &s->driver, &s->options,
		&context, &s->records);
}

int session_arm(struct session *s, char *why)
{
	struct result_context context = session_context(s);
	int result;
	int r = process_enter();

	if (r)
		return say(why, r, "the program exits");
	r = subscriber_open(&s->subscriber, &context, &s->callbacks, why);
	if (r) {
		process_leave();
		return r;
	}
	s->state = SESSION_ARMED;
	atomic_store(&s->callbacks.is_dead, 0);
	s->cupti.set_thread_id_type(CUPTI_THREAD_ID_SYSTEM);
	/* The last of them is written again and again where a request cannot be refused. */
	attributes_set(
		&s->attributes, &s->cupti, !version_has(s->cupti.version, VERSION_NEEDS_BUFFERS));
	buffers_begin();
	result = s->cupti.register_callbacks(buffers_request, buffers_complete);
	if (result)
		return result_say(&context, result, "CUPTI takes no buffers", why);
	open_counters(s);
	return 0;
}

/* Each that fails is a warning; the rest is recorded. */
static void warn_refused(void *context, const char *what, int result)
{
	struct session *s = context;
	struct result_context c = session_context(s);
	char sentence[SENTENCE_BYTES];

	result_say(&c, result, what, sentence);
	s->services->warn(sentence);
}

static void warn_missing(void *context, const char *function, const char *without)
{
	const struct session *s = context;
	char version[VERSION_BYTES];
	char sentence[SENTENCE_BYTES];

	say(sentence, 0, "%.600s, of %s, has no %s: %s", s->library.path,
		version_format(s->cupti.version, version), function, without);
	s->services->warn(sentence);
}

static void begin_reading(struct session *s)
{
	struct records *r = &s->records;
	int forgets =
		version_has(s->cupti.version, VERSION_WRONG_GRAPH_CORRELATION) && s->n_recorded > 0;

	if (forgets)
		launches_clear(&s->launches);
	contexts_clear(&s->contexts);
	synchronizer_clear(&s->synchronizer);
	r->services = s->services;
	r->launches = forgets ? &s->launches : NULL;
	r->losses = (struct losses){0};
	r->from_ns = s->start.cupti_ns;
	r->until_ns = UINT64_MAX;
	r->max_wanted = s->options.max_records;
	r->n_wanted = 0;
	r->n_emitted = 0;
	r->n_devices = s->options.n_devices;
}

static void begin_calls(struct session *s)
{
	struct calls_wish wish = {
		.max = s->options.max_calls,
		.n_devices = s->options.n_devices,
		.launches = s->records.launches,
		.cupti_offset_ns = (int64_t)s->start.cupti_ns - s->start.monotonic_ns,
	};

	calls_begin(&s->callbacks.calls, &wish, s->services);
	callbacks_enable(&s->callbacks, s->subscriber.handle, 1);
	calls_enable(&s->callbacks.calls, s->subscriber.handle, s->options.has_all_calls);
}

static int emit_devices(struct session *s)
{
	struct devices devices = {
		.driver = &s->driver,
		.n = count_devices(s),
		.driver_version = (uint32_t)s->gate.driver_version,
		.library_version = s->cupti.version,
	};

	return devices_emit(&devices, &s->records.names, s->services);
}

int session_start(struct session *s, char *why)
{
	struct result_context context = session_context(s);
	int result = anchor_take(&s->cupti, s->services, &s->start);
	int r;

	if (result)
		return result_say(&context, result, "CUPTI's clock cannot be read", why);
	r = anchor_emit(&s->start, s->services);
	if (!r)
		r = emit_devices(s);
	if (r)
		return say(why, r, "nobody waits for the records any more");
	cupti_tell_missing(&s->cupti, warn_missing, s);
	begin_reading(s);
	begin_calls(s);
	result = kinds_enable(&s->kinds, &s->cupti, &s->options, warn_refused, s);
	if (result)
		return result_say(&context, result, "recording kernels", why);
	counters_start(&s->counters, &context, &s->records);
	s->state = SESSION_RECORDING;
	s->n_recorded++;
	s->n_dropped = 0;
	s->flush_at_ns = s->services->monotonic_ns() + SESSION_FLUSH_NS;
	return 0;
}
