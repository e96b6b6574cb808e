/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes when processes and threads ended, as far as this server noticed, in ticks of the recording:
 * their open spans end then.
 *
 * Threads: any.
 */
#ifndef DAEMON_EXIT_NOTE_H
#define DAEMON_EXIT_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct target;

/* Notes the end of |t| now, if it is TARGET_DEAD and that is not noted yet. Does not allocate. */
void exit_note_update(struct target *t);

/*
 * Notes the end of |t|, a child of |main|, after |pidfd| reported it, and its exit status if the
 * kernel reports it. The arena may be unmapped by then, because the worker learns of the end
 * earlier, from the robust word.
 */
void exit_note_take(struct target *t, const struct target *main, int pidfd);

/*
 * Notes whether the main thread of |t| received the fatal signal. |stat_fd| is /proc/PID/stat of
 * |t|, which shows this until the parent has waited for the process; -1: there is no such file.
 */
void exit_note_read_signal(struct target *t, int stat_fd);

/* Returns when it ended, or |now_ticks| if it had not ended by then. */
uint64_t exit_note_find(const struct target *t, uint64_t now_ticks);

/* Returns a time, never 0, by which a thread of |t| that no longer exists had ended. */
uint64_t exit_note_find_thread(const struct target *t);

/*
 * Writes "killed by SIGSEGV", "with exit status 3", or "" if it had not ended by |now_ticks|, or
 * its status is unknown.
 */
void exit_note_describe(const struct target *t, uint64_t now_ticks, char *text, size_t size);

/*
 * Returns the thread that received the fatal signal, by its id in its own pid namespace; 0:
 * unknown. *why is a string literal that says how this is known, or why it is unknown; "": no
 * signal had ended the process by |now_ticks|.
 */
int32_t exit_note_find_signal_thread(const struct target *t, uint64_t now_ticks, const char **why);

/*
 * Returns true if it crashed: a signal ended it, but not SIGHUP, SIGINT or SIGTERM, which are sent
 * to end a program. false also if the kernel does not report the signal.
 */
bool exit_note_is_crash(const struct target *t);

/* Returns true if it is known that a signal had killed it by |now_ticks|. */
bool exit_note_is_kill(const struct target *t, uint64_t now_ticks);

#endif
