/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses to listen on; see address.h. */
#define PTAP_IMPL_BUILDING
#include "lib/spawn/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <proftap/proftap.h>
#include <string.h>

#include "base/diag.h"

static int is_loopback(const struct sockaddr_storage *a)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)a;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)a;

	if (a->ss_family == AF_INET)
		return (ntohl(v4->sin_addr.s_addr) >> 24) == 127;
	return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

int listen_address_parse(const struct ptap_server_options *options, struct sockaddr_storage *out,
	socklen_t *n_bytes, struct diag *d)
{
	const char *text = options->address ? options->address : "127.0.0.1";
	struct sockaddr_in *v4 = (struct sockaddr_in *)out;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;

	if (strcmp(text, "localhost") == 0)
		text = "127.0.0.1";
	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(options->port);
		*n_bytes = sizeof *v4;
	} else if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(options->port);
		*n_bytes = sizeof *v6;
	} else {
		return diag_set(d, -EINVAL,
			"address %s: not a numeric IPv4 or IPv6 address; use for example 127.0.0.1",
			text);
	}
	if (!is_loopback(out) && !options->insecure)
		return diag_set(d, -EINVAL,
			"address %s: reachable from other machines, without encryption; use 127.0.0.1 "
			"and a tunnel, or set .insecure",
			text);
	return 0;
}
