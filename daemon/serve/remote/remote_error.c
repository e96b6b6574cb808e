/* SPDX-License-Identifier: Apache-2.0 */
/* Failures of other servers; see remote_error.h. */
#include "daemon/serve/remote/remote_error.h"

#include <stdio.h>
#include <string.h>

#include "base/printable.h"
#include "rpc/client.h"
#include "rpc/server.h"

/* The rest of an endless text tells nobody more. */
#define MAX_TEXT_BYTES 320

void remote_error_format(char *out, size_t size, const char *address, const char *text)
{
	snprintf(out, size, "%.150s: %.*s%s", address, MAX_TEXT_BYTES, text,
		strlen(text) > MAX_TEXT_BYTES ? "..." : "");
	printable_clean(out);
}

/* gRPC's own words for a connection that is gone; a server that is there may be UNAVAILABLE, too. */
static int is_broken(const struct rpc_pending *call)
{
	static const char *const words[] = {
		"Socket closed", "Connection reset by peer", "Broken pipe"};
	const char *said = rpc_pending_get_text(call);
	int is_one = 0;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		is_one |= strstr(said, words[i]) != NULL;
	return is_one && rpc_pending_get_status(call) == RPC_UNAVAILABLE;
}

void remote_error_format_status(
	char *out, size_t size, const char *address, const struct rpc_pending *call)
{
	char text[MAX_TEXT_BYTES + 80];
	const char *said = rpc_pending_get_text(call);

	if (is_broken(call))
		snprintf(text, sizeof text, "%s", REMOTE_ERROR_BROKEN);
	else
		snprintf(text, sizeof text, "%s: %.*s",
			rpc_status_name(rpc_pending_get_status(call)), MAX_TEXT_BYTES + 1,
			*said ? said : "its server gave no reason");
	remote_error_format(out, size, address, text);
}
