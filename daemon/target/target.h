/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program being recorded, seen through the arena that it shares with us. Nothing in the arena
 * is trusted: sizes are checked once and kept here, everything else is copied out and validated at
 * use.
 */
#ifndef DAEMON_TARGET_H
#define DAEMON_TARGET_H

#include <stdbool.h>
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
	TARGET_DEAD, /* the process has ended, or called exec */
};

struct target {
	/* the page before it is private, and holds our node of the robust list */
	struct arena *arena;
	uint64_t size_bytes;
	uint32_t n_rings;
	uint32_t ring_bytes;
	uint32_t n_slots; /* slots of one ring */
	_Atomic uint32_t flags; /* enum arena_flags; 0 before the hello */
	uint64_t max_capture_bytes; /* 0: the default */
	uint32_t command; /* number of the last command posted */
	pid_t pid;
	int memfd;
	bool owns_memfd; /* |memfd| is closed with the target */
	bool is_held; /* this process holds its owner word */
	bool has_own_tids; /* it is in another pid namespace: its thread ids are not ours */
	struct inner_threads inner; /* for |has_own_tids|; belongs to the worker */
	int64_t clock_ahead_ns; /* its CLOCK_MONOTONIC minus ours; see target_compare_clock() */
	/* it has fewer rights, or other files: do not open any path that it names */
	bool is_foreign;
	_Atomic bool has_exited; /* its pidfd reported the end; see target_set_exited() */
	_Atomic int pidfd; /* borrowed; 0: none */
	int stat_fd; /* borrowed; see process_exit.h; 0: none */
	uint64_t start_ticks; /* as process_find_start(), read with the pidfd */
	int status_fd; /* borrowed; see identity.h; 0: none */
	_Atomic uid_t uid; /* see target_find_uid() */
	_Atomic bool is_departed; /* target_await_end() has waited for its end, or is waiting */
	/* its end was an exec, known when it was waited for; belongs to the worker */
	bool is_another;
	/*
	 * the descriptor of crash_watch_open(), + 1; 0: none. Only the program that started the
	 * server has it, while it is recorded; belongs to the worker
	 */
	int crash_fd;
	struct crashes crashes; /* read from |crash_fd|; belongs to the worker */
	/* the thread that received the fatal signal, in our pid namespace; 0: unknown */
	_Atomic int signal_tid;
	/* the main thread received the fatal signal: 1: no, 2: yes, 0: unknown */
	_Atomic int is_signal_of_main;
	_Atomic int ending; /* its exit status + 1, once known; see target_find_ending() */
	_Atomic uint64_t ended_ticks; /* 0: not known to have ended; see exit_note.h */
	/*
	 * keeps the contents of freed rings; NULL: nobody needs them. Belongs to the worker
	 */
	struct ended_threads *ended;
	/* of a flight recorder; NULL: it is off. Belongs to the worker */
	struct ring_notes *notes;
	struct trigger_watch
		*watch; /* watches freed rings; NULL: nobody does. Belongs to the worker */
	bool is_told_to_record; /* by the last order; belongs to the worker */
	_Atomic int uses_device; /* it is known to have used a device */
	/* State of its collectors (collect.h), which belongs to the worker. */
	bool has_collect; /* the collectors' words have memory */
	bool is_collect_given_up; /* they did not end in time, and have not ended since */
	char name[64];
	_Atomic uint64_t
		freed_ticks; /* when the ring of a recorded thread was last freed; 0: never */
	uint64_t tail[ARENA_MAX_RINGS]; /* our copy; the target may overwrite the shared ones */
};

/* Checks and maps |memfd| (borrowed). 0, or negative with |d|. */
int target_open(struct target *t, int memfd, pid_t pid, struct diag *d);
void target_close(struct target *t);
/* Frees the rings' memory after the target's end; the head and the names stay. */
void target_empty(struct target *t);

/*
 * Sets clock_ahead_ns: in another time namespace the target has another CLOCK_MONOTONIC. Only for
 * targets that did not start this server.
 */
void target_compare_clock(struct target *t);

/*
 * Checks the arena's head, which must be filled, against its size, and copies it. 0, or -EPROTO
 * with |d|.
 */
int target_read_head(struct target *t, struct diag *d);
/* Waits for the control thread, calls target_read_head(), and sets the arena's clock. */
int target_meet(struct target *t, struct diag *d);

/*
 * Makes the calling thread the one whose death the target notices, and which gives it commands. The
 * thread must live as long as the server, and use no robust mutex.
 */
void target_hold(struct target *t);
/* Lets the program go on after its handshake. A second call does nothing. */
void target_greet(struct target *t);

enum target_life target_get_life(const struct target *t);

/*
 * Tells the program that this server cannot serve: ptap_server_start() fails with the text of |d|.
 */
void target_fail_hello(struct target *t, const struct diag *d);
/* Tells the program that no client can connect any more; ptap_server_stop() waits for this. */
void target_close_hello(struct target *t);

/*
 * Notes that the pidfd has reported the end. The robust word reports it earlier, but only if the
 * kernel could walk the list in the target's memory. Any thread but the one that greeted.
 */
void target_set_exited(struct target *t);

/*
 * For a TARGET_DEAD target: waits until its process has ended, or is known to continue, as
 * process_exit_await() does. A second call does nothing. Call it before anything that allocates
 * memory; target_wait() calls it. Worker's thread.
 */
void target_await_end(struct target *t);
/*
 * Notes the thread that received the fatal signal, if the kernel has reported it to |main|
 * (main->crash_fd), which is |t| or the program whose followed child it is. Worker's thread.
 */
void target_note_crash(struct target *t, struct target *main);
/*
 * Returns true if its exit has begun, or is over. Its memory may not be free yet, and the kernel
 * may kill whoever allocates meanwhile; this function does not allocate. Any thread may call it.
 */
bool target_is_departing(const struct target *t);
/* Makes the calls that waiting for its end makes, so that these need no new memory then. */
void target_rehearse_end(struct target *t);

/*
 * Returns the user of the process, as owner_find_uid(); after the end of a TARGET_DEAD target was
 * noticed, its last user. Any thread may call it.
 */
uid_t target_find_uid(struct target *t);

/*
 * Returns the exit status of a TARGET_DEAD target, as exit_status_find(). Any thread may call it.
 */
int target_find_ending(const struct target *t);
/* Returns exit_status_is_zero(). Any thread may call it. */
bool target_has_ended_well(const struct target *t);
/* Returns true if it has called exec, as image_is_another(). Any thread may call it. */
bool target_has_become_another(const struct target *t);

/*
 * Sleeps until the target ends, target_kick() is called, or |deadline_ns| (CLOCK_MONOTONIC;
 * INT64_MAX: no limit). May return early without a reason.
 */
void target_wait(struct target *t, int64_t deadline_ns);
/*
 * Wakes the thread in target_wait(); returns 0 if no thread was asleep there. Any thread may call
 * it.
 */
int target_kick(struct target *t);

/*
 * target_send() makes the control thread do |op|; target_await() waits until |op| is done: 0,
 * -ETIMEDOUT if it is not done by |deadline_ns| of CLOCK_MONOTONIC (a debugger or SIGSTOP stops the
 * program), or -ESRCH if the program is gone. Send one command at a time, and only from the thread
 * that called target_greet().
 */
void target_send(struct target *t, enum arena_op op, uint32_t arg);
int target_await(struct target *t, int64_t deadline_ns);

struct ring *target_ring(const struct target *t, uint32_t i);
/* Returns the current number of tasks; 1 if it is unknown. */
unsigned target_count_threads(const struct target *t);
/*
 * Returns true if the thread exists, or may exist; also true for 0, a thread that has not yet
 * written its id. Worker's thread.
 */
bool target_has_thread(struct target *t, pid_t tid);

/* The file of an arena, before it is mapped. */

/*
 * Returns the size of |fd| if it can be mapped safely: it cannot shrink any more (SIGBUS), has no
 * huge pages, which may be unavailable (SIGBUS, too), and has room for the smallest arena. 0: it is
 * no such file.
 */
uint64_t arena_file_find_size(int fd);

#endif
