/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program being recorded, seen through the arena it shares with us. Nothing in there is trusted:
 * sizes are checked once and kept here, everything else is copied out and validated at use.
 */
#ifndef DAEMON_TARGET_H
#define DAEMON_TARGET_H

#include <stdint.h>
#include <sys/types.h>

#include "daemon/kernel/crash_watch.h"
#include "daemon/target/inner_threads.h"
#include "lib/wire/arena.h"

struct diag;
struct ended_threads;
struct ring_notes;
struct trigger_watch;

enum target_life {
	TARGET_ALIVE,
	TARGET_STOPPED, /* it called ptap_server_stop() */
	TARGET_DEAD, /* or it called exec */
};

struct target {
	struct arena *arena; /* the page before it is private: there lies our robust list's node */
	uint64_t size_bytes;
	uint32_t n_rings;
	uint32_t ring_bytes;
	uint32_t n_slots; /* of one ring's data */
	_Atomic uint32_t flags; /* enum arena_flags; 0 before the hello */
	uint64_t max_capture_bytes; /* 0: the default */
	uint32_t command; /* number of the last one posted */
	pid_t pid;
	int memfd;
	int owns_memfd; /* closed with the target */
	int is_held; /* its owner word is this process's */
	int has_own_tids; /* in another pid namespace: its tids are not ours */
	struct inner_threads inner; /* then; the worker's */
	int64_t clock_ahead_ns; /* its CLOCK_MONOTONIC less ours; see target_compare_clock() */
	int is_foreign; /* it has fewer rights, or other files: nothing is opened at a path that it names */
	_Atomic int has_exited; /* its pidfd says so; see target_set_exited() */
	_Atomic int pidfd; /* borrowed; 0: none */
	int stat_fd; /* borrowed; see departure.h; 0: none */
	uint64_t start_ticks; /* as ending_find_start(); noted with the pidfd */
	int status_fd; /* borrowed; see owner.h; 0: none */
	_Atomic uid_t uid; /* see target_find_uid() */
	_Atomic int is_departed; /* its end was waited for, or is */
	int is_another; /* it was an exec; known when its end was waited for. The worker's */
	int crash_fd; /* see crash_watch.h, + 1; 0: none. The program's that started the server, while it is recorded; the worker's */
	struct crashes crashes; /* that were read from it; the worker's */
	_Atomic int
		signal_tid; /* that received the signal which ended it, in our pid namespace; 0: not known */
	_Atomic int is_signal_of_main; /* 1: no, it was another thread's; 2: yes; 0: not known */
	_Atomic int ending; /* its status + 1, once it is known; see target_find_ending() */
	_Atomic uint64_t ended_ticks; /* 0: it has not, as far as is known; see exit_note.h */
	struct ended_threads
		*ended; /* has what freed rings held; NULL: nobody wants it. The worker's */
	struct ring_notes *notes; /* a flight recorder's; NULL: none is on. The worker's */
	struct trigger_watch
		*watch; /* looks at what freed rings held; NULL: nobody does. The worker's */
	int is_told_to_record; /* by the last order; the worker's */
	_Atomic int uses_device; /* it did once, as far as is known */
	/* Of its collectors (collect.h); the worker's. */
	int has_collect; /* the words have memory */
	int is_collect_given_up; /* they did not come back in time, and have not since */
	char name[64];
	_Atomic uint64_t
		freed_ticks; /* when the ring of a thread that had recorded was given back last; 0: none was */
	uint64_t tail[ARENA_MAX_RINGS]; /* ours; the shared ones may be overwritten by the target */
};

/* Checks and maps |memfd| (borrowed). 0, or negative with |d|. */
int target_open(struct target *t, int memfd, pid_t pid, struct diag *d);
void target_close(struct target *t);
/* It is gone: its rings' memory goes, what is in the head and the names stay. */
void target_empty(struct target *t);

/* In another time namespace it has another CLOCK_MONOTONIC. For targets that did not start this server. */
void target_compare_clock(struct target *t);

/* Checks the arena's head, which must be filled, against its size, and copies what it says. 0, or -EPROTO with |d|. */
int target_read_head(struct target *t, struct diag *d);
/* The same, once the target's control thread is there. */
int target_meet(struct target *t, struct diag *d);

/*
 * Makes the calling thread the one whose death the target would notice, and that gives it commands. It must
 * live as long as the server, and use no robust mutex.
 */
void target_hold(struct target *t);
/* Says hello: the program goes on. Nothing the second time. */
void target_greet(struct target *t);

enum target_life target_get_life(const struct target *t);

/*
 * The process is gone, says its pidfd. The robust word says so earlier, but only if the kernel could walk the
 * list in the target's memory. Any thread but the one that greeted.
 */
void target_set_exited(struct target *t);

/*
 * Of a target that is TARGET_DEAD: returns when its process has ended, or will not, as departure_await(); nothing the second
 * time. To be called before anything that asks for memory: target_wait() does. The worker's.
 */
void target_await_end(struct target *t);
/*
 * Notes who received a signal that ends it, if the kernel has told |main| by now (main->crash_fd), which is |t| or the program that it is a
 * followed child of. The worker's.
 */
void target_look_for_crash(struct target *t, struct target *main);
/*
 * Whether its end has begun, or is over: its memory need not be back, and who asks for some meanwhile may be killed next. Asks
 * for none. Any thread.
 */
int target_is_departing(const struct target *t);
/* What that needs in memory is there then. */
void target_rehearse_end(struct target *t);

/* Whose process it is, as owner_find_uid(); once it is TARGET_DEAD and that was noticed, whose it was. Any thread. */
uid_t target_find_uid(struct target *t);

/* How a target that is TARGET_DEAD ended: as ending_find(). Any thread. */
int target_find_ending(const struct target *t);
/* As ending_is_clean(). Any thread. */
int target_has_ended_well(const struct target *t);
/* As image_is_another(): by exec. Any thread. */
int target_has_become_another(const struct target *t);

/*
 * Sleeps until the target goes, target_kick() is called, or |deadline_ns| (CLOCK_MONOTONIC; INT64_MAX:
 * without limit). May return early without a reason.
 */
void target_wait(struct target *t, int64_t deadline_ns);
/* Wakes the thread in target_wait(); returns 0 when nobody was asleep there. Any thread. */
int target_kick(struct target *t);

/*
 * Has the control thread do |op|; target_await() tells when it has: 0, or -ETIMEDOUT when it has not until
 * |deadline_ns| of CLOCK_MONOTONIC (stopped by a debugger or SIGSTOP), or -ESRCH when it is gone. One
 * command at a time. Only from the greeting thread.
 */
void target_send(struct target *t, enum arena_op op, uint32_t arg);
int target_await(struct target *t, int64_t deadline_ns);
/* Both. */
int target_post(struct target *t, enum arena_op op, uint32_t arg, int timeout_ms);

struct ring *target_ring(const struct target *t, uint32_t i);
/* How many tasks it has now; 1 when that cannot be known. */
unsigned target_count_threads(const struct target *t);
/* 1 while the thread exists, or may; also for 0, a thread that has not said which it is. The worker's. */
int target_has_thread(struct target *t, pid_t tid);

#endif
