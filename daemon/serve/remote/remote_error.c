/* SPDX-License-Identifier: Apache-2.0 */
/* Failures of other servers; see remote_error.h. */
#include "daemon/serve/remote/remote_error.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/printable.h"
#include "rpc/client.h"
#include "rpc/server.h"

/* Longer texts are cut. */
#define MAX_TEXT_BYTES 320
/* "; and 4294967295 more" */
#define REST_BYTES 24

void remote_error_format(char *out, size_t size, const char *address, const char *text)
{
	snprintf(out, size, "%.150s: %.*s%s", address, MAX_TEXT_BYTES, text,
		strlen(text) > MAX_TEXT_BYTES ? "..." : "");
	printable_clean(out);
}

/*
 * Recognises gRPC's own texts about a broken connection, because a server that still runs may also
 * answer UNAVAILABLE.
 */
static bool is_broken(const struct rpc_pending *call)
{
	static const char *const words[] = {
		"Socket closed", "Connection reset by peer", "Broken pipe"};
	const char *said = rpc_pending_get_text(call);
	bool is_one = false;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		is_one = is_one || strstr(said, words[i]);
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

void remote_failures_add(struct remote_failures *f, const char *text)
{
	const char *between = f->n_bytes ? "; " : "";

	if (f->n_left_out ||
		f->n_bytes + strlen(between) + strlen(text) + REST_BYTES > sizeof f->text) {
		f->n_left_out++;
		snprintf(f->text + f->n_bytes, REST_BYTES, "%sand %u more", between, f->n_left_out);
		return;
	}
	f->n_bytes += (size_t)sprintf(f->text + f->n_bytes, "%s%s", between, text);
}
