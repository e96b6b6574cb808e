/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the host daemon is told by signals: to end (SIGTERM, SIGINT), with patience, and a second time without; to read its settings
 * again (SIGHUP).
 *
 * Threads: the loop's only.
 */
#ifndef DAEMON_HEEDING_H
#define DAEMON_HEEDING_H

struct diag;
struct host;

/* Begins; when it is to end the loop is stopped at last. 0, or libuv's error with |d|. */
int heeding_open(struct host *h, struct diag *d);

/* How many calls, and captures by HTTP, are under way. |context|: a struct host. */
unsigned heeding_count(void *context);

/* What of the settings counts at once. */
void heeding_apply_settings(struct host *h);

#endif
