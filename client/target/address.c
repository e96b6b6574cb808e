/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing and formatting of addresses; see address.h. */
#include "client/target/address.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/local_name.h"
#include "base/program_word.h"

/* The kernel's PID_MAX_LIMIT. */
#define MAX_PID 4194304

static bool is_digits(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

/* Returns true if the number is too large for a port, but not for a pid. */
static bool is_pid(const char *digits)
{
	unsigned long value = strlen(digits) < 8 ? strtoul(digits, NULL, 10) : 0;

	return value > 65535 && value <= MAX_PID;
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

static bool is_name(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (isspace((unsigned char)text[i]) || iscntrl((unsigned char)text[i]) ||
			strchr("/@[]", text[i]))
			return false;
	return true;
}

static int set_host(
	const char *target, const char *host, size_t n, struct address *out, struct diag *d)
{
	if (n == 0)
		return diag_set(d, -EINVAL,
			"%.200s: no host before the port; a PORT alone is one of this machine",
			target);
	if (n >= sizeof out->host)
		return diag_set(d, -EINVAL, "%.200s: the host's name is too long", target);
	if (!is_name(host, n))
		return diag_set(d, -EINVAL, "%.200s: not a host's name", target);
	memcpy(out->host, host, n);
	out->host[n] = '\0';
	return 0;
}

static int parse_bracketed(const char *text, struct address *out, struct diag *d)
{
	const char *end = strchr(text, ']');
	int r;

	/*
	 * Only an IPv6 address may have brackets: without them, [unix]:1 would mean something else.
	 */
	if (!end || end[1] != ':' || !memchr(text, ':', (size_t)(end - text)))
		return diag_set(
			d, -EINVAL, "%.200s: must be [ADDRESS]:PORT, with an IPv6 address", text);
	r = set_host(text, text + 1, (size_t)(end - text - 1), out, d);
	if (r == 0)
		r = parse_port(text, end + 2, &out->port, d);
	return r;
}

static int parse_unix(const char *path, struct address *out, struct diag *d)
{
	if (!*path || strlen(path) >= sizeof out->path)
		return diag_set(d, -EINVAL, "unix:%.200s: the path must have 1 to %zu bytes", path,
			sizeof out->path - 1);
	snprintf(out->path, sizeof out->path, "%s", path);
	return 0;
}

/* Returns true if |text| is the path of a program's file. A host's name has no slash. */
static bool is_path(const char *text)
{
	return text[0] == '/' || strncmp(text, "./", 2) == 0 || strncmp(text, "../", 3) == 0;
}

/*
 * Accepts a pid, NAME or NAME@dead of a target, or the path of its program. locate() finds out
 * whether it exists.
 */
static int parse_lookup(const char *text, struct address *out, struct diag *d)
{
	size_t n_dead = program_word_find_dead(text);
	size_t n = strlen(text);

	if (n >= sizeof out->lookup || (!is_path(text) && !is_name(text, n_dead ? n_dead : n)))
		return diag_set(d, -EINVAL,
			"%.200s: must be PORT, HOST:PORT, [ADDRESS]:PORT, unix:PATH, a pid or the "
			"name of a target",
			text);
	snprintf(out->lookup, sizeof out->lookup, "%s", text);
	return 0;
}

static int parse_host_port(const char *text, struct address *out, struct diag *d)
{
	const char *colon = strrchr(text, ':');
	int r;

	if (!colon)
		return parse_lookup(text, out, d);
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

	/* --host [::1] means the same as --host ::1. */
	if (n > 2 && host[0] == '[' && host[n - 1] == ']') {
		host++;
		n -= 2;
	}
	r = set_host(host, host, n, out, d);
	if (r == 0)
		r = parse_port(text, text, &out->port, d);
	return r;
}

static void add_target(struct address *a)
{
	size_t n = strlen(a->text);

	snprintf(a->words + n, sizeof a->words - n, " --target %s", a->target);
	snprintf(a->text + n, sizeof a->text - n, " target %s", a->target);
}

void address_format(struct address *a)
{
	const char *format = strchr(a->host, ':') ? "[%s]:%u" : "%s:%u";

	if (a->path[0] && !a->is_tunnel)
		snprintf(a->text, sizeof a->text, "unix:%s", a->path);
	else if (a->lookup[0])
		snprintf(a->text, sizeof a->text, "%s", a->lookup);
	else
		snprintf(a->text, sizeof a->text, format, a->host, a->port);
	snprintf(a->words, sizeof a->words, "%s", a->text);
	if (a->target[0])
		add_target(a);
}

bool address_is_here(const struct address *a)
{
	return !a->is_tunnel &&
	       (a->path[0] || local_name_is(a->host) || strcmp(a->host, "::1") == 0 ||
		       strncmp(a->host, "127.", 4) == 0);
}

int address_parse(const char *text, const char *default_host, struct address *out, struct diag *d)
{
	static const char scheme[] = "grpc://";
	int r;

	*out = (struct address){.port = 0};
	if (strncmp(text, scheme, sizeof scheme - 1) == 0)
		text += sizeof scheme - 1;
	if (!*text)
		return diag_set(d, -EINVAL,
			"the target is empty: must be PORT, HOST:PORT, [ADDRESS]:PORT, unix:PATH, "
			"a pid or the name of a target");
	out->is_bare = is_digits(text) && !default_host;
	if (strncmp(text, "unix:", 5) == 0 && !default_host)
		r = parse_unix(text + 5, out, d);
	else if (out->is_bare && is_pid(text))
		r = parse_lookup(text, out, d);
	else if (is_digits(text))
		r = parse_bare_port(text, default_host ? default_host : "localhost", out, d);
	else if (default_host)
		r = diag_set(d, -EINVAL, "%.200s: --host goes with a bare PORT only", text);
	else if (is_path(text))
		r = parse_lookup(text, out, d);
	else if (text[0] == '[')
		r = parse_bracketed(text, out, d);
	else
		r = parse_host_port(text, out, d);
	if (r < 0)
		return r;
	address_format(out);
	return 0;
}
