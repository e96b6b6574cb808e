/* SPDX-License-Identifier: Apache-2.0 */
/* Completion; see complete.h. */
#include "client/command/complete.h"

#include <stdbool.h>
#include <string.h>

#include "base/options.h"
#include "client/command/arguments.h"
#include "client/command/command.h"
#include "client/command/complete_targets.h"

struct completion {
	const struct command *command;
	const char *typed; /* the word in the making */
	FILE *out;
};

/* Option names are typed with '-' or '_'. */
static bool begins(const char *word, const char *typed)
{
	for (; *typed; word++, typed++)
		if (*word != *typed && !(*word == '_' && *typed == '-'))
			return false;
	return true;
}

static void offer(const struct completion *c, const char *front, const char *word, const char *end)
{
	size_t n = strlen(front);

	if (strncmp(c->typed, front, n) == 0 ? begins(word, c->typed + n)
					     : strncmp(front, c->typed, strlen(c->typed)) == 0)
		fprintf(c->out, "%s%s%s\n", front, word, end);
}

/* Where the command has none, its use is 0. */
static void offer_keys(const struct completion *c, const char *before, const char *after)
{
	for (size_t i = 0; i < n_options; i++)
		if (options_table[i].uses & c->command->profile_use)
			offer(c, before, options_table[i].key, after);
}

static void offer_options(const struct completion *c)
{
	for (size_t i = 0; i < c->command->n_options; i++)
		if (c->command->options[i].kind != COMMAND_OPTION_ANNOUNCED)
			offer(c, "--", c->command->options[i].name, "");
	offer_keys(c, "--", "");
	offer(c, "--", "help", "");
	offer(c, "--", "version", "");
}

static void offer_words(const struct completion *c, const struct command_words *w)
{
	const char *end = w->end ? w->end : "";
	const char *word;

	for (size_t i = 0; i < w->n_words; i++)
		offer(c, "", w->words[i], end);
	for (size_t i = 0; w->get && (word = w->get(i)); i++)
		offer(c, "", word, end);
}

static void offer_value(const struct completion *c, const struct command_option *o)
{
	const struct command_words *w = c->command->values;

	for (; w && w->option; w++)
		if (strcmp(w->option, o->name) == 0)
			offer_words(c, w);
	if (strcmp(o->name, "option") == 0)
		offer_keys(c, "", "=");
	else if (o->argument && strcmp(o->argument, "DIR") == 0)
		fputs(":dirs\n", c->out);
	else if (o->argument && strncmp(o->argument, "FILE", 4) == 0)
		fputs(":files\n", c->out);
}

/* The option that |word| is when it stands before its value; NULL: none, or one without. */
static const struct command_option *find_valued(const struct command *command, const char *word)
{
	const struct command_option *o = arguments_find_option(command, word);

	if (!o || o->kind == COMMAND_OPTION_FLAG || o->kind == COMMAND_OPTION_ANNOUNCED ||
		o->kind == COMMAND_OPTION_MAYBE_INT)
		return NULL;
	return o;
}

/* The option whose value is in the making, as in "--log_dir lo", "--log_dir = lo" or "-o". */
static const struct command_option *find_pending(
	const struct command *command, int n_words, char **words)
{
	int before = n_words - 2;

	if (strcmp(words[n_words - 1], "=") != 0 && before > 0 && strcmp(words[before], "=") == 0)
		before--;
	return before > 0 ? find_valued(command, words[before]) : NULL;
}

/* Whether |words| hold an operand before the one in the making. */
static bool has_operand(const struct command *command, int n_words, char **words)
{
	for (int i = 1; i < n_words - 1; i++)
		if (words[i][0] != '-' && strcmp(words[i], "=") != 0 &&
			!find_pending(command, i + 1, words))
			return true;
	return false;
}

/* A command that takes a target takes one, as its first operand. */
static void offer_operands(const struct completion *c, int n_words, char **words)
{
	if (strcmp(c->command->operands, ":targets") != 0)
		fprintf(c->out, "%s\n", c->command->operands);
	else if (!has_operand(c->command, n_words, words))
		complete_targets(c->typed, c->out);
}

static void complete_word(struct completion *c, int n_words, char **words)
{
	const struct command_option *o = find_pending(c->command, n_words, words);

	if (strcmp(c->typed, "=") == 0)
		c->typed = "";
	if (o)
		offer_value(c, o);
	else if (c->typed[0] == '-')
		offer_options(c);
	else if (c->command->operands)
		offer_operands(c, n_words, words);
}

void complete(const struct command *const *commands, size_t n_commands, int n_words, char **words,
	FILE *out)
{
	struct completion c = {.out = out};

	if (n_words < 1)
		return;
	c.typed = words[n_words - 1];
	if (n_words == 1) {
		for (size_t i = 0; i < n_commands; i++)
			offer(&c, "", commands[i]->name, "");
		offer(&c, "--", "help", "");
		offer(&c, "--", "version", "");
		return;
	}
	for (size_t i = 0; i < n_commands; i++) {
		if (strcmp(words[0], commands[i]->name) == 0) {
			c.command = commands[i];
			complete_word(&c, n_words, words);
		}
	}
}
