/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a capture, or a continuous session, that brought nothing. */
#ifndef CLIENT_CAPTURE_FAILURE_H
#define CLIENT_CAPTURE_FAILURE_H

struct capture;
struct diag;

/* The sentence and the client's warnings to standard error; with --json an object with "error" and "exit", too. */
void capture_failure_write(const struct capture *capture, int code, const struct diag *d);

#endif
