/* SPDX-License-Identifier: Apache-2.0 */
/* The status of a server as text; see status.h. */
#include "base/status.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"

const char *status_name_state(const struct status *s)
{
	if (s->make[0])
		return "unknown";
	if (s->has_ended)
		return "ended";
	if (s->is_recording)
		return "recording";
	return s->has_recorder ? "recorder" : "idle";
}

size_t status_format(const struct status *s, char *out)
{
	int n = snprintf(out, STATUS_MAX_BYTES,
		"pid %d\nuid %u\nport %u\nsince %" PRId64
		"\nstate %s\nrecorder %d\nchildren %u\nname %s\naddress %s\nversion %s\n%s%s%s",
		s->pid, s->uid, s->port, s->since_ns, status_name_state(s), s->has_recorder != 0,
		s->n_children, s->name, s->address, s->version, s->gpu[0] ? "gpu " : "", s->gpu,
		s->gpu[0] ? "\n" : "");

	if (s->is_measured)
		n += snprintf(
			out + n, STATUS_MAX_BYTES - (size_t)n, "pss %" PRIu64 "\n", s->pss_bytes);
	if (s->is_stopped)
		n += snprintf(out + n, STATUS_MAX_BYTES - (size_t)n, "stopped 1\n");
	return (size_t)n;
}

static void status_set_text(char *to, size_t size, const char *value)
{
	snprintf(to, size, "%s", value);
	printable_clean(to);
}

static void status_set_state(struct status *s, const char *value)
{
	s->is_recording = strcmp(value, "recording") == 0;
	s->has_ended = strcmp(value, "ended") == 0;
}

static void status_set_pss(struct status *s, const char *value)
{
	s->is_measured = true;
	s->pss_bytes = strtoull(value, NULL, 10);
}

static void status_set_field(struct status *s, const char *key, const char *value)
{
	if (strcmp(key, "pid") == 0)
		s->pid = (int)strtol(value, NULL, 10);
	else if (strcmp(key, "uid") == 0)
		s->uid = (unsigned)strtoul(value, NULL, 10);
	else if (strcmp(key, "port") == 0)
		s->port = (unsigned)strtoul(value, NULL, 10);
	else if (strcmp(key, "since") == 0)
		s->since_ns = strtoll(value, NULL, 10);
	else if (strcmp(key, "state") == 0)
		status_set_state(s, value);
	else if (strcmp(key, "recorder") == 0)
		s->has_recorder = strcmp(value, "1") == 0;
	else if (strcmp(key, "stopped") == 0)
		s->is_stopped = strcmp(value, "1") == 0;
	else if (strcmp(key, "children") == 0)
		s->n_children = (unsigned)strtoul(value, NULL, 10);
	else if (strcmp(key, "pss") == 0)
		status_set_pss(s, value);
	else if (strcmp(key, "name") == 0)
		status_set_text(s->name, sizeof s->name, value);
	else if (strcmp(key, "address") == 0)
		status_set_text(s->address, sizeof s->address, value);
	else if (strcmp(key, "version") == 0)
		status_set_text(s->version, sizeof s->version, value);
	else if (strcmp(key, "gpu") == 0)
		status_set_text(s->gpu, sizeof s->gpu, value);
}

int status_parse(const char *text, size_t n, struct status *out)
{
	char copy[STATUS_MAX_BYTES];
	char *rest = copy;
	char *line;

	memset(out, 0, sizeof *out);
	if (n >= sizeof copy)
		n = sizeof copy - 1;
	memcpy(copy, text, n);
	copy[n] = '\0';
	while ((line = strsep(&rest, "\n"))) {
		char *value = strchr(line, ' ');

		if (!value)
			continue;
		*value++ = '\0';
		status_set_field(out, line, value);
	}
	return out->pid > 0 && out->port <= 65535 ? 0 : -EPROTO;
}
