/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring that overwrites its oldest entries (docs/internals/ring.md, "The flight recorder"), in small: three
 * segments of two slots, entries of one or two. The reader copies the ring once, at any moment, and removes nothing. If
 * the writer was killed or is done by then, the copy is that of a dead program's ring.
 *
 * The kept data is right if each word of it is right and the parse starts at the right place. So the reader copies either
 * any one slot or the marks of one segment: loads of the others would only raise the number of states.
 */
#define SEGMENT 2
#define N_SEGMENTS 2
#define SIZE (SEGMENT * N_SEGMENTS)
#define N_ENTRIES 4

#define HEAD SIZE
#define LIMIT (SIZE + 1)
#define MARK (SIZE + 2)
#define MARK_ORDINAL (MARK + N_SEGMENTS)
#define N_PLACES (MARK_ORDINAL + N_SEGMENTS)

#define SEED_HEAD_RELAXED 1
#define SEED_NO_WRITER_FENCE 2
#define SEED_NO_READER_FENCE 3
#define SEED_LIMIT_LATE 4
#define SEED_MARK_EARLY 5
#define SEED_MARK_AT_CROSSING 6
#define SEED_ORDINAL_OF_CROSSING 7
#define SEED_HEAD_LOAD_RELAXED 8
/* No bugs, but states that must be reachable, or the model would prove nothing. */
#define REACHES_OVERWRITTEN 100
#define REACHES_NOTHING_KEPT 101

#include "memory.pml"

#define slot_value(p, n) (1 + (p) * 4 + (n))
#define slot_position(v) (((v) - 1) / 4)
#define segment_of(p) (((p) / SEGMENT) % N_SEGMENTS)

bool is_over; /* the reader has its copy, and the rest is of no interest */
int lengths; /* of the written entries: bit e is set if entry e has two slots */

/* Marks the first entry of the segment: it begins at the boundary |limit|, or follows the entry that crosses it. */
inline store_mark(n_slots)
{
	if
	:: head == limit -> crossing = 0
	:: head != limit -> crossing = n_slots
	fi;
	place = MARK + segment_of(limit);
	if
	:: seed == SEED_MARK_AT_CROSSING -> store(place, head, PLAIN)
	:: else -> store(place, head + crossing, PLAIN)
	fi;
	place = MARK_ORDINAL + segment_of(limit);
	if
	:: seed == SEED_ORDINAL_OF_CROSSING || crossing == 0 -> store(place, head - n_other, PLAIN)
	:: else -> store(place, head - n_other + 1, PLAIN)
	fi;
	crossing = 0;
	place = 0
}

/* The entry of |n| slots at |head| does not fit below |limit|, a boundary. */
inline enter_segment(n_slots)
{
	if
	:: seed == SEED_MARK_EARLY -> store_mark(n_slots)
	:: else
	fi;
	if
	:: seed != SEED_LIMIT_LATE -> store(LIMIT, limit + SEGMENT, PLAIN)
	:: else
	fi;
	if
	:: seed != SEED_NO_WRITER_FENCE -> fence()
	:: else
	fi;
	if
	:: seed != SEED_MARK_EARLY -> store_mark(n_slots)
	:: else
	fi;
	limit = limit + SEGMENT
}

/* The number of stores that enter a segment, if an entry of |n| slots needs a new one. */
#define room_of_segment(n) (head + (n) > limit -> 4 : 0)

/* An entry of |n| slots. Only what reaches memory can be seen, so it goes into the queue in one step. */
inline append(n)
{
	d_step {
		is_new = head + n > limit;
		if
		:: is_new -> enter_segment(n)
		:: else
		fi;
		store(head % SIZE, slot_value(head, n), PLAIN);
		if
		:: n == 2 ->
			store((head + 1) % SIZE, slot_value(head + 1, 0), PLAIN);
			lengths = lengths | (1 << e)
		:: else
		fi;
		if
		:: seed == SEED_LIMIT_LATE && is_new -> store(LIMIT, limit, PLAIN)
		:: else
		fi;
		if
		:: seed == SEED_HEAD_RELAXED -> store(HEAD, head + n, PLAIN)
		:: else -> store(HEAD, head + n, RELEASE)
		fi;
		head = head + n;
		n_other = n_other + n - 1;
		e++;
		is_new = 0
	}
}

proctype writer()
{
	byte head;
	byte limit = SEGMENT;
	byte n_other;
	byte e;
	byte crossing;
	byte place;
	bool is_new;

	do
	:: !is_over && e < N_ENTRIES && has_room(2 + room_of_segment(1)) -> append(1)
	:: !is_over && e < N_ENTRIES && has_room(3 + room_of_segment(2)) -> append(2)
	:: break
	od
}

/* Loads the slot |witness|, or the marks of the segment |witness| - SIZE. */
inline load_witness()
{
	do
	:: witness < SIZE + N_SEGMENTS - 1 -> witness++
	:: break
	od;
	if
	:: witness < SIZE -> copy = memory[witness]
	:: else ->
		copy = memory[MARK + witness - SIZE];
		ordinal = memory[MARK_ORDINAL + witness - SIZE]
	fi
}

/* The checks of the position in the window that lies in the slot |witness|, if there is one. */
inline check_slot()
{
	at = start;
	do
	:: at < head && at % SIZE != witness -> at++
	:: else -> break
	od;
	assert(at >= head || (copy != 0 && slot_position(copy) == at))
}

/* The checks of the segment |witness| - SIZE, if the window begins with it. */
inline check_mark()
{
	if
	:: start > 0 && segment_of(start) == witness - SIZE ->
		assert(copy >= start && copy <= head && copy <= start + 1);
		at = 0;
		n = 0;
		do
		:: at < copy -> at = at + 1 + ((lengths >> n) & 1); n++
		:: else -> break
		od;
		assert(at == copy && ordinal == n)
	:: else
	fi
}

proctype reader()
{
	byte head;
	byte seen; /* the limit, loaded behind the copy */
	byte start;
	byte witness; /* the index of a slot, or SIZE + the index of a segment */
	byte copy;
	byte ordinal;
	byte at;
	byte n;

	/* Loads that nothing orders come in the worst order that is allowed. */
	if
	:: seed == SEED_HEAD_LOAD_RELAXED -> load_witness()
	:: else
	fi;
	head = memory[HEAD];
	if
	:: seed == SEED_NO_READER_FENCE -> seen = memory[LIMIT]
	:: else
	fi;
	if
	:: seed != SEED_HEAD_LOAD_RELAXED -> load_witness()
	:: else
	fi;
	if
	:: seed != SEED_NO_READER_FENCE -> seen = memory[LIMIT]
	:: else
	fi;
	d_step {
		start = (seen > SIZE -> seen - SIZE : 0);
		assert(seed != REACHES_NOTHING_KEPT || start < head || head == 0);
		assert(seed != REACHES_OVERWRITTEN || start == 0 || start >= head);
		if
		:: start >= head
		:: start < head && witness < SIZE -> check_slot()
		:: start < head && witness >= SIZE -> check_mark()
		fi;
		is_over = 1
	}
}
