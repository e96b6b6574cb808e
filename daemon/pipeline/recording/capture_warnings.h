/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds a capture's warnings to its trace: options without effect, and missing records with the
 * reason.
 */
#ifndef DAEMON_CAPTURE_WARNINGS_H
#define DAEMON_CAPTURE_WARNINGS_H

struct capture_result;
struct capture_trace;

/* Called when all planes of the trace are made and counted in |result|. 0 or -ENOMEM. */
int capture_warnings_add(struct capture_trace *t, const struct capture_result *result);

#endif
