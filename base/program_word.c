/* SPDX-License-Identifier: Apache-2.0 */
/* Words for programs; see program_word.h. */
#include "base/program_word.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static int is_number(const char *text, unsigned long number)
{
	char digits[24];

	snprintf(digits, sizeof digits, "%lu", number);
	return strcmp(text, digits) == 0;
}

static int means_pid(const char *value, const struct program_traits *t)
{
	return is_number(value, (unsigned long)t->pid);
}

static int means_uid(const char *value, const struct program_traits *t)
{
	return is_number(value, t->uid);
}

static int means_name(const char *value, const struct program_traits *t)
{
	return strcmp(value, t->name) == 0;
}

static int means_container(const char *value, const struct program_traits *t)
{
	size_t n = strlen(value);

	if (*value && strcmp(value, t->container_name) == 0)
		return 1;
	return n >= PROGRAM_WORD_ID_DIGITS && strncmp(value, t->container_id, n) == 0;
}

static int means_pod(const char *value, const struct program_traits *t)
{
	return *value && strcmp(value, t->pod) == 0;
}

static const struct {
	const char *name;
	int (*means)(const char *value, const struct program_traits *t);
} labels[] = {
	{"pid", means_pid},
	{"uid", means_uid},
	{"name", means_name},
	{"container", means_container},
	{"pod", means_pod},
};

/* |n| letters of a label, and its value. */
static int label_means(
	const char *label, size_t n, const char *value, const struct program_traits *t)
{
	for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
		if (strlen(labels[i].name) == n && strncmp(label, labels[i].name, n) == 0)
			return labels[i].means(value, t);
	return 0;
}

int program_word_means(const char *word, const struct program_traits *t)
{
	const char *value = strchr(word, '=');

	if (strcmp(word, "all") == 0 || means_pid(word, t) || means_name(word, t))
		return 1;
	return value && label_means(word, (size_t)(value - word), value + 1, t);
}
