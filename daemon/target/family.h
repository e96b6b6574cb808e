/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes that this server records: the one that started it, and those of its forked children that
 * joined (docs/internals/follow_fork.md). Children come from the main loop's thread; everything else here
 * belongs to the worker, the thread that greets them.
 */
#ifndef DAEMON_FAMILY_H
#define DAEMON_FAMILY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "daemon/kernel/headroom.h"
#include "daemon/target/target.h"

/* A forked child that joined. Two hold it: the worker, and who watches its pidfd. */
struct child {
	struct target target;
	int64_t since_ns; /* Unix time when it joined */
	struct child *next; /* among the offered ones; under the family's mutex */
	_Atomic int n_holders;
	int is_end_told; /* what its end leaves was decided; the worker's */
	int is_recorded; /* the flight recorder wants what it has, also when it is gone; the worker's */
};

/* Who wants to see each child before it goes on: the flight recorder, a capture. The worker's. */
struct family_meeter {
	void (*meet)(
		void *context); /* those that it has not met yet; they get their hello afterwards */
	void *context;
	struct family_meeter *next;
};

struct family {
	struct target *main;
	pthread_mutex_t mutex; /* of |offered|, and for changes of |children| */
	struct child *offered;
	_Atomic int
		has_news; /* a child was offered or has exited, and the worker has not looked yet */
	_Atomic unsigned
		n_exits; /* of children: how their ends came about is known, as far as it can be */
	_Atomic int is_recording; /* a child that joins shall wait for its start */
	/* What the processes are told to record at, by whom: both 0 is not at all. The worker writes them, see orders.h. */
	_Atomic unsigned capture_level;
	_Atomic unsigned
		recorder_level; /* of the flight recorder: rings overwrite their oldest while it is on */
	int64_t enabled_ns; /* CLOCK_MONOTONIC: until then threads record, and ptap_enabled() says no; 0: it says yes */
	struct family_meeter *meeters; /* the worker's */
	struct headroom headroom; /* the worker's */
	struct child **children; /* the worker's, oldest first */
	size_t n_children;
	size_t n_allocated;
};

void family_init(struct family *f, struct target *main);
/* After the worker's end. */
void family_deinit(struct family *f);

/* Makes a child of |memfd| (taken, also on failure). Owner: *out has one holder, the caller. */
int child_new(int memfd, pid_t pid, struct child **out, struct diag *d);
struct child *child_release(struct child *child); /* NULL ok; returns NULL */

/* Gives |child| to the worker, which becomes a holder of it. Any thread; then family_kick(). */
void family_offer(struct family *f, struct child *child);
/* Wakes the worker for news; 0 when it must be tried again, later. Any thread. */
int family_kick(struct family *f);

/* |m| is the caller's, who removes it before it goes. */
void family_add_meeter(struct family *f, struct family_meeter *m);
/* Nothing when it was not added. */
void family_remove_meeter(struct family *f, struct family_meeter *m);
/* Takes those that were offered: they can get commands now. */
void family_admit(struct family *f);
/*
 * Admits them, shows them to all meeters, and says hello to those that had none. One that joined while f->is_recording waits
 * for it.
 */
void family_meet(struct family *f);
/* The same, if one was offered or has exited since the last time: 1 if so. */
int family_hear(struct family *f);
/* Calls |visit| for each child, oldest first, with the mutex held: it must return at once. Any thread. */
void family_visit(
	struct family *f, void (*visit)(struct child *child, void *context), void *context);
/* Lets go of children that are gone and that no recorder wants; only while no capture runs. */
void family_prune(struct family *f);

#endif
