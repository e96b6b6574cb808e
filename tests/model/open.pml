/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stack of open spans beside the ring (push(), pop(), read_open()), one span deep, each with arguments. What the reader
 * must hold of every span that had begun when it began to look is its record or, still, its open entry: never neither. The
 * entry that it takes is not half of one span and half of the next, and neither are its arguments.
 *
 * A span is a number. All may begin in one tick, so the reader does not compare their starts: what it knows a span by is the
 * head when it began, which is in WHAT. No two spans have the same. The place DEPTH holds twice that, less one while the span is open, so that the model knows
 * which; the real one has but the depth: 1 for the odd ones.
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
/* Not bugs: what must be possible, or the model would prove nothing. */
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

/* Three tries, as in the drain, are not better than one: a span that is gone has left its record. */
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
