/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What became of a call to another server, for people: "ADDRESS: what", printable whatever that server said, and cut
 * where it said much.
 */
#ifndef DAEMON_REMOTE_ERROR_H
#define DAEMON_REMOTE_ERROR_H

#include <stddef.h>

struct rpc_pending;

void remote_error_format(char *out, size_t size, const char *address, const char *text);
/* "ADDRESS: STATUS: its text". |call| has ended. */
void remote_error_format_status(
	char *out, size_t size, const char *address, const struct rpc_pending *call);

#endif
