/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz harness of the two readers of addresses: the client's (a target) and the library's (where to listen). What the
 * client accepts, formatted, is accepted again and means the same.
 */
#define PTAP_IMPL_BUILDING
#include <netinet/in.h>
#include <proftap/proftap.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "client/address.h"
#include "lib/spawn/address.h"
#include "lib/spawn/spawn.h"
#include "tests/fuzz/fuzz.h"

static void check_target(const char *text)
{
	struct address a;
	struct address again;
	struct diag d = DIAG_INIT;

	if (address_parse(text, NULL, &a, &d)) {
		if (!d.text[0])
			abort();
		return;
	}
	/* Exactly one of the three ways. */
	if ((a.port && a.host[0]) + (a.path[0] != '\0') + (a.lookup[0] != '\0') != 1)
		abort();
	if (address_parse(a.text, NULL, &again, &d))
		abort();
	if (a.port != again.port || strcmp(a.host, again.host) || strcmp(a.path, again.path) ||
		strcmp(a.lookup, again.lookup) || strcmp(a.text, again.text))
		abort();
}

static void check_path(const struct sockaddr_un *a)
{
	if (a->sun_path[0] != '/' || strnlen(a->sun_path, sizeof a->sun_path) == sizeof a->sun_path)
		abort();
}

static void check_listen(const char *text)
{
	struct ptap_server_options options = PTAP_SERVER_OPTIONS_INIT;
	struct spawn s = {0};
	struct diag d = DIAG_INIT;

	options.address = text;
	if (listen_address_parse(&options, &s, &d)) {
		if (!d.text[0])
			abort();
		return;
	}
	if (s.address.ss_family == AF_UNIX)
		check_path((struct sockaddr_un *)&s.address);
	else if (s.address_bytes != sizeof(struct sockaddr_in) &&
		 s.address_bytes != sizeof(struct sockaddr_in6))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	_cleanup_free_ char *text = strndup((const char *)data, n_bytes);

	check_target(text);
	check_listen(text);
	return 0;
}
