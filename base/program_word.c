/* SPDX-License-Identifier: Apache-2.0 */
/* Parses words that select programs; see program_word.h. */
#include "base/program_word.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool text_is_number(const char *text, unsigned long number)
{
	char digits[24];

	snprintf(digits, sizeof digits, "%lu", number);
	return strcmp(text, digits) == 0;
}

static bool means_pid(const char *value, const struct program_traits *t)
{
	return text_is_number(value, (unsigned long)t->pid);
}

static bool means_uid(const char *value, const struct program_traits *t)
{
	return text_is_number(value, t->uid);
}

static bool means_name(const char *value, const struct program_traits *t)
{
	return strcmp(value, t->name) == 0;
}

static bool means_container(const char *value, const struct program_traits *t)
{
	size_t n = strlen(value);

	if (*value && strcmp(value, t->container_name) == 0)
		return true;
	return n >= PROGRAM_WORD_ID_DIGITS && strncmp(value, t->container_id, n) == 0;
}

static bool means_pod(const char *value, const struct program_traits *t)
{
	return *value && strcmp(value, t->pod) == 0;
}

static const struct {
	const char *name;
	bool (*means)(const char *value, const struct program_traits *t);
} labels[] = {
	{"pid", means_pid},
	{"uid", means_uid},
	{"name", means_name},
	{"container", means_container},
	{"pod", means_pod},
};

#define N_LABELS (sizeof labels / sizeof *labels)

/* Returns the row of a label of |n| letters; N_LABELS: there is none. */
static size_t label_find(const char *label, size_t n)
{
	size_t i = 0;

	while (i < N_LABELS &&
		(strlen(labels[i].name) != n || strncmp(label, labels[i].name, n) != 0))
		i++;
	return i;
}

/* Returns true if the label of |n| letters, with its value, selects the program. */
static bool label_means(
	const char *label, size_t n, const char *value, const struct program_traits *t)
{
	size_t i = label_find(label, n);

	return i < N_LABELS && labels[i].means(value, t);
}

size_t program_word_find_dead(const char *word)
{
	size_t n_suffix = sizeof PROGRAM_WORD_DEAD - 1;
	size_t n = strlen(word);

	return n > n_suffix && strcmp(word + n - n_suffix, PROGRAM_WORD_DEAD) == 0 ? n - n_suffix
										   : 0;
}

bool program_word_means_name(const char *word, const struct program_traits *t)
{
	size_t n = program_word_find_dead(word);

	if (!t->has_ended)
		return means_name(word, t);
	return n && strncmp(word, t->name, n) == 0 && !t->name[n];
}

bool program_word_means(const char *word, const struct program_traits *t)
{
	const char *value = strchr(word, '=');

	if (means_pid(word, t))
		return true;
	if (value && strncmp(word, "pid=", 4) == 0)
		return means_pid(value + 1, t);
	if (program_word_means_name(word, t))
		return true;
	if (t->has_ended)
		return false;
	if (strcmp(word, "all") == 0 || (word[0] == '/' && t->path && strcmp(word, t->path) == 0))
		return true;
	return value && label_means(word, (size_t)(value - word), value + 1, t);
}

size_t program_word_find_no_label(const char *word)
{
	size_t n = strcspn(word, "=");

	return word[n] && label_find(word, n) == N_LABELS ? n : 0;
}

void program_word_list_labels(char out[PROGRAM_WORD_LABELS_BYTES])
{
	size_t n = 0;

	for (size_t i = 0; i < N_LABELS && n < PROGRAM_WORD_LABELS_BYTES; i++)
		n += (size_t)snprintf(out + n, PROGRAM_WORD_LABELS_BYTES - n, "%s%s", i ? ", " : "",
			labels[i].name);
}
