/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of the target, by a pidfd: later than its robust word when it is large, but independent of its memory. Before
 * Linux 5.3 there is none; then the word is all there is.
 *
 * Threads: the loop's only.
 */
#ifndef DAEMON_EXIT_WATCH_H
#define DAEMON_EXIT_WATCH_H

#include <uv.h>

struct target;

struct exit_watch {
	uv_poll_t poll;
	struct target *target;
};

/* Until the target has ended, and knows so. 0, or libuv's error. */
int exit_watch_start(struct exit_watch *w, uv_loop_t *loop, struct target *target);

#endif
