/* SPDX-License-Identifier: Apache-2.0 */
/* What is different in a server that a host daemon started for its program (docs/internals/host.md, "Programs that cannot start a server"). */
#ifndef DAEMON_LENT_H
#define DAEMON_LENT_H

struct target;

/* Looks where the program lives: whether its files and its threads' ids are this process's, too. */
void lent_look(struct target *t);

/*
 * Tells the program, which waits for this server, that it has one, or why not (a negative errno). -ESRCH: it does not wait any more,
 * and nothing here may be of it.
 */
int lent_answer(const struct target *t, int result);

#endif
