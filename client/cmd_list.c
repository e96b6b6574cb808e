/* SPDX-License-Identifier: Apache-2.0 */
/* proftap list: lists the targets of this machine, of a host daemon, or of another machine. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "client/answer/host_list.h"
#include "client/command/command.h"
#include "client/connect/remote_list.h"
#include "client/process/exit.h"
#include "client/process/terminal.h"
#include "client/target/targets.h"
#include "trace/json.h"

struct list_settings {
	bool is_json;
	const char *ssh; /* the machine whose targets are listed; NULL: this one */
};

static const struct argument_option options[] = {
	{"json", 0, ARGUMENT_FLAG, offsetof(struct list_settings, is_json), 0, 0, NULL, NULL,
		"print one JSON object on standard output instead of text"},
	{"ssh", 0, ARGUMENT_TEXT, offsetof(struct list_settings, ssh), 0, 0, NULL, "[USER@]DEST",
		"show the list of that machine, made by the proftap there"},
};

static void print_silent(const struct targets *targets)
{
	char text[256];

	targets_describe_silent(targets, text, sizeof text);
	if (*text)
		fprintf(stderr, "%s\n", text);
}

static void print_text(const struct targets *targets, const char *host)
{
	print_silent(targets);
	if (targets->n == 0 && host)
		fprintf(stderr, "no targets: none of your programs has announced itself at %s\n",
			host);
	else if (targets->n == 0 && targets->n_silent == 0)
		fprintf(stderr,
			"no targets: no program that you may record has a server; start one "
			"with ptap_server_start() or proftap run -p PORT -- PROGRAM\n");
	if (targets->n)
		targets_write(targets, stdout);
}

/* Writes the place of a program as a host daemon has reported it. */
static void print_place(struct json *j, const struct program_place *p)
{
	json_int(j, "pid_inside", p->pid_inside);
	json_known_text(j, "cgroup", p->cgroup);
	if (!p->is_container) {
		json_nothing(j, "container");
		return;
	}
	json_begin_object(j, "container");
	json_known_text(j, "id", p->id);
	json_known_text(j, "name", p->name);
	json_known_text(j, "pod", p->pod);
	json_end_object(j);
}

static void print_json(const struct targets *targets, const char *host)
{
	struct json j;

	json_begin(&j, stdout);
	json_begin_list(&j, "targets");
	for (size_t i = 0; i < targets->n; i++) {
		const struct status *s = &targets->v[i].status;
		char command[TARGETS_COMMAND_BYTES];
		char user[64];

		targets_format_user(s->uid, user, sizeof user);
		json_begin_object(&j, NULL);
		json_int(&j, "pid", s->pid);
		json_text(&j, "name", s->name);
		json_text(&j, "address", s->address);
		json_int(&j, "port", s->port);
		json_text(&j, "socket", targets->v[i].socket);
		json_int(&j, "uid", s->uid);
		json_text(&j, "user", user);
		json_int(&j, "since_unix_ns", s->since_ns);
		json_text(&j, "state", status_name_state(s));
		json_bool(&j, "recorder", s->has_recorder);
		json_bool(&j, "stopped", s->is_stopped);
		json_int(&j, "children", s->n_children);
		json_text(&j, "version", s->version);
		json_text(&j, "server", s->make[0] ? s->make : "proftap");
		targets_find_command(targets, &targets->v[i], command);
		json_known_text(&j, "command", command);
		if (host)
			print_place(&j, &targets->v[i].place);
		json_end_object(&j);
	}
	json_end_list(&j);
	json_begin_list(&j, "silent");
	for (size_t i = 0; i < targets->n_silent; i++)
		json_int(&j, NULL, targets->silent[i]);
	json_end_list(&j);
	json_end(&j);
}

/* Loads the targets of the host daemon at |host|, or of this machine if that is NULL. */
static int load_targets(const char *host, struct targets *targets, struct diag *d)
{
	if (host)
		return host_list_load(host, targets, d);
	if (targets_load(targets) == 0)
		return EXIT_DONE;
	diag_set(d, -ENOMEM, "out of memory");
	return EXIT_FAILED;
}

static int list_targets(const struct list_settings *s, const char *host)
{
	struct targets targets = TARGETS_INIT;
	struct diag d = DIAG_INIT;
	int code = load_targets(host, &targets, &d);

	if (code != EXIT_DONE)
		fprintf(stderr, "proftap list: %s\n", d.text);
	else if (s->is_json)
		print_json(&targets, host);
	else
		print_text(&targets, host);
	targets_deinit(&targets);
	return code;
}

/* Runs proftap list on the other machine and prints its output. */
static int list_there(const struct list_settings *s, const char *host)
{
	_cleanup_free_ char *command = NULL;
	_cleanup_free_ char *text = NULL;
	struct diag d = DIAG_INIT;
	size_t n_bytes = 0;
	FILE *f = open_memstream(&command, &n_bytes);
	int code = EXIT_FAILED;

	if (f) {
		fprintf(f, "proftap list%s", s->is_json ? " --json" : "");
		if (host)
			fputc(' ', f);
		if (host)
			terminal_write_word(host, f);
		fclose(f);
		code = remote_list_read(s->ssh, command, &text, &d);
	}
	if (code == EXIT_DONE)
		fputs(text, stdout);
	else
		fprintf(stderr, "%s\n", f ? d.text : "proftap list: out of memory");
	return code;
}

static int run_list(const struct command *self, int argc, char **argv)
{
	struct list_settings s = {.is_json = false};
	struct diag d = DIAG_INIT;
	int n_left;
	int r = command_parse(self, argc, argv, &s, &n_left, &d);

	if (r == 0 && n_left > 1)
		r = diag_set(&d, -EINVAL, "proftap list: one HOST at a time, or none");
	if (r == 0 && s.ssh && (!*s.ssh || *s.ssh == '-'))
		r = diag_set(&d, -EINVAL,
			"--ssh: bad destination \"%.64s\": must be [USER@]HOST, as for ssh", s.ssh);
	if (r < 0)
		return command_fail_usage(self, &d);
	if (r == 0 && s.ssh)
		return list_there(&s, n_left ? argv[0] : NULL);
	return r == 0 ? list_targets(&s, n_left ? argv[0] : NULL) : EXIT_DONE;
}

const struct command command_list = {
	.name = "list",
	.usage = "[HOST[:PORT]] [--ssh DEST] [--json]",
	.summary = "show the targets of this machine, or of a host daemon",
	.arguments.options = options,
	.arguments.n_options = sizeof options / sizeof options[0],
	.run = run_list,
};
