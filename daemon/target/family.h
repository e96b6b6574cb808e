/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes that this server records: the program that started it, and its forked children that
 * joined (docs/internals/follow_fork.md). The main loop's thread adds children; everything else
 * here belongs to the worker, the thread that greets them.
 */
#ifndef DAEMON_FAMILY_H
#define DAEMON_FAMILY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "daemon/kernel/headroom.h"
#include "daemon/target/target.h"

/* A forked child that joined. It has two holders: the worker, and the watcher of its pidfd. */
struct child {
	struct target target;
	int64_t since_ns; /* Unix time when it joined */
	struct child *next; /* in the list of offered children; under the family's mutex */
	_Atomic int n_holders;
	bool is_end_told; /* the recorder has checked it for a crash; belongs to the worker */
	/* the flight recorder needs its data, even after its end; belongs to the worker */
	bool is_recorded;
};

/*
 * A module that must see each child before the child goes on: the flight recorder, or a capture.
 * Belongs to the worker.
 */
struct family_meeter {
	/* called for children that it has not met yet; they get their hello afterwards */
	void (*meet)(void *context);
	void *context;
	struct family_meeter *next;
};

struct family {
	struct target *main;
	pthread_mutex_t mutex; /* for |offered|, and for changes of |children| */
	struct child *offered;
	/* a child was offered or has exited, and the worker has not handled it yet */
	_Atomic bool has_news;
	/* count of ended children whose exit status was looked up, known or not */
	_Atomic unsigned n_exits;
	_Atomic bool is_recording; /* a child that joins must wait until it is recorded */
	/*
	 * The levels that the capture and the recorder request of the processes; both 0: they do
	 * not record. The worker writes these levels, see orders.h.
	 */
	_Atomic unsigned capture_level;
	/* of the flight recorder; while it is on, rings overwrite their oldest entries */
	_Atomic unsigned recorder_level;
	/*
	 * CLOCK_MONOTONIC: the time until which ptap_enabled() returns 0 although threads record
	 * already. 0: it returns 1
	 */
	int64_t enabled_ns;
	struct family_meeter *meeters; /* belongs to the worker */
	struct headroom headroom; /* belongs to the worker */
	struct child **children; /* belongs to the worker, oldest first */
	size_t n_children;
	size_t n_allocated;
};

void family_init(struct family *f, struct target *main);
/* Call it after the worker's end. */
void family_deinit(struct family *f);

/* Makes a child of |memfd| (taken, also on failure). *out has one holder, the caller. */
int child_new(int memfd, pid_t pid, struct child **out, struct diag *d);
struct child *child_release(struct child *child); /* NULL ok; returns NULL */

/* Gives |child| to the worker, which becomes a holder. Any thread; call family_kick() next. */
void family_offer(struct family *f, struct child *child);
/* Wakes the worker to look for news; 0: try again later. Any thread may call it. */
int family_kick(struct family *f);

/* |m| belongs to the caller, who removes it before freeing it. */
void family_add_meeter(struct family *f, struct family_meeter *m);
/* Does nothing if it was not added. */
void family_remove_meeter(struct family *f, struct family_meeter *m);
/* Takes the offered children into the family; after that they can get commands. */
void family_admit(struct family *f);
/*
 * Admits offered children, shows them to all meeters, and greets those that had no hello. A child
 * that joined while f->is_recording was set waits for this.
 */
void family_meet(struct family *f);
/*
 * Does the same as family_meet() if a child was offered or has exited since the last call; returns
 * whether one has.
 */
bool family_handle_news(struct family *f);
/*
 * Calls |visit| for each child, oldest first, with the mutex held: it must return at once. Any
 * thread may call it.
 */
void family_visit(
	struct family *f, void (*visit)(struct child *child, void *context), void *context);
/* Releases children that have ended and that no recorder needs; only while no capture runs. */
void family_prune(struct family *f);

#endif
