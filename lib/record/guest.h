/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's whole state in one page that a child of fork() sees zeroed (MADV_WIPEONFORK): the
 * child reads level 0 and "not started" without asking for its pid.
 */
#ifndef RECORD_GUEST_H
#define RECORD_GUEST_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/futex.h"
#include "lib/wire/arena.h"

/* A lock in the guest page: a child that was forked while another thread held it finds it free. */

static inline void lock_take(_Atomic uint32_t *lock)
{
	uint32_t expected = 0;

	while (!atomic_compare_exchange_strong(lock, &expected, 1)) {
		futex_wait_until(lock, 1, INT64_MAX);
		expected = 0;
	}
}

/* Returns whether the lock was free and is now taken. */
static inline bool lock_try(_Atomic uint32_t *lock)
{
	uint32_t expected = 0;

	return atomic_compare_exchange_strong(lock, &expected, 1);
}

static inline void lock_release(_Atomic uint32_t *lock)
{
	atomic_store(lock, 0);
	futex_wake(lock, 1);
}

struct guest {
	/* capture number × 4 + level; read by every annotation; must be first */
	_Atomic uint32_t word;
	_Atomic uint32_t lock; /* serialises start and stop; see guest_lock() */
	_Atomic uint32_t error_lock; /* protects the texts of ptap_last_error() */
	/*
	 * NULL: no server was started in this process. Other threads read it: load it once, and
	 * take the sizes from its head.
	 */
	struct arena *_Atomic arena;
	/* enum arena_clock or GUEST_CLOCK_BY_CALL; written before |word| is published */
	_Atomic uint32_t clock;
	/*
	 * 1: a full ring drops its oldest entries; 0: the newest. Read when a thread enters a
	 * recording, and at the begin of a segment.
	 */
	_Atomic uint32_t overwrites;
	_Atomic uint32_t is_serving; /* between the server's hello and its end */
	_Atomic uint32_t quit; /* the control thread shall end; under lock */
	int32_t server_pid;
	_Atomic uint16_t port; /* 0: no server, or it listens on a path */
	_Atomic uint8_t has_listener; /* the server has a listener */
	uint8_t has_control_thread; /* a control thread exists and was not joined yet; under lock */
	pthread_t control_thread;
	/* held by the collectors' thread of one recording at a time; see lock_try() */
	_Atomic uint32_t collect_lock;
	int32_t followed_pid; /* pid of the child that has GUEST_WORD_FOLLOW, or joined */
	struct arena *trace; /* holds the request of ptap_trace_start(); under lock */
	int32_t trace_pid; /* the server that records it */
};

/*
 * The page as the public header declares it: the word, and at the end whether a running recording
 * is still before its agreed start.
 */
struct guest_level {
	_Atomic uint32_t word;
	uint32_t between[1022];
	_Atomic uint32_t is_early;
};

/* The largest page that a kernel may have on this processor. */
#if defined(__x86_64__) || defined(__i386__)
#define GUEST_PAGE_BYTES 4096
#else
#define GUEST_PAGE_BYTES 65536
#endif

union guest_page {
	struct guest guest;
	struct guest_level level;
	char all[GUEST_PAGE_BYTES]; /* a child sees all of it zeroed, so no other data lies there */
};

_Static_assert(sizeof(struct guest) <= offsetof(struct guest_level, is_early),
	"both have room in the page");

/* The hidden name saves the code that computes the address. guest.c adds the public one. */
extern __attribute__((visibility("hidden"))) union guest_page guest_page;

static inline struct guest *guest_get(void)
{
	return &guest_page.guest;
}

/*
 * The word in a forked child that is to join its ancestor's server; no capture has it. Every
 * annotation takes the slow path, and the first one joins.
 */
#define GUEST_WORD_FOLLOW 0xffffffffu

/*
 * Joins the ancestor's server. Afterwards the word is 0 or a capture's, unless another thread is
 * still joining. The pointer lies outside of the guest page, which is wiped, so that a child has
 * it; it is set before any child can have GUEST_WORD_FOLLOW.
 */
extern void (*guest_join)(void);

/*
 * The word of the next capture at |level|: never one that this process or an ancestor has used,
 * because a thread's state outlives fork. Only the control thread calls this.
 */
uint32_t guest_next_word(uint32_t level);

/*
 * A value of |guest->clock| beside enum arena_clock: CLOCK_MONOTONIC by the system call, see
 * base/clock.h.
 */
#define GUEST_CLOCK_BY_CALL 16u

/*
 * Returns true if the calling thread may read the processor's counter; a thread can have forbidden
 * that to itself.
 */
bool guest_may_read_ticks(void);

/* The clock of a capture for which the server chose |clock|. */
uint32_t guest_choose_clock(uint32_t clock);

/* Reads the clock of a capture that does not use the counter. */
uint64_t guest_read_clock(uint32_t clock);

/* Asks the kernel to zero the page in children; it may be called again. 0 or a negative errno. */
int guest_wipe_on_fork(void);

/*
 * Calls guest_wipe_on_fork(), then takes a lock of the page: a child that another thread forks
 * meanwhile must not find it taken, even in a program that never started a server.
 */
void guest_lock(_Atomic uint32_t *lock);

#endif
