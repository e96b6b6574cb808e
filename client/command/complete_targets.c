/* SPDX-License-Identifier: Apache-2.0 */
/* Completion of targets; see complete_targets.h. */
#include "client/command/complete_targets.h"

#include <stdbool.h>
#include <string.h>

#include "client/target/targets.h"

/* What means something else to the shell, or to us, is not worth its quotes. */
static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

/* Two live programs of one name must be told apart by their pids. */
static bool is_only(const struct targets *t, const char *name)
{
	int n = 0;

	for (size_t i = 0; i < t->n; i++)
		n += !t->v[i].status.has_ended && strcmp(t->v[i].status.name, name) == 0;
	return n == 1;
}

static bool is_word(const char *name)
{
	return name[0] && name[0] != '-' && !name[strspn(name, plain)];
}

static void offer(const char *typed, const char *word, FILE *out)
{
	if (strncmp(word, typed, strlen(typed)) == 0)
		fprintf(out, "%s\n", word);
}

static void offer_number(const char *typed, unsigned number, FILE *out)
{
	char word[16];

	snprintf(word, sizeof word, "%u", number);
	offer(typed, word, out);
}

void complete_targets(const char *typed, FILE *out)
{
	struct targets targets;

	if (targets_load_quickly(&targets))
		return;
	for (size_t i = 0; i < targets.n; i++) {
		const struct status *s = &targets.v[i].status;

		offer_number(typed, (unsigned)s->pid, out);
		if (s->port)
			offer_number(typed, s->port, out);
		if (!s->has_ended && is_word(s->name) && is_only(&targets, s->name))
			offer(typed, s->name, out);
	}
	targets_deinit(&targets);
}
