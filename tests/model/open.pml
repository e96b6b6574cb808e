/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stack of open spans beside the ring (ring_open_span(), span_pop(), open_stack_read()), one span deep; each span
 * has arguments. Of every span that had begun before the reader started, the reader must find the record or the open
 * entry, never neither. An open entry that it takes is not half of one span and half of the next, and neither are its
 * arguments.
 *
 * A span is a number. All spans may begin in one tick, so the reader does not compare their starts. It recognises a
 * span by the ring's head at the span's begin, which WHAT holds and which no two spans share. DEPTH holds twice the
 * span's number, less one while the span is open, so that the model knows the span. The real place holds only the
 * depth: 1 where DEPTH is odd.
 */
#define N_SPANS 3

#define HEAD 0
#define DEPTH 1
#define START 2
#define WHAT 3
#define FRAME 4
#define N_PLACES 5

#define SEED_NO_BEGIN_FENCE 1
#define SEED_DEPTH_BEFORE_HEAD 2
#define SEED_HEAD_FIRST 3
#define SEED_FRAME_UNCHECKED 4
#define SEED_NO_READER_FENCE 5
#define SEED_WHAT_RELAXED 6
#define SEED_BY_START 7
/* No bugs, but states that must be reachable, or the model would prove nothing. */
#define REACHES_OPEN 100
#define REACHES_RETRY 101

#include "memory.pml"

#define is_open(depth) ((depth) % 2 == 1)

bool is_over;

inline begin()
{
	d_step {
		n++;
		if
		:: seed != SEED_NO_BEGIN_FENCE -> fence()
		:: else
		fi;
		store(FRAME, n, PLAIN);
		store(START, n, PLAIN);
		if
		:: seed == SEED_WHAT_RELAXED -> store(WHAT, n, PLAIN)
		:: else -> store(WHAT, n, RELEASE)
		fi;
		store(DEPTH, 2 * n - 1, RELEASE)
	}
}

inline end()
{
	d_step {
		if
		:: seed == SEED_DEPTH_BEFORE_HEAD ->
			store(DEPTH, 2 * n, RELEASE);
			store(HEAD, n, RELEASE)
		:: else ->
			store(HEAD, n, RELEASE);
			store(DEPTH, 2 * n, RELEASE)
		fi
	}
}

proctype writer()
{
	byte n;
	bool in_span;

	do
	:: !is_over && !in_span && n < N_SPANS && has_room(5) -> begin(); in_span = 1
	:: in_span && has_room(2) -> end(); in_span = 0
	:: break
	od
}

/* open_stack_read() makes three tries; one is enough here, because a span that has ended has left its record. */
inline read_open()
{
	depth = memory[DEPTH];
	if
	:: is_open(depth) ->
		what = memory[WHAT];
		start = memory[START];
		if
		:: seed == SEED_NO_READER_FENCE -> again = memory[DEPTH]
		:: else
		fi;
		frame = memory[FRAME];
		if
		:: seed != SEED_NO_READER_FENCE -> again = memory[DEPTH]
		:: else
		fi;
		if
		:: seed == SEED_FRAME_UNCHECKED -> is_whole = 1
		:: seed == SEED_BY_START -> is_whole = is_open(again)
		:: else -> is_whole = is_open(again) && memory[WHAT] == what
		fi
	:: else
	fi
}

proctype reader()
{
	byte n_begun;
	byte head;
	byte depth;
	byte again;
	byte start;
	byte what;
	byte frame;
	bool is_whole;

	n_begun = (memory[DEPTH] + 1) / 2;
	if
	:: seed == SEED_HEAD_FIRST -> head = memory[HEAD]
	:: else
	fi;
	read_open();
	if
	:: seed != SEED_HEAD_FIRST -> head = memory[HEAD]
	:: else
	fi;
	d_step {
		assert(!is_whole || (frame == what && start == what));
		assert(head >= n_begun || (is_whole && what == n_begun && head + 1 >= n_begun));
		assert(seed != REACHES_OPEN || head >= n_begun);
		assert(seed != REACHES_RETRY || is_whole || !is_open(depth));
		is_over = 1
	}
}
