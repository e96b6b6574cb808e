/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes intervals in which threads of a process ran, could have run, or were blocked, from the
 * moments at which they got and gave up a processor. Moments come from the rings of several
 * processors, so those of a thread may come in the wrong order; they are sorted here.
 *
 * A wait that began before the first moment of its thread is known from /proc. There are no locks
 * inside.
 */
#ifndef DAEMON_THREAD_STATES_H
#define DAEMON_THREAD_STATES_H

#include <stdint.h>
#include <sys/types.h>

struct sampled_process;
struct samples_copy;
struct thread_states;

enum thread_change {
	THREAD_STARTED,
	THREAD_GOT_CPU,
	THREAD_GAVE_STACK, /* it gives up its processor with |stack|; the next moment tells why */
	THREAD_WAS_PREEMPTED,
	THREAD_WAS_BLOCKED,
	THREAD_ENDED,
	THREAD_EXECUTED, /* it runs another program since then, and all other threads have ended */
};

struct thread_moment {
	int64_t at_ns; /* CLOCK_MONOTONIC */
	pid_t tid;
	uint32_t cpu;
	uint32_t
		stack; /* of THREAD_GAVE_STACK: a number in the process's table; else STACKS_NONE */
	enum thread_change change;
};

/* NULL: out of memory. |root| is "", or a test's fake root. Owner: thread_states_free(). */
struct thread_states *thread_states_new(const char *root, pid_t pid);
void thread_states_free(struct thread_states *s);

/*
 * Reads from /proc what the threads do now, at |now_ns|. Called once, after their events were
 * opened. 0 or -ENOMEM.
 */
int thread_states_begin(struct thread_states *s, int64_t now_ns);

/* Keeps a copy of |m|. 0 or -ENOMEM. */
int thread_states_add(struct thread_states *s, const struct thread_moment *m);

/*
 * Adds the intervals of |to| that end before |until_ns|: no moment before that may be added later.
 * If there are more than 50,000 moments in a second, it leaves out waits of less than 20 us, and
 * counts them.
 * Waits that go on for long get their reasons from /proc. 0 or -ENOMEM.
 */
int thread_states_advance(struct thread_states *s, int64_t until_ns, struct sampled_process *to);

/*
 * Adds the intervals that go on, up to |until_ns| or the last advance. Later ones go to another
 * process structure, and know nothing of the stacks of |to|. 0 or -ENOMEM.
 */
int thread_states_cut(struct thread_states *s, int64_t until_ns, struct sampled_process *to);

/*
 * Adds the intervals that go on, up to |until_ns| or the last advance, and forgets that: the next
 * advance adds them again. 0 or -ENOMEM.
 */
int thread_states_show(struct thread_states *s, int64_t until_ns, struct sampled_process *to);

/* Goes on with the process structure |c|->to, which gets the stacks of the waits that go on. */
void thread_states_move(struct thread_states *s, struct samples_copy *c);

#endif
