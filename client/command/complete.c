/* SPDX-License-Identifier: Apache-2.0 */
/* Completion of command lines; see command_complete(). */
#include "client/command/command.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/options.h"
#include "client/target/targets.h"

/* --- targets ------------------------------------------------------------------------------- */

/*
 * Names with other characters, which may mean something to the shell or to proftap, are not
 * offered.
 */
static const char plain_characters[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

/*
 * Returns true if just one live program has that name. Several can only be told apart by their
 * pids.
 */
static bool is_unique(const struct targets *t, const char *name)
{
	int n = 0;

	for (size_t i = 0; i < t->n; i++)
		n += !t->v[i].status.has_ended && strcmp(t->v[i].status.name, name) == 0;
	return n == 1;
}

static bool is_plain_word(const char *name)
{
	return name[0] && name[0] != '-' && !name[strspn(name, plain_characters)];
}

static void offer_if_typed(const char *typed, const char *word, FILE *out)
{
	if (strncmp(word, typed, strlen(typed)) == 0)
		fprintf(out, "%s\n", word);
}

static void offer_number(const char *typed, unsigned number, FILE *out)
{
	char word[16];

	snprintf(word, sizeof word, "%u", number);
	offer_if_typed(typed, word, out);
}

/*
 * Prints the pids, names and ports of targets that begin with |typed|, one per line. Waits for
 * half a second at most for servers that do not answer.
 */
static void complete_targets(const char *typed, FILE *out)
{
	struct targets targets;

	if (targets_load_quickly(&targets))
		return;
	for (size_t i = 0; i < targets.n; i++) {
		const struct status *s = &targets.v[i].status;

		offer_number(typed, (unsigned)s->pid, out);
		if (s->port)
			offer_number(typed, s->port, out);
		if (!s->has_ended && is_plain_word(s->name) && is_unique(&targets, s->name))
			offer_if_typed(typed, s->name, out);
	}
	targets_deinit(&targets);
}

struct completion {
	const struct command *command;
	const char *typed; /* the incomplete word */
	FILE *out;
};

/*
 * Returns true if |word| begins with |typed|. A typed '-' also means '_', as in the names of
 * options.
 */
static bool begins_with(const char *word, const char *typed)
{
	for (; *typed; word++, typed++)
		if (*word != *typed && !(*word == '_' && *typed == '-'))
			return false;
	return true;
}

static void offer_word(
	const struct completion *c, const char *front, const char *word, const char *end)
{
	size_t n = strlen(front);

	if (strncmp(c->typed, front, n) == 0 ? begins_with(word, c->typed + n)
					     : strncmp(front, c->typed, strlen(c->typed)) == 0)
		fprintf(c->out, "%s%s%s\n", front, word, end);
}

/* Offers keys of base/options.h. A command that takes no keys has the use 0. */
static void offer_keys(const struct completion *c, const char *before, const char *after)
{
	for (size_t i = 0; i < n_options; i++)
		if (options_table[i].uses & c->command->arguments.profile_use)
			offer_word(c, before, options_table[i].key, after);
}

static void offer_options(const struct completion *c)
{
	for (size_t i = 0; i < c->command->arguments.n_options; i++)
		if (c->command->arguments.options[i].kind != ARGUMENT_ANNOUNCED)
			offer_word(c, "--", c->command->arguments.options[i].name, "");
	offer_keys(c, "--", "");
	offer_word(c, "--", "help", "");
	offer_word(c, "--", "version", "");
}

static void offer_words(const struct completion *c, const struct command_words *w)
{
	const char *end = w->end ? w->end : "";
	const char *word;

	for (size_t i = 0; i < w->n_words; i++)
		offer_word(c, "", w->words[i], end);
	for (size_t i = 0; w->get && (word = w->get(i)); i++)
		offer_word(c, "", word, end);
}

static void offer_value(const struct completion *c, const struct argument_option *o)
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

/* Finds the option |word| if it takes a value from the next word, else returns NULL. */
static const struct argument_option *find_valued(const struct command *command, const char *word)
{
	const struct argument_option *o = arguments_find_option(&command->arguments, word);

	if (!o || o->kind == ARGUMENT_FLAG || o->kind == ARGUMENT_ANNOUNCED ||
		o->kind == ARGUMENT_MAYBE_INT)
		return NULL;
	return o;
}

/* Finds the option whose value is incomplete, as in "--log_dir lo", "--log_dir = lo" or "-o". */
static const struct argument_option *find_pending(
	const struct command *command, int n_words, char **words)
{
	int before = n_words - 2;

	if (strcmp(words[n_words - 1], "=") != 0 && before > 0 && strcmp(words[before], "=") == 0)
		before--;
	return before > 0 ? find_valued(command, words[before]) : NULL;
}

/* Returns true if an operand precedes the incomplete word. */
static bool has_operand(const struct command *command, int n_words, char **words)
{
	for (int i = 1; i < n_words - 1; i++)
		if (words[i][0] != '-' && strcmp(words[i], "=") != 0 &&
			!find_pending(command, i + 1, words))
			return true;
	return false;
}

/*
 * A target or a program is offered as the first operand only. The arguments of a program may be
 * files.
 */
static void offer_operands(const struct completion *c, bool is_first)
{
	const char *operands = c->command->operands;

	if (c->command->arguments.has_program && !is_first)
		operands = ":files";
	if (strcmp(operands, ":targets") != 0)
		fprintf(c->out, "%s\n", operands);
	else if (is_first)
		complete_targets(c->typed, c->out);
}

static void complete_word(struct completion *c, int n_words, char **words)
{
	const struct argument_option *o = find_pending(c->command, n_words, words);
	bool is_first = !has_operand(c->command, n_words, words);

	if (strcmp(c->typed, "=") == 0)
		c->typed = "";
	if (o)
		offer_value(c, o);
	else if (c->typed[0] == '-' && (is_first || !c->command->arguments.has_program))
		offer_options(c);
	else if (c->command->operands)
		offer_operands(c, is_first);
}

void command_complete(const struct command *const *commands, size_t n_commands, int n_words,
	char **words, FILE *out)
{
	struct completion c = {.out = out};

	if (n_words < 1)
		return;
	c.typed = words[n_words - 1];
	if (n_words == 1) {
		for (size_t i = 0; i < n_commands; i++)
			offer_word(&c, "", commands[i]->name, "");
		offer_word(&c, "--", "help", "");
		offer_word(&c, "--", "version", "");
		return;
	}
	for (size_t i = 0; i < n_commands; i++) {
		if (strcmp(words[0], commands[i]->name) == 0) {
			c.command = commands[i];
			complete_word(&c, n_words, words);
		}
	}
}
