/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When processes and threads ended, as far as this server noticed, in ticks of what is recorded: what they had open goes no
 * further.
 *
 * Threads: any.
 */
#ifndef DAEMON_EXIT_NOTE_H
#define DAEMON_EXIT_NOTE_H

#include <stddef.h>
#include <stdint.h>

struct target;

/* If |t| is TARGET_DEAD: notes that it was so now, if that is not known yet. Takes no memory. */
void exit_note_look(struct target *t);

/*
 * The child |t| of |main| has ended, says |pidfd|: the same, and how it ended, if the kernel tells. Its arena may be gone: the worker
 * learns of an end by the robust word, which is sooner.
 */
void exit_note_take(struct target *t, const struct target *main, int pidfd);

/*
 * Notes whether the main thread of |t| received the signal that ends it, as |stat_fd|, its /proc/PID/stat, tells until its parent has waited for
 * it. -1: nobody can be asked.
 */
void exit_note_look_whose(struct target *t, int stat_fd);

/* When it ended, or |now_ticks| if it had not by then. */
uint64_t exit_note_find(const struct target *t, uint64_t now_ticks);

/* Of a thread of |t| that is gone: it had ended by then. Not 0. */
uint64_t exit_note_find_thread(const struct target *t);

/* "killed by SIGSEGV", "with exit status 3", or "": it had not ended by |now_ticks|, or nobody knows how. */
void exit_note_describe(const struct target *t, uint64_t now_ticks, char *text, size_t size);

/*
 * The thread that received the signal which ended it, by an id in its own pid namespace; 0: not known. |*why|, a literal: how that is known,
 * or why it is not; "": no signal ended it, or not by |now_ticks|.
 */
int32_t exit_note_find_signal_thread(const struct target *t, uint64_t now_ticks, const char **why);

/*
 * Whether a signal has ended it that nobody sends who only wants it to end: another one than SIGHUP, SIGINT or SIGTERM. 0 also where
 * the kernel does not tell how it ended.
 */
int exit_note_is_crash(const struct target *t);

/* Whether it had been killed by a signal by then, as far as is known. */
int exit_note_is_kill(const struct target *t, uint64_t now_ticks);

#endif
