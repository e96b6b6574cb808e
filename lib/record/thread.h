/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread knows of its ring. */
#ifndef RECORD_THREAD_H
#define RECORD_THREAD_H

#include <stdint.h>

#include "lib/wire/ring.h"

struct thread {
	struct ring *ring; /* valid only while |word| is the current one */
	/*
	 * thread_get_idle_word(), or 0 while an annotation is at work: the guard against signal handlers that annotate, too. An
	 * annotation of a capture whose word this is may take the short way.
	 */
	uint32_t idle;
	uint32_t
		word; /* the capture this thread has entered, at the level that it saw last; 0: none */
	volatile uint32_t
		entering; /* the capture that it is about to enter, or in which it got no ring; 0: none */
	uint32_t takes_long_way : 1; /* in another clock than the counter */
	uint32_t
		n_unopened : 31; /* PTAP_BEGINs that were dropped: as many PTAP_ENDs close nothing */
	struct arena *arena; /* the one |ring| lies in */
	char name[RING_NAME_BYTES]; /* set by ptap_thread_name, "" if not */
};

/* What |idle| is between annotations. */
static inline uint32_t thread_get_idle_word(const struct thread *self)
{
	return self->takes_long_way ? ~self->word : self->word;
}

/* Initial-exec: one instruction; the few bytes fit into the static TLS that dlopen keeps spare. */
extern __thread struct thread thread_self __attribute__((tls_model("initial-exec")));

/*
 * Makes the thread part of the capture |word|: finds or maps its ring and resets it. Returns the ring,
 * or NULL when there is none to have (counted). Slow: once per thread and capture. In a forked child that
 * joins, |self->word| is another word afterwards: that of the capture that runs.
 */
struct ring *thread_enter(struct thread *self, uint32_t word);

#endif
