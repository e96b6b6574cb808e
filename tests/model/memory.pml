/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A memory that is as weak as C11's release and acquire allow between one writer and one reader.
 *
 * Spin itself is sequentially consistent, so the model does the reordering. The writer's stores wait in a queue and reach
 * memory in any order, with three exceptions: stores to the same place keep their order; a release store comes after
 * all stores before it (later stores may pass it); no store passes a fence. The reader's loads are made in the
 * model's order; where a missing acquire would allow an earlier load, the seeded model makes it earlier. A killed
 * writer only stops: its stores still arrive.
 *
 * |seed| is the number of the built-in bug; 0: none. It comes from the environment, so that one verifier serves all.
 */
#define QUEUE 8

#define PLAIN 0
#define RELEASE 1
#define FENCE 2

byte seed;
byte memory[N_PLACES];
byte queued_place[QUEUE];
byte queued_value[QUEUE];
byte queued_kind[QUEUE];
byte n_queued;

/* Puts |value| on its way to |where|. The writer asks has_room() first. */
inline store(where, value, kind)
{
	queued_place[n_queued] = where;
	queued_value[n_queued] = value;
	queued_kind[n_queued] = kind;
	n_queued++
}

#define has_room(n) (n_queued + (n) <= QUEUE)
#define fence() store(0, 0, FENCE)

/* True if the store at |i| of the queue may be the next to arrive. */
#define passes(i, j) (queued_kind[j] != FENCE && queued_place[j] != queued_place[i])
#define is_movable(i) (n_queued > i && queued_kind[i] == PLAIN)
#define may_1 (is_movable(1) && passes(1, 0))
#define may_2 (is_movable(2) && passes(2, 0) && passes(2, 1))
#define may_3 (is_movable(3) && passes(3, 0) && passes(3, 1) && passes(3, 2))
#define may_4 (is_movable(4) && passes(4, 0) && passes(4, 1) && passes(4, 2) && passes(4, 3))
#define may_5 (is_movable(5) && passes(5, 0) && passes(5, 1) && passes(5, 2) && passes(5, 3) && passes(5, 4))
#define may_6 \
	(is_movable(6) && passes(6, 0) && passes(6, 1) && passes(6, 2) && passes(6, 3) && passes(6, 4) && passes(6, 5))
#define may_7 \
	(is_movable(7) && passes(7, 0) && passes(7, 1) && passes(7, 2) && passes(7, 3) && passes(7, 4) && \
		passes(7, 5) && passes(7, 6))

inline unqueue(i)
{
	at = i;
	do
	:: at + 1 < n_queued ->
		queued_place[at] = queued_place[at + 1];
		queued_value[at] = queued_value[at + 1];
		queued_kind[at] = queued_kind[at + 1];
		at++
	:: else -> break
	od;
	n_queued--;
	queued_place[n_queued] = 0;
	queued_value[n_queued] = 0;
	queued_kind[n_queued] = 0;
	at = 0
}

inline arrive(i)
{
	if
	:: queued_kind[i] != FENCE -> memory[queued_place[i]] = queued_value[i]
	:: else
	fi;
	unqueue(i)
}

/* Brings the stores to memory, as long as something is on its way. */
proctype bus()
{
	byte at;

end:	do
	:: d_step { n_queued > 0 -> arrive(0) }
	:: d_step { may_1 -> arrive(1) }
	:: d_step { may_2 -> arrive(2) }
	:: d_step { may_3 -> arrive(3) }
	:: d_step { may_4 -> arrive(4) }
	:: d_step { may_5 -> arrive(5) }
	:: d_step { may_6 -> arrive(6) }
	:: d_step { may_7 -> arrive(7) }
	od
}

init
{
	atomic {
		c_code { now.seed = getenv("SEED") ? atoi(getenv("SEED")) : 0; };
		run bus();
		run writer();
		run reader()
	}
}
