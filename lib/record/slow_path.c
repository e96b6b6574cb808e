/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Annotations on the slow path, which does everything; see slow_path.h. fast_path.c handles most.
 *
 * Begin puts {start, name} on the thread's open-span stack in the arena; end writes one record and
 * takes the span off. The token on the caller's stack holds the depth before begin, and end stores
 * exactly that: spans that a longjmp, a fiber or a vfork child left above it are dropped and
 * counted. A guard is held over all of begin and all of end, so a signal handler that annotates in
 * between loses its own span, counted, and corrupts nothing. End does nothing when the capture is
 * no longer the one of begin: at stop the span stays on the open stack and is reported from there.
 * End does nothing in another thread either, because the ring is not that thread's: a coroutine or
 * an object that has moved leaves its span open, and that is counted, too.
 */
#define PTAP_IMPL_BUILDING
#include <proftap/proftap.h>

#include "lib/record/args.h"
#include "lib/record/emit.h"
#include "lib/record/slow_path.h"
#include "lib/record/strings.h"

static const struct ptap_impl_token no_token;

/* Returns the token of open_span_finish()'s span. */
static inline struct ptap_impl_token push_span(
	struct ring *ring, uint32_t word, uint32_t depth, unsigned kind, uint32_t id)
{
	return open_span_finish(ring, word, depth, kind, id)
		       ? (struct ptap_impl_token){ring, word, depth}
		       : no_token;
}

struct ptap_impl_token span_begin(struct ptap_impl_site *site, uint32_t word)
{
	uint32_t depth;
	struct ring *ring = open_span_begin(&word, &depth);

	if (unlikely(!ring))
		return no_token;
	return push_span(ring, word, depth, RECORD_SPAN, site_id(site));
}

struct ptap_impl_token ptap_impl_begin_dyn(const char *name, uint32_t word)
{
	uint32_t depth;
	struct ring *ring = open_span_begin(&word, &depth);
	struct ring_frame *frame;

	if (!ring)
		return no_token;
	frame = ring_frame(ring, depth);
	frame_finish(frame, RECORD_SPAN, depth, args_write_name(ring, frame->slots, name));
	return push_span(ring, word, depth, RECORD_SPAN | RING_OPEN_HAS_FRAME, STRING_ID_DYNAMIC);
}

void ptap_impl_open(struct ptap_impl_site *site, uint32_t word)
{
	if (unlikely(!ptap_impl_begin(site, word).ring))
		thread_self.n_unopened++;
}

void ptap_impl_open_dyn(const char *name, uint32_t word)
{
	if (unlikely(!ptap_impl_begin_dyn(name, word).ring))
		thread_self.n_unopened++;
}

struct ptap_impl_token span_begin_args(struct ptap_impl_site *site, uint32_t word,
	const struct ptap_impl_arg *args, unsigned n_args)
{
	uint32_t depth;
	struct ring *ring = open_span_begin(&word, &depth);
	struct ring_frame *frame;

	if (!ring)
		return no_token;
	frame = ring_frame(ring, depth);
	frame_finish(frame, RECORD_SPAN, depth, args_write(ring, frame->slots, site, args, n_args));
	return push_span(ring, word, depth, RECORD_SPAN | RING_OPEN_HAS_FRAME, site_id(site));
}

struct ptap_impl_token ptap_impl_begin_step(
	struct ptap_impl_site *site, uint32_t word, int64_t step)
{
	uint32_t depth;
	struct ring *ring = open_span_begin(&word, &depth);
	struct ring_frame *frame;

	if (!ring)
		return no_token;
	frame = ring_frame(ring, depth);
	frame->slots[0].word[0] = slot_word0(0, SLOT_I64, 0);
	frame->slots[0].word[1] = (uint64_t)step;
	frame_finish(frame, RECORD_STEP, depth, 1);
	return push_span(ring, word, depth, RECORD_STEP | RING_OPEN_HAS_FRAME, site_id(site));
}

void ptap_impl_open_step_dyn(const char *name, uint32_t word, int64_t step)
{
	uint32_t depth;
	struct ring *ring = open_span_begin(&word, &depth);
	struct ring_frame *frame;
	uint32_t n;

	if (!ring) {
		thread_self.n_unopened++;
		return;
	}
	frame = ring_frame(ring, depth);
	n = args_write_name(ring, frame->slots, name);
	frame->slots[n] = (struct slot){{slot_word0(0, SLOT_I64, 0), (uint64_t)step}};
	frame_finish(frame, RECORD_STEP, depth, n + 1);
	push_span(ring, word, depth, RECORD_STEP | RING_OPEN_HAS_FRAME, STRING_ID_DYNAMIC);
}

/* A duration of 2^40 ticks or more (7 minutes) takes a slot of its own. */
static uint64_t long_duration(struct slot *slots, uint32_t *n_slots, uint64_t duration)
{
	if (*n_slots < RECORD_MAX_EXTRA) {
		slots[*n_slots].word[0] = slot_word0(0, SLOT_DURATION, 0);
		slots[*n_slots].word[1] = duration;
		*n_slots += 1;
	}
	return RECORD_DURATION_MASK;
}

/*
 * Writes the span at |depth| with the slots of its frame, or with a duration too long for a record.
 * Returns as ring_emit().
 */
static __attribute__((noinline)) bool emit_with_slots(struct ring *ring, uint32_t word,
	uint32_t depth, uint64_t start, uint64_t what, uint64_t duration)
{
	struct ring_frame *frame = ring_frame(ring, depth);
	unsigned kind = (unsigned)(what >> 24) & 255u;
	uint32_t n = kind & RING_OPEN_HAS_FRAME
			     ? atomic_load_explicit(&frame->n_slots, memory_order_relaxed)
			     : 0;

	if (duration >= RECORD_DURATION_MASK)
		duration = long_duration(frame->slots, &n, duration);
	return ring_emit(ring, word,
		record_word0(start, (enum record_kind)(kind & ~RING_OPEN_HAS_FRAME), depth, n),
		record_word1(duration, (uint32_t)what & STRING_ID_MASK), frame->slots, n);
}

bool span_pop(struct ring *ring, uint32_t word, uint32_t depth, uint32_t n_open)
{
	struct ring_open *open = &ring->open[depth];
	uint64_t start = atomic_load_explicit(&open->start, memory_order_relaxed);
	uint64_t what = atomic_load_explicit(&open->what, memory_order_relaxed);
	uint64_t duration = now_ticks() - start;
	bool is_current = true;

	/* A clock that steps back across cores must not wrap around. */
	if (unlikely((int64_t)duration < 0))
		duration = 0;
	if (unlikely(n_open - depth > 1))
		is_current =
			ring_drop_spans(ring, word, depth + 1, LOSS_LEFT_OPEN, n_open - depth - 1);
	if (unlikely(!is_current))
		return false;
	if (unlikely((what & (uint64_t)RING_OPEN_HAS_FRAME << 24) ||
		     duration >= RECORD_DURATION_MASK))
		is_current = emit_with_slots(ring, word, depth, start, what, duration);
	else
		is_current = ring_emit(ring, word, record_word0(start, RECORD_SPAN, depth, 0),
			record_word1(duration, (uint32_t)what & STRING_ID_MASK), NULL, 0);
	if (unlikely(!is_current))
		return false;
	atomic_store_explicit(&ring->depth, depth, memory_order_release);
	return true;
}

/*
 * Counts the end in the ring of the thread that ends the span. The span stays on the other thread's
 * stack.
 */
static __attribute__((noinline)) void count_foreign_end(uint32_t word)
{
	struct ring *ring = ring_begin(word);

	if (!ring)
		return;
	count_loss(ring, LOSS_FOREIGN_END);
	ring_end();
}

void span_end(struct ptap_impl_token token)
{
	struct ring *ring = token.ring;
	uint32_t n_open;

	if (unlikely(!word_is_current(token.word)))
		return;
	if (unlikely(ring != thread_self.ring)) {
		count_foreign_end(token.word);
		return;
	}
	if (!ring_take(&thread_self, ring))
		return;
	n_open = ring_get_depth(ring);
	if (n_open > token.depth)
		span_pop(ring, token.word, token.depth, n_open);
	ring_end();
}

static inline void end_top(struct thread *self, uint32_t word)
{
	uint32_t depth;

	if (unlikely(self->n_unopened)) {
		self->n_unopened--;
		return;
	}
	depth = ring_get_depth(self->ring);
	if (depth)
		ptap_impl_end((struct ptap_impl_token){self->ring, word, depth - 1});
}

/* The thread has not entered this capture, or has entered it at another level. */
static __attribute__((noinline, cold)) void end_top_elsewhere(uint32_t word)
{
	if (ring_is_same_recording(thread_self.word, word))
		end_top(&thread_self, word);
}

void ptap_impl_end_top(uint32_t word)
{
	if (unlikely(thread_self.word != word))
		end_top_elsewhere(word);
	else
		end_top(&thread_self, word);
}

/* --- annotations without a duration -------------------------------------------------------- */

/*
 * Instants, counters, and the marks that the server joins to flows and async spans. The marks are
 * matched when the capture is assembled, so that begin and end may come from different threads.
 */

_Static_assert((int)PTAP_IMPL_ASYNC_BEGIN == RECORD_ASYNC_BEGIN &&
		       (int)PTAP_IMPL_ASYNC_END == RECORD_ASYNC_END &&
		       (int)PTAP_IMPL_FLOW_OUT == RECORD_FLOW_OUT &&
		       (int)PTAP_IMPL_FLOW_IN == RECORD_FLOW_IN,
	"the header's marks are the wire's");

void point_emit(struct ring *ring, uint32_t word, enum record_kind kind, uint32_t id,
	const struct slot *slots, uint32_t n)
{
	uint32_t depth = ring_get_point_depth(ring);

	ring_emit(ring, word, record_word0(now_ticks(), kind, depth, n), record_word1(0, id), slots,
		n);
}

void point_instant(struct ptap_impl_site *site, uint32_t word)
{
	struct ring *ring = ring_begin_at(&word);

	if (!ring)
		return;
	point_emit(ring, word, RECORD_INSTANT, site_id(site), NULL, 0);
	ring_end();
}

void ptap_impl_instant_dyn(const char *name, uint32_t word)
{
	struct ring *ring = ring_begin_at(&word);
	struct slot slots[RECORD_MAX_EXTRA];

	if (!ring)
		return;
	point_emit(ring, word, RECORD_INSTANT, STRING_ID_DYNAMIC, slots,
		args_write_name(ring, slots, name));
	ring_end();
}

void point_number(struct ptap_impl_site *site, uint32_t word, enum record_kind kind,
	enum slot_type type, uint64_t bits)
{
	struct ring *ring = ring_begin_at(&word);
	struct slot slot = {{slot_word0(0, type, 0), bits}};

	if (!ring)
		return;
	point_emit(ring, word, kind, site_id(site), &slot, 1);
	ring_end();
}

static void emit_number_dyn(
	const char *name, uint32_t word, enum record_kind kind, enum slot_type type, uint64_t bits)
{
	struct ring *ring = ring_begin_at(&word);
	struct slot slots[RECORD_MAX_EXTRA];
	uint32_t n;

	if (!ring)
		return;
	n = args_write_name(ring, slots, name);
	slots[n] = (struct slot){{slot_word0(0, type, 0), bits}};
	point_emit(ring, word, kind, STRING_ID_DYNAMIC, slots, n + 1);
	ring_end();
}

void ptap_impl_counter_dyn(const char *name, uint32_t word, double value)
{
	uint64_t bits;

	__builtin_memcpy(&bits, &value, sizeof bits);
	emit_number_dyn(name, word, RECORD_COUNTER, SLOT_F64, bits);
}

void ptap_impl_mark_dyn(const char *name, uint32_t word, enum ptap_impl_mark_kind kind, uint64_t id)
{
	emit_number_dyn(name, word, (enum record_kind)kind, SLOT_U64, id);
}
