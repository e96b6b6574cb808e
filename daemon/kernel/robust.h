/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arenas' owner words that a thread holds: the kernel wakes who waits for one when the thread dies. A word is found
 * at a fixed distance from its node, which lies in a private page before the arena: a target that could write it would
 * steer the kernel's writes in here.
 */
#ifndef DAEMON_ROBUST_H
#define DAEMON_ROBUST_H

struct robust_list;

/* The arena behind |node| has the calling thread for its owner: always the same thread, which uses no robust mutex. */
void robust_hold(struct robust_list *node);
/* Nothing when it is not held. */
void robust_forget(const struct robust_list *node);

#endif
