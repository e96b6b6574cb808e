/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz harness of proftap list's parsing of a private socket's status, which any user may have
 * written. An accepted status is in range and printable, and formatting and parsing it again gives
 * the same.
 */
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "base/status.h"
#include "tests/fuzz/fuzz.h"

static void check_text(const char *text, size_t size)
{
	size_t n = strnlen(text, size);
	size_t kept;

	if (n == size)
		abort();
	for (size_t i = 0; i < n; i += kept) {
		printable_next(text + i, n - i, &kept);
		if (!kept)
			abort();
	}
}

static void check_again(const struct status *s)
{
	char text[STATUS_MAX_BYTES];
	struct status again;
	size_t n = status_format(s, text);

	if (n >= sizeof text || status_parse(text, n, &again))
		abort();
	if (again.pid != s->pid || again.uid != s->uid || again.port != s->port ||
		again.since_ns != s->since_ns || again.is_recording != s->is_recording)
		abort();
	if (strcmp(again.name, s->name) || strcmp(again.address, s->address) ||
		strcmp(again.version, s->version))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct status s;

	if (status_parse((const char *)data, n_bytes, &s))
		return 0;
	if (s.pid <= 0 || s.port > 65535)
		abort();
	check_text(s.name, sizeof s.name);
	check_text(s.address, sizeof s.address);
	check_text(s.version, sizeof s.version);
	check_again(&s);
	return 0;
}
