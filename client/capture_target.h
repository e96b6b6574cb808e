/* SPDX-License-Identifier: Apache-2.0 */
/* The word of a command line that says whom to capture. */
#ifndef CLIENT_CAPTURE_TARGET_H
#define CLIENT_CAPTURE_TARGET_H

struct address;
struct diag;

/*
 * As address_parse(); a number that is no port must be the pid of a target, which is looked for at
 * once. 0 or -EINVAL with |d|.
 */
int capture_target_parse(
	const char *text, const char *default_host, struct address *out, struct diag *d);

#endif
