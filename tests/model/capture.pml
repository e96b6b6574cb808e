/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring in capture mode (ring_emit() and visit_ring()): the writer drops entries that do not fit, and the reader takes
 * entries away. A slot's value tells its position and the length of its entry, so that the reader detects a wrong one.
 */
#define SIZE 3
#define N_ENTRIES 5

#define HEAD SIZE
#define TAIL (SIZE + 1)
#define N_PLACES (SIZE + 2)

#define SEED_HEAD_RELAXED 1
#define SEED_HEAD_LOAD_RELAXED 2
#define SEED_TAIL_RELAXED 3
#define SEED_TAIL_IGNORED 4
/* No bugs, but states that must be reachable, or the model would prove nothing. */
#define REACHES_DROPPED 100
#define REACHES_ALL 101

#include "memory.pml"

#define slot_value(p, n) (1 + (p) * 4 + (n))
#define slot_position(v) (((v) - 1) / 4)
#define slot_length(v) (((v) - 1) % 4)

byte n_written; /* entries whose head was stored */
byte n_dropped;
byte n_emitted;
bool is_done;

/* An entry of |n| slots. The reader sees only stores that reach memory, and the writer loads only TAIL: all is one step. */
inline append(n)
{
	d_step {
		n_emitted++;
		if
		:: head + n > limit -> limit = (seed == SEED_TAIL_IGNORED -> head : memory[TAIL]) + SIZE
		:: else
		fi;
		if
		:: head + n > limit -> n_dropped++
		:: else ->
			store(head % SIZE, slot_value(head, n), PLAIN);
			if
			:: n == 2 -> store((head + 1) % SIZE, slot_value(head + 1, 0), PLAIN)
			:: else
			fi;
			if
			:: seed == SEED_HEAD_RELAXED -> store(HEAD, head + n, PLAIN)
			:: else -> store(HEAD, head + n, RELEASE)
			fi;
			n_written++;
			head = head + n
		fi
	}
}

proctype writer()
{
	byte head;
	byte limit = SIZE;

	do
	:: n_emitted < N_ENTRIES && has_room(2) -> append(1)
	:: n_emitted < N_ENTRIES && has_room(3) -> append(2)
	:: break
	od;
	n_queued == 0;
	is_done = 1
}

byte n_read;

/* Takes |value|, which was loaded from the slot at |tail|, and checks it. */
inline take(value)
{
	d_step {
		assert(value != 0 && slot_position(value) == tail);
		n_read = n_read + (slot_length(value) > 0 -> 1 : 0);
		tail++
	}
}

/* Loads the slots earlier than the head, as is possible if the load of the head orders nothing. */
inline load_early()
{
	d_step {
		at = 0;
		do
		:: at < SIZE -> early[at] = memory[at]; at++
		:: else -> break
		od;
		at = 0
	}
}

proctype reader()
{
	byte head;
	byte tail;
	byte at;
	byte early[SIZE];
	bool is_last;

	do
	:: is_last = is_done;
		if
		:: seed == SEED_HEAD_LOAD_RELAXED -> load_early()
		:: else
		fi;
		head = memory[HEAD];
		if
		:: seed == SEED_TAIL_RELAXED -> memory[TAIL] = head
		:: else
		fi;
		do
		:: tail < head && seed == SEED_HEAD_LOAD_RELAXED -> take(early[tail % SIZE])
		:: tail < head && seed != SEED_HEAD_LOAD_RELAXED -> take(memory[tail % SIZE])
		:: tail == head -> break
		od;
		memory[TAIL] = tail;
		if
		:: is_last -> break
		:: else
		fi
	od;
	assert(n_read == n_written && n_written + n_dropped == n_emitted);
	assert(seed != REACHES_DROPPED || n_dropped == 0);
	assert(seed != REACHES_ALL || n_read < N_ENTRIES)
}
