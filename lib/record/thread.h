/* SPDX-License-Identifier: Apache-2.0 */
/* A thread's state: its ring, and the capture that it has entered. */
#ifndef RECORD_THREAD_H
#define RECORD_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/wire/ring.h"

struct thread {
	struct ring *ring; /* valid only while |word| is current */
	/*
	 * thread_get_idle_word(), or 0 during an annotation: the guard against signal handlers that
	 * annotate, too. An annotation of a capture with this word may take the fast path.
	 */
	uint32_t idle;
	/* The capture that this thread has entered, at the level that it saw last; 0: none. */
	uint32_t word;
	/* The capture that the thread is about to enter, or in which it got no ring; 0: none. */
	volatile uint32_t entering;
	uint32_t takes_slow_path : 1; /* the clock is not the counter */
	/* begins (PTAP_BEGIN, ranges) that were dropped: the same number of ends closes nothing */
	uint32_t n_unopened : 31;
	struct arena *arena; /* the arena of |ring| */
	char name[RING_NAME_BYTES]; /* set by ptap_thread_name(); "": not set */
};

/* The value of |idle| between annotations. */
static inline uint32_t thread_get_idle_word(const struct thread *self)
{
	return self->takes_slow_path ? ~self->word : self->word;
}

/*
 * Initial-exec: an access takes one instruction; the few bytes fit into the static TLS that dlopen
 * keeps spare.
 */
extern __thread struct thread thread_self __attribute__((tls_model("initial-exec")));

/*
 * Enters the thread into the capture |word|: takes or maps its ring and resets it. Returns the
 * ring, or NULL when none is left (counted). Slow, but once per thread and capture. In a forked
 * child that joins, |self->word| is another word afterwards: that of the running capture.
 */
struct ring *thread_enter(struct thread *self, uint32_t word);

/*
 * Names that one thread gives another one. The other thread takes its newest name when it gets a
 * ring in an arena, unless it has named itself; later names have no effect there.
 */

/* Names are kept for good; further ones are dropped. */
#define THREAD_NAMES_MAX 256u

/* Names the thread |tid|, with at most 31 bytes. Any thread may call it. */
void thread_names_set(int32_t tid, const char *name);
/* Copies the newest name of |tid| to |name|. False: it has none. Any thread may call it. */
bool thread_names_find(int32_t tid, char name[RING_NAME_BYTES]);

#endif
