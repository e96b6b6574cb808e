/* SPDX-License-Identifier: Apache-2.0 */
/* The table of subcommands with their dispatch, help and version; see command.h. */
#include "client/command/command.h"

#include <string.h>

#include "base/diag.h"
#include "base/env.h"
#include "base/log.h"
#include "base/options.h"
#include "client/process/exit.h"
#include "client/process/terminal.h"

static const struct command *const commands[] = {
	&command_capture,
	&command_convert,
	&command_diff,
	&command_doctor,
	&command_flame,
	&command_list,
	&command_monitor,
	&command_ps,
	&command_report,
	&command_run,
	&command_snapshot,
	&command_start,
	&command_stop,
	&command_view,
};

#define N_COMMANDS (sizeof commands / sizeof commands[0])
/* A word is taken for a mistyped command if at most this many letters differ. */
#define MAX_DISTANCE 2

/* Commands without code yet. They are not in the help, and print |text|. */
static const struct {
	const char *name;
	const char *text;
} announced[] = {
	{"attach", "recording a running program that does not use libproftap is still to come; "
		   "proftap run starts one so that it can be recorded"},
};

static void print_version(FILE *out)
{
	fprintf(out, "proftap %s\n", PACKAGE_VERSION);
}

static void print_option(const struct argument_option *o, FILE *out)
{
	const char *argument = o->argument ? o->argument : "";
	char left[64];

	snprintf(left, sizeof left, "%s%c%s--%s%s%s", o->letter ? "-" : "",
		o->letter ? o->letter : ' ', o->letter ? ", " : "   ", o->name,
		o->argument && o->kind != ARGUMENT_MAYBE_INT ? " " : "", argument);
	fprintf(out, "  %-30s %s\n", left, o->help);
}

static void print_help(const struct command *c, FILE *out)
{
	fprintf(out, "usage: proftap %s %s\n%s\n\n", c->name, c->usage, c->summary);
	for (size_t i = 0; i < c->arguments.n_options; i++)
		if (c->arguments.options[i].kind != ARGUMENT_ANNOUNCED)
			print_option(&c->arguments.options[i], out);
	fprintf(out, "  %-30s %s\n", "-h, --help", "print this text");
	fprintf(out, "  %-30s %s\n", "    --version", "print the version");
	if (c->arguments.set_profile_option) {
		fprintf(out, "\nEach of these is an option too (--KEY VALUE, or -o KEY=VALUE):\n");
		options_print_help(c->arguments.profile_use, out);
	}
	if (c->print_more_help)
		c->print_more_help(out);
}

static void print_main_help(FILE *out)
{
	fprintf(out, "usage: proftap COMMAND [options] …\n"
		     "Record what a running program does, for XProf.\n\n");
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
	fprintf(out,
		"\nproftap COMMAND --help explains a command; --version prints the version.\n");
}

int command_parse(
	const struct command *c, int argc, char **argv, void *settings, int *n_left, struct diag *d)
{
	int r = arguments_parse(&c->arguments, argc, argv, settings, n_left, d);

	if (r == ARGUMENTS_HELP)
		print_help(c, stdout);
	else if (r == ARGUMENTS_VERSION)
		print_version(stdout);
	return r > 0 ? COMMAND_HANDLED : r;
}

int command_fail_usage(const struct command *c, const struct diag *d)
{
	fprintf(stderr, "%s\n", d->text);
	fprintf(stderr, "try: proftap %s%s--help\n", c ? c->name : "", c ? " " : "");
	return EXIT_USAGE;
}

/* The distance is 0 if |name| is the beginning of |command|. */
static unsigned int find_distance(const char *name, const char *command)
{
	if (*name && strncmp(name, command, strlen(name)) == 0)
		return 0;
	return nearest_distance(name, command);
}

/* Finds the command that is most like |name|; NULL: none is near. */
static const char *find_nearest(const char *name)
{
	unsigned int best_distance = MAX_DISTANCE + 1;
	const char *best = NULL;

	for (size_t i = 0; i < N_COMMANDS; i++) {
		unsigned int distance = find_distance(name, commands[i]->name);

		if (distance < best_distance) {
			best = commands[i]->name;
			best_distance = distance;
		}
	}
	return best;
}

static int fail_unknown(const char *name)
{
	const char *nearest = find_nearest(name);
	struct diag d = DIAG_INIT;

	for (size_t i = 0; i < sizeof announced / sizeof announced[0]; i++) {
		if (strcmp(name, announced[i].name) == 0) {
			fprintf(stderr, "proftap %s: %s\n", name, announced[i].text);
			return EXIT_USAGE;
		}
	}
	if (name[0] == '-')
		diag_set(&d, EXIT_USAGE, "%.64s: unknown option; the command comes first", name);
	else
		diag_set(&d, EXIT_USAGE, "%.64s: unknown command%s%s", name,
			nearest ? "; the nearest is " : "", nearest ? nearest : "");
	return command_fail_usage(NULL, &d);
}

static void start_log(void)
{
	static char name[] = "proftap";
	const char *text = env_get(ENV_PROFTAP_LOG);
	enum log_level level;

	if (!text)
		return;
	if (log_level_parse(text, &level)) {
		fputs("PROFTAP_LOG: bad value \"", stderr);
		terminal_write(text, stderr);
		fputs("\": must be error, warn, info or debug; ignored\n", stderr);
		return;
	}
	log_set_level(level);
	log_set_sink(log_to_stderr, name);
}

/* If standard output could not be written, a command that succeeded has failed after all. */
static int finish_output(int code)
{
	if (streams_finish() == 0)
		return code;
	return code == EXIT_DONE ? EXIT_FAILED : code;
}

static int dispatch_command(int argc, char **argv)
{
	if (strcmp(argv[0], "__complete") == 0) {
		command_complete(commands, N_COMMANDS, argc - 1, argv + 1, stdout);
		return EXIT_DONE;
	}
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (strcmp(argv[0], commands[i]->name) == 0)
			return commands[i]->run(commands[i], argc, argv);
	return fail_unknown(argv[0]);
}

int command_main(int argc, char **argv)
{
	streams_start();
	start_log();
	if (argc < 2) {
		print_main_help(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		print_main_help(stdout);
		return finish_output(EXIT_DONE);
	}
	if (strcmp(argv[1], "--version") == 0) {
		print_version(stdout);
		return finish_output(EXIT_DONE);
	}
	return finish_output(dispatch_command(argc - 1, argv + 1));
}
