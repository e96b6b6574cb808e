/* SPDX-License-Identifier: Apache-2.0 */
/* A capture while it runs; see session.h. */
#include "lib/plugins/cuda/session.h"

#include <errno.h>
#include <proftap/collector.h>
#include <string.h>

#include "lib/plugins/cuda/buffers.h"
#include "lib/plugins/cuda/process.h"
#include "lib/plugins/cuda/sentence.h"
#include "lib/plugins/cuda/session_steps.h"

static int read_buffer(void *context, uint8_t *buffer, size_t n_bytes)
{
	return records_read(context, buffer, n_bytes);
}

int session_read(struct session *s)
{
	return buffers_read(read_buffer, &s->records);
}

static int say_dead(const struct session *s, char *why)
{
	struct result_context context = session_context(s);
	char reason[SENTENCE_BYTES];

	result_say(&context, s->callbacks.result, "CUPTI has ended itself", reason);
	return say(why, -EIO, "%.700s%s%s; what was recorded until then is in the trace", reason,
		s->callbacks.message[0] ? ": " : "", s->callbacks.message);
}

static int read_all(struct session *s)
{
	struct result_context context = session_context(s);
	int code = session_read(s);

	return code ? code : counters_read(&s->counters, &context, &s->records);
}

int session_poll(struct session *s, char *why)
{
	int64_t now_ns = s->services->monotonic_ns();

	if (s->state != SESSION_RECORDING)
		return 0;
	if (callbacks_is_dead(&s->callbacks))
		return say_dead(s, why);
	if (process_is_exiting()) {
		session_stop(s, now_ns, why);
		return session_drain(s, why);
	}
	if (now_ns >= s->flush_at_ns) {
		s->cupti.flush(CUPTI_FLUSH_COMPLETE);
		s->flush_at_ns = s->services->monotonic_ns() + SESSION_FLUSH_NS;
	}
	return read_all(s);
}

int session_flush(struct session *s, char *why)
{
	s->flush_at_ns = 0;
	return session_poll(s, why);
}

void session_get_stats(const struct session *s, struct ptap_collector_stats *out)
{
	struct buffers_counts counts;

	buffers_get_counts(&counts);
	out->n_records = s->records.n_emitted;
	out->n_calls = calls_count_recorded(&s->callbacks.calls);
	out->n_dropped = s->n_dropped;
	out->buffer_bytes = counts.most_bytes;
}

/* Stores, and what gives memory back: a forked child may do little, and its one thread is here. */
void session_forget(struct session *s)
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
