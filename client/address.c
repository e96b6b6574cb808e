/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing of targets; see address.h. */
#include "client/address.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

static bool is_digits(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

static int parse_port(const char *target, const char *text, uint16_t *port, struct diag *d)
{
	unsigned long value = is_digits(text) && strlen(text) < 8 ? strtoul(text, NULL, 10) : 0;

	if (value < 1 || value > 65535)
		return diag_set(
			d, -EINVAL, "%.200s: bad port \"%.32s\": must be 1 to 65535", target, text);
	*port = (uint16_t)value;
	return 0;
}

static int set_host(
	const char *target, const char *host, size_t n, struct address *out, struct diag *d)
{
	if (n == 0)
		return diag_set(d, -EINVAL,
			"%.200s: no host before the port; a PORT alone is one of this machine",
			target);
	if (n >= sizeof out->host)
		return diag_set(d, -EINVAL, "%.200s…: the host's name is too long", target);
	for (size_t i = 0; i < n; i++)
		if (isspace((unsigned char)host[i]) || iscntrl((unsigned char)host[i]) ||
			strchr("/@[]", host[i]))
			return diag_set(d, -EINVAL, "%.200s: not a host's name", target);
	memcpy(out->host, host, n);
	out->host[n] = '\0';
	return 0;
}

static int parse_bracketed(const char *text, struct address *out, struct diag *d)
{
	const char *end = strchr(text, ']');
	int r;

	if (!end || end[1] != ':')
		return diag_set(d, -EINVAL, "%.200s: must be [ADDRESS]:PORT", text);
	r = set_host(text, text + 1, (size_t)(end - text - 1), out, d);
	if (r == 0)
		r = parse_port(text, end + 2, &out->port, d);
	return r;
}

static int parse_host_port(const char *text, struct address *out, struct diag *d)
{
	const char *colon = strrchr(text, ':');
	int r;

	if (!colon)
		return diag_set(
			d, -EINVAL, "%.200s: must be PORT, HOST:PORT or [ADDRESS]:PORT", text);
	if (strchr(text, ':') != colon)
		return diag_set(
			d, -EINVAL, "%.200s: an IPv6 address needs brackets: [ADDRESS]:PORT", text);
	r = set_host(text, text, (size_t)(colon - text), out, d);
	if (r == 0)
		r = parse_port(text, colon + 1, &out->port, d);
	return r;
}

static int parse_bare_port(const char *text, const char *host, struct address *out, struct diag *d)
{
	size_t n = strlen(host);
	int r;

	/* --host [::1] is as good as --host ::1. */
	if (n > 2 && host[0] == '[' && host[n - 1] == ']') {
		host++;
		n -= 2;
	}
	r = set_host(host, host, n, out, d);
	if (r == 0)
		r = parse_port(text, text, &out->port, d);
	return r;
}

void address_format(struct address *a)
{
	const char *format = strchr(a->host, ':') ? "[%s]:%u" : "%s:%u";

	snprintf(a->text, sizeof a->text, format, a->host, a->port);
}

int address_parse(const char *text, const char *default_host, struct address *out, struct diag *d)
{
	static const char scheme[] = "grpc://";
	int r;

	*out = (struct address){.port = 0};
	if (!*text)
		return diag_set(d, -EINVAL,
			"the target is empty: must be PORT, HOST:PORT or [ADDRESS]:PORT");
	if (strncmp(text, scheme, sizeof scheme - 1) == 0)
		text += sizeof scheme - 1;
	if (strncmp(text, "unix:", 5) == 0)
		return diag_set(
			d, -EINVAL, "%.200s: unix sockets are still to come: use HOST:PORT", text);
	if (is_digits(text))
		r = parse_bare_port(text, default_host ? default_host : "localhost", out, d);
	else if (default_host)
		r = diag_set(d, -EINVAL, "%.200s: --host goes with a bare PORT only", text);
	else if (text[0] == '[')
		r = parse_bracketed(text, out, d);
	else
		r = parse_host_port(text, out, d);
	if (r < 0)
		return r;
	address_format(out);
	return 0;
}
