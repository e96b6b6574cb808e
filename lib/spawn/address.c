/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses to listen on; see address.h. */
#define PTAP_IMPL_BUILDING
#include "lib/spawn/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <proftap/proftap.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/diag.h"
#include "lib/spawn/spawn.h"

static bool is_loopback(const struct sockaddr_storage *a)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)a;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)a;

	if (a->ss_family == AF_INET)
		return (ntohl(v4->sin_addr.s_addr) >> 24) == 127;
	return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

/*
 * Makes the path absolute, because the server has another working directory, and removes the path
 * at its end.
 */
static int parse_path(const struct ptap_server_options *options, const char *path, struct spawn *s,
	struct diag *d)
{
	struct sockaddr_un *un = (struct sockaddr_un *)&s->address;
	char here[sizeof un->sun_path] = "";
	size_t n = sizeof un->sun_path;

	if (!path[0])
		return diag_set(d, -EINVAL,
			"address unix:: no path; use for example unix:/run/app/proftap");
	if (path[0] != '/' && !getcwd(here, sizeof here))
		n = 0;
	if ((size_t)snprintf(un->sun_path, sizeof un->sun_path, "%s%s%s", here, here[0] ? "/" : "",
		    path) >= n)
		return diag_set(d, -EINVAL,
			"address unix:%s: the absolute path may have 107 bytes; use a shorter one",
			path);
	un->sun_family = AF_UNIX;
	s->address_bytes = sizeof *un;
	s->socket_mode = options->any_local_user ? 0666 : 0600;
	return 0;
}

static int parse_ip(const struct ptap_server_options *options, const char *text, struct spawn *s,
	struct diag *d)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)&s->address;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&s->address;

	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(options->port);
		s->address_bytes = sizeof *v4;
	} else if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(options->port);
		s->address_bytes = sizeof *v6;
	} else {
		return diag_set(d, -EINVAL,
			"address %s: not a numeric IPv4 or IPv6 address, nor unix:PATH; use for example "
			"127.0.0.1",
			text);
	}
	if (!is_loopback(&s->address) && !options->insecure)
		return diag_set(d, -EINVAL,
			"address %s: reachable from other machines, without encryption; use 127.0.0.1 "
			"and a tunnel, or set .insecure",
			text);
	return 0;
}

void listen_address_strip(struct ptap_server_options *options, char text[LISTEN_ADDRESS_BYTES])
{
	const char *from = options->address;
	size_t n = from ? strlen(from) : 0;

	if (n < 2 || n - 2 >= LISTEN_ADDRESS_BYTES || from[0] != '[' || from[n - 1] != ']' ||
		!strchr(from, ':'))
		return;
	memcpy(text, from + 1, n - 2);
	text[n - 2] = '\0';
	options->address = text;
}

int listen_address_parse(const struct ptap_server_options *options, struct spawn *s, struct diag *d)
{
	const char *text = options->address ? options->address : "127.0.0.1";

	if (strncmp(text, "unix:", 5) == 0)
		return parse_path(options, text + 5, s, d);
	return parse_ip(options, strcmp(text, "localhost") == 0 ? "127.0.0.1" : text, s, d);
}
