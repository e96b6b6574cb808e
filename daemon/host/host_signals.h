/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host daemon's signals: SIGTERM and SIGINT end it, the first time when calls are over, the second time at once; SIGHUP
 * has it read its settings again.
 *
 * Threads: the loop's only.
 */
#ifndef DAEMON_HOST_SIGNALS_H
#define DAEMON_HOST_SIGNALS_H

struct diag;
struct host;

/* Handles signals from now on; the loop is stopped when the daemon ends. 0, or libuv's error with |d|. */
int host_signals_open(struct host *h, struct diag *d);

/* How many calls, and captures by HTTP, are under way. |context|: a struct host. */
unsigned host_count_calls(void *context);

/* Applies the settings that need no restart. */
void host_apply_settings(struct host *h);

#endif
