/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls into a device's library; see device_call.h. For the functions that are inlined here (hot),
 * see fast_path.h.
 */
#define PTAP_IMPL_BUILDING
#include "lib/record/device_call.h"

#include <proftap/proftap.h>

#include "lib/record/emit.h"
#include "lib/record/fast_path.h"
#include "lib/record/slow_path.h"
#include "lib/wire/device.h"

/*
 * Returns the word of the running recording, or 0. It is also 0 in a forked child that
 * has not joined the server yet (GUEST_WORD_FOLLOW): its first annotation joins, not a call that
 * its parent's collector traces.
 */
static hot uint32_t recording_word(void)
{
	uint32_t word = atomic_load_explicit(&guest_get()->word, memory_order_relaxed);

	return word & 3u && likely(word != GUEST_WORD_FOLLOW) ? word : 0;
}

static hot uint32_t get_name_id(const struct device_call *call)
{
	return likely(call->name) ? call->name & STRING_ID_MASK : STRING_ID_LOST;
}

static hot uint64_t make_call_token(uint32_t word, uint32_t depth)
{
	return (uint64_t)word << 32 | (depth + 1);
}

static hot void fill_call_frame(
	struct ring_frame *frame, uint32_t depth, const struct device_call *call)
{
	uint32_t n = launch_flags(call->where) & LAUNCH_IS_GRAPH ? 3 : 2;

	frame->slots[0] = (struct slot){{slot_word0(0, SLOT_U64, 0), call->correlation}};
	frame->slots[1] = (struct slot){{slot_word0(0, SLOT_U64, 0), call->where}};
	if (n > 2)
		frame->slots[2] = (struct slot){{slot_word0(0, SLOT_U64, 0), call->graph}};
	frame_finish(frame, RECORD_LAUNCH, depth, n);
}

static cold uint64_t begin_call_slowly(const struct device_call *call, uint32_t word)
{
	uint32_t depth;
	struct ring *ring = open_span_begin(&word, &depth);

	if (!ring)
		return 0;
	fill_call_frame(ring_frame(ring, depth), depth, call);
	return open_span_finish(
		       ring, word, depth, RECORD_LAUNCH | RING_OPEN_HAS_FRAME, get_name_id(call))
		       ? make_call_token(word, depth)
		       : 0;
}

/* Called when the capture has ended, or this is a child of fork() now. */
static cold uint64_t drop_call(void)
{
	ring_end();
	return 0;
}

uint64_t device_call_begin(const struct device_call *call)
{
	struct thread *self = &thread_self;
	uint32_t word = recording_word();
	uint32_t depth;

	if (!word)
		return 0;
	if (!thread_take(self, word))
		return begin_call_slowly(call, word);
	depth = ring_get_depth(self->ring);
	if (unlikely(depth >= RECORD_MAX_DEPTH)) {
		thread_give_back(self, word);
		return begin_call_slowly(call, word);
	}
	ring_fence_open();
	fill_call_frame(ring_frame(self->ring, depth), depth, call);
	if (unlikely(!ring_open_span(self->ring, word, depth,
		    get_name_id(call) | (uint32_t)(RECORD_LAUNCH | RING_OPEN_HAS_FRAME) << 24,
		    ticks_read())))
		return drop_call();
	thread_give_back(self, word);
	return make_call_token(word, depth);
}

/*
 * Returns true if the call is this thread's and still open. The token may be out of date: then the
 * entry at its depth is another one, of another kind.
 */
static hot bool is_call_open(const struct thread *self, uint32_t word, uint32_t depth)
{
	uint64_t what;

	if (unlikely(!self->ring || depth >= RECORD_MAX_DEPTH ||
		     !ring_is_same_recording(self->word, word)))
		return false;
	what = atomic_load_explicit(&self->ring->open[depth].what, memory_order_relaxed);
	return ((what >> 24) & 255u) == (RECORD_LAUNCH | RING_OPEN_HAS_FRAME);
}

void device_call_end(uint64_t token)
{
	uint32_t word = (uint32_t)(token >> 32);
	uint32_t depth = (uint32_t)token - 1;

	if (token && is_call_open(&thread_self, word, depth))
		ptap_impl_end((struct ptap_impl_token){thread_self.ring, word, depth});
}

void device_call_note_node(uint64_t node, uint64_t original)
{
	uint32_t word = recording_word();
	struct ring *ring = word ? ring_begin_at(&word) : NULL;
	struct slot slots[2] = {
		{{slot_word0(0, SLOT_U64, 0), node}},
		{{slot_word0(0, SLOT_U64, 0), original}},
	};

	if (!ring)
		return;
	ring_emit(ring, word, record_word0(now_ticks(), RECORD_NODE, ring_get_point_depth(ring), 2),
		record_word1(0, STRING_ID_LOST), slots, 2);
	ring_end();
}
