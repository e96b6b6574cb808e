/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's whole state in one page that a child of fork() sees zeroed (MADV_WIPEONFORK): the
 * child reads level 0 and "not started" without asking for its pid.
 */
#ifndef RECORD_GUEST_H
#define RECORD_GUEST_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/wire/arena.h"

struct guest {
	_Atomic uint32_t word; /* capture number × 4 + level; read by every annotation; first */
	_Atomic uint32_t lock; /* serialises start and stop; see lock.h */
	_Atomic uint32_t error_lock; /* of the texts in last_error.c */
	/* NULL: no server was started in this process. Other threads read it: load it once, the sizes are in its head. */
	struct arena *_Atomic arena;
	_Atomic uint32_t
		clock; /* enum arena_clock or GUEST_CLOCK_BY_CALL; written before |word| is published */
	/* A full ring drops its oldest entries, not the newest. Looked at when a thread enters and where a segment begins. */
	_Atomic uint32_t overwrites;
	_Atomic uint32_t is_serving; /* between the server's hello and its end */
	_Atomic uint32_t quit; /* the control thread shall end; under lock */
	int32_t server_pid;
	_Atomic uint16_t port; /* 0: none, or it listens on a path */
	_Atomic uint8_t has_listener; /* somebody can connect */
	uint8_t has_control_thread; /* and it was not joined yet; under lock */
	pthread_t control_thread;
	_Atomic uint32_t collect_lock; /* of the collectors' thread: one at a time; see lock.h */
	int32_t followed_pid; /* of the child that has GUEST_WORD_FOLLOW, or joined */
	struct arena *trace; /* that holds the request of ptap_trace_start(); under lock */
	int32_t trace_pid; /* the server that records it */
};

/* What the header declares: the word, and at its end whether a recording that runs is still before its agreed start. */
struct guest_level {
	_Atomic uint32_t word;
	uint32_t between[1022];
	_Atomic uint32_t is_early;
};

union guest_page {
	struct guest guest;
	struct guest_level level;
};

_Static_assert(sizeof(struct guest) <= offsetof(struct guest_level, is_early),
	"both have room in the page");

extern union guest_page ptap_impl_level_page;
/* The same, by a name that is hidden: no address is made before it is read. */
extern __attribute__((visibility("hidden"))) union guest_page guest_page;

static inline struct guest *guest_get(void)
{
	return &guest_page.guest;
}

/*
 * In a forked child that shall join its ancestor's server: no capture's word. Every annotation takes the slow
 * path, and the first one joins.
 */
#define GUEST_WORD_FOLLOW 0xffffffffu

/*
 * Joins: afterwards the word is 0 or a capture's, but for a thread that comes while another one is at it.
 * Private memory, so that a child has it; set before any child can have GUEST_WORD_FOLLOW.
 */
extern void (*guest_join)(void);

/*
 * The word of the next capture at |level|: never one that this process or one it was forked from has
 * used, because a thread's state outlives fork. Called by the control thread only.
 */
uint32_t guest_next_word(uint32_t level);

/* Of |guest->clock|, beside enum arena_clock: CLOCK_MONOTONIC by the system call, see base/clock.h. */
#define GUEST_CLOCK_BY_CALL 16u

/* Whether the calling thread may: a thread can have forbidden itself the processor's counter. */
int guest_may_read_ticks(void);

/* The clock of a capture for which the server chose |clock|. */
uint32_t guest_choose_clock(uint32_t clock);

/* The time where the counter is not used. */
uint64_t guest_read_clock(uint32_t clock);

/* Asks the kernel to zero the page in children; again is harmless. 0 or a negative errno. */
int guest_wipe_on_fork(void);

/*
 * Takes a lock of the page, and asks for that before: a child that another thread forks meanwhile must not find
 * it taken, also in a program that never started a server.
 */
void guest_lock(_Atomic uint32_t *lock);

#endif
