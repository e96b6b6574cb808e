/* SPDX-License-Identifier: Apache-2.0 */
/* Links for the Perfetto UI; see perfetto_link.h. */
#include "client/view/perfetto_link.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/diag.h"

/* The limit of the name that the UI shows for the trace. */
#define NAME_BYTES 128

static bool is_plain(char c)
{
	return isalnum((unsigned char)c) || c == '.' || c == '_' || c == '-';
}

/* Keeps characters that need no quoting in a URL, nor in a URL within a URL. */
static void format_name(const char *name, char out[static NAME_BYTES])
{
	size_t n = 0;

	for (; *name && n + 1 < NAME_BYTES; name++)
		out[n++] = is_plain(*name) ? *name : '_';
	out[n] = '\0';
}

static int make_path(struct perfetto_link *l, const char *name, struct diag *d)
{
	char plain[NAME_BYTES];
	uint64_t secret[2];

	if (getrandom(secret, sizeof secret, 0) != sizeof secret)
		return diag_set(d, -errno, "the link: no random numbers: %s", errno_words(errno));
	format_name(name, plain);
	snprintf(l->path, sizeof l->path, "/%016" PRIx64 "%016" PRIx64 "/%s.pftrace", secret[0],
		secret[1], plain);
	return 0;
}

static bool is_address(const char *text)
{
	struct in6_addr address;

	return inet_pton(AF_INET, text, &address) == 1 || inet_pton(AF_INET6, text, &address) == 1;
}

/* SSH_CONNECTION is "CLIENT PORT SERVER PORT": returns the server's address and sshd's port. */
static bool read_connection(char host[static 64], int *port)
{
	const char *connection = getenv("SSH_CONNECTION");

	if (!connection || !*connection)
		return false;
	if (sscanf(connection, "%*s %*s %63s %d", host, port) == 2 && is_address(host) &&
		*port > 0 && *port <= UINT16_MAX)
		return true;
	*port = 22;
	if (gethostname(host, 64) < 0)
		snprintf(host, 64, "HOST");
	host[63] = '\0';
	return true;
}

/*
 * Writes "USER@" for the tunnel's command, because the user's name may differ on the other machine;
 * "": not known.
 */
static void format_user(char out[static 72])
{
	const char *user = getenv("USER");

	out[0] = '\0';
	if (!user || !*user || *user == '-' || strlen(user) > 64)
		return;
	for (const char *p = user; *p; p++)
		if (!is_plain(*p))
			return;
	snprintf(out, 72, "%s@", user);
}

static void make_tunnel(struct perfetto_link *l, uint16_t port)
{
	char host[64];
	char user[72];
	char option[16] = "";
	int ssh_port;

	l->tunnel[0] = '\0';
	if (!read_connection(host, &ssh_port))
		return;
	if (ssh_port != 22)
		snprintf(option, sizeof option, " -p %d", ssh_port);
	format_user(user);
	snprintf(l->tunnel, sizeof l->tunnel, "ssh -N%s -L %d:127.0.0.1:%u %s%s", option,
		PERFETTO_LINK_PORT, port, user, host);
}

int perfetto_link_make(struct perfetto_link *l, uint16_t port, const char *name, struct diag *d)
{
	int r = make_path(l, name, d);
	uint16_t there;

	if (r)
		return r;
	make_tunnel(l, port);
	there = l->tunnel[0] ? PERFETTO_LINK_PORT : port;
	snprintf(l->url, sizeof l->url, "http://127.0.0.1:%u%s", there, l->path);
	snprintf(l->text, sizeof l->text, PERFETTO_LINK_ORIGIN "/#!/?url=%s", l->url);
	/* The UI can be told to use another port. */
	if (there != PERFETTO_LINK_PORT)
		snprintf(l->text + strlen(l->text), sizeof l->text - strlen(l->text),
			"&rpc_port=%u", there);
	return 0;
}

static bool is_at(const char *host, const char *name, uint16_t port)
{
	char expected[32];

	snprintf(expected, sizeof expected, "%s:%u", name, port);
	return strcasecmp(host, expected) == 0;
}

/* Through a tunnel the browser may use the default port. */
bool perfetto_link_is_host(const char *host, uint16_t port)
{
	const uint16_t ports[] = {port, PERFETTO_LINK_PORT};
	bool is_ours = false;

	for (int i = 0; host && i < 2; i++)
		is_ours = is_ours || is_at(host, "127.0.0.1", ports[i]) ||
			  is_at(host, "localhost", ports[i]);
	return is_ours;
}
