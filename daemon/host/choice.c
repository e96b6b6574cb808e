/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing among programs; see choice.h. */
#include "daemon/host/choice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/container_word.h"
#include "base/diag.h"
#include "daemon/host/programs.h"

#define LIST_BYTES 256

static int is_number(const char *text, unsigned long number)
{
	char digits[24];

	snprintf(digits, sizeof digits, "%lu", number);
	return strcmp(text, digits) == 0;
}

static int means_pid(const struct program *p, const char *value)
{
	return is_number(value, (unsigned long)p->pid);
}

static int means_uid(const struct program *p, const char *value)
{
	return is_number(value, p->uid);
}

static int means_name(const struct program *p, const char *value)
{
	return strcmp(value, p->status.name) == 0;
}

static int means_container(const struct program *p, const char *value)
{
	return container_word_means(value, p->container.id, p->container.name);
}

static int means_pod(const struct program *p, const char *value)
{
	return *value && strcmp(value, p->container.pod) == 0;
}

static const struct {
	const char *name;
	int (*means)(const struct program *p, const char *value);
} labels[] = {
	{"pid", means_pid},
	{"uid", means_uid},
	{"name", means_name},
	{"container", means_container},
	{"pod", means_pod},
};

/* A label and its value. */
static int matches_label(const struct program *p, const char *label, size_t n, const char *value)
{
	for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
		if (strlen(labels[i].name) == n && strncmp(label, labels[i].name, n) == 0)
			return labels[i].means(p, value);
	return 0;
}

static int matches(const struct program *p, const char *text)
{
	const char *value = strchr(text, '=');

	if (!*text || strcmp(text, "all") == 0 || means_pid(p, text) || means_name(p, text))
		return 1;
	return value && matches_label(p, text, (size_t)(value - text), value + 1);
}

/* "train (4242), serve (4243)": those that |text| means, as many as there is room for. */
static void list(const struct program *programs, size_t n, const char *text, char *out)
{
	size_t n_bytes = 0;
	const char *separator = "";

	out[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		if (!matches(&programs[i], text))
			continue;
		if (n_bytes + sizeof programs[i].status.name + 32 > LIST_BYTES) {
			snprintf(out + n_bytes, LIST_BYTES - n_bytes, ", …");
			return;
		}
		n_bytes += (size_t)snprintf(out + n_bytes, LIST_BYTES - n_bytes, "%s%s (%d)",
			separator, programs[i].status.name, (int)programs[i].pid);
		separator = ", ";
	}
}

static const struct program *refuse(
	const struct program *programs, size_t n, const char *text, size_t n_found, struct diag *d)
{
	char names[LIST_BYTES];

	list(programs, n, n_found ? text : "", names);
	if (!n)
		diag_set(d, -ENOENT,
			"no program that you may record has announced itself to this host daemon");
	else if (!n_found)
		diag_set(d, -ENOENT, "%.64s: no such program here; there are %s", text, names);
	else
		diag_set(d, -EINVAL, "%.64s%s%zu programs are meant: %s; name one by its pid", text,
			*text ? ": " : "", n_found, names);
	return NULL;
}

const struct program *choice_make(
	const struct program *programs, size_t n, const char *text, struct diag *d)
{
	const struct program *found = NULL;
	size_t n_found = 0;

	for (size_t i = 0; i < n; i++) {
		if (!matches(&programs[i], text))
			continue;
		found = &programs[i];
		n_found++;
	}
	return n_found == 1 ? found : refuse(programs, n, text, n_found, d);
}

size_t choice_make_all(const struct program *programs, size_t n, const char *text,
	const struct program **out, struct diag *d)
{
	size_t n_found = 0;

	for (size_t i = 0; i < n; i++)
		if (matches(&programs[i], text))
			out[n_found++] = &programs[i];
	if (!n_found)
		refuse(programs, n, text, 0, d);
	return n_found;
}
