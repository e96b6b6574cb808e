/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a capture in its trace: what was asked for in vain, what is missing in it and why. */
#ifndef DAEMON_CAPTURE_WARNINGS_H
#define DAEMON_CAPTURE_WARNINGS_H

struct capture_trace;

/* Once all its planes are made. |is_empty|: no line of any of them has an event. 0 or -ENOMEM. */
int capture_warnings_add(struct capture_trace *t, int is_empty);

#endif
