/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a capture in its trace: what was asked for in vain, what is missing in it and why. */
#ifndef DAEMON_CAPTURE_WARNINGS_H
#define DAEMON_CAPTURE_WARNINGS_H

struct capture_result;
struct capture_trace;

/* Once all its planes are made and counted in |result|. 0 or -ENOMEM. */
int capture_warnings_add(struct capture_trace *t, const struct capture_result *result);

#endif
