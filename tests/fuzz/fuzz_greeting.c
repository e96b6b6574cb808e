/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz harness of the first bytes of a connection: the server judges those of a client, and the
 * client those of a server. The server accepts an incomplete greeting only if it is the beginning
 * of HTTP/2's. The client's verdict on a server must not change when more bytes arrive.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "client/connect/probe.h"
#include "daemon/serve/door/greeting.h"
#include "tests/fuzz/fuzz.h"

#define LONGEST 256

static bool begins_like(const uint8_t *data, size_t n_bytes, const char *words)
{
	return memcmp(data, words, n_bytes < GREETING_BYTES ? n_bytes : GREETING_BYTES) == 0;
}

static void check_client(const uint8_t *data, size_t n_bytes)
{
	enum greeting greeting = greeting_judge(data, n_bytes);
	bool is_notice = n_bytes >= GREETING_BYTES && begins_like(data, n_bytes, greeting_notice);

	if ((greeting == GREETING_HTTP2) !=
		begins_like(data, n_bytes, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
		abort();
	if ((greeting == GREETING_NOTICE) != is_notice)
		abort();
}

static void check_server(const uint8_t *data, size_t n_bytes)
{
	enum probe_result last = PROBE_SILENT;

	for (size_t n = 0; n <= n_bytes; n++) {
		enum probe_result result = probe_judge(data, n);

		if (result != PROBE_SILENT && result != PROBE_HTTP2 && result != PROBE_OTHER &&
			result != PROBE_TLS)
			abort();
		if (last != PROBE_SILENT && result != last)
			abort();
		last = result;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	if (n_bytes > LONGEST)
		return 0;
	check_client(data, n_bytes);
	check_server(data, n_bytes);
	return 0;
}
