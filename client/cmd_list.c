/* SPDX-License-Identifier: Apache-2.0 */
/* proftap list: the targets of this machine. */
#include <errno.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/diag.h"
#include "client/answer/host_list.h"
#include "client/command/arguments.h"
#include "client/command/command.h"
#include "client/process/exit.h"
#include "client/target/targets.h"
#include "trace/json.h"

struct settings {
	bool is_json;
};

static const struct command_option options[] = {
	{"json", 0, COMMAND_OPTION_FLAG, offsetof(struct settings, is_json), 0, 0, NULL, NULL,
		"one JSON object on standard output instead of text"},
};

static void format_user(unsigned uid, char *out, size_t n)
{
	const struct passwd *user = getpwuid(uid);

	if (user)
		snprintf(out, n, "%s", user->pw_name);
	else
		snprintf(out, n, "%u", uid);
}

/* Local time; the day is said when it was not today. */
static void format_since(int64_t unix_ns, char *out, size_t n)
{
	time_t then = (time_t)(unix_ns / NS_PER_S);
	time_t now = (time_t)(realtime_ns() / NS_PER_S);
	struct tm then_tm;
	struct tm now_tm;

	localtime_r(&then, &then_tm);
	localtime_r(&now, &now_tm);
	strftime(out, n,
		then_tm.tm_yday == now_tm.tm_yday && then_tm.tm_year == now_tm.tm_year
			? "%H:%M:%S"
			: "%Y-%m-%d %H:%M",
		&then_tm);
}

/* "127.0.0.1:9999"; a server on its private socket alone has that. */
static void format_door(const struct found_target *t, char *out, size_t n)
{
	const struct status *s = &t->status;

	if (strncmp(s->address, "unix:", 5) == 0)
		snprintf(out, n, "%s", s->address);
	else if (s->port == 0 && !t->socket[0])
		snprintf(out, n, "-");
	else if (s->port == 0)
		snprintf(out, n, "unix:%s", t->socket);
	else
		snprintf(
			out, n, strchr(s->address, ':') ? "[%s]:%u" : "%s:%u", s->address, s->port);
}

static void print_silent(const struct targets *targets)
{
	char text[256];

	targets_describe_silent(targets, text, sizeof text);
	if (*text)
		fprintf(stderr, "%s\n", text);
}

/* The last column is there where somebody has something in it. */
static void print_row(const struct found_target *t, bool has_places)
{
	const struct status *s = &t->status;
	char door[128];
	char user[64];
	char since[32];
	char place[256];

	format_door(t, door, sizeof door);
	format_user(s->uid, user, sizeof user);
	format_since(s->since_ns, since, sizeof since);
	place_format(&t->place, s->pid, place, sizeof place);
	printf("%8d  %-20s %-21s %-12s %-16s ", s->pid, s->name, door, user, since);
	if (has_places)
		printf("%-9s  %s\n", status_name_state(s), *place ? place : "-");
	else
		printf("%s\n", status_name_state(s));
}

static bool have_places(const struct targets *targets)
{
	char place[256];

	for (size_t i = 0; i < targets->n; i++) {
		const struct found_target *t = &targets->v[i];

		place_format(&t->place, t->status.pid, place, sizeof place);
		if (*place)
			return true;
	}
	return false;
}

static void print_table(const struct targets *targets)
{
	bool has_places = have_places(targets);

	printf("%8s  %-20s %-21s %-12s %-16s ", "PID", "NAME", "PORT", "USER", "SINCE");
	printf(has_places ? "%-9s  CONTAINER\n" : "%s\n", "STATE");
	for (size_t i = 0; i < targets->n; i++)
		print_row(&targets->v[i], has_places);
}

static void print_text(const struct targets *targets, const char *host)
{
	print_silent(targets);
	if (targets->n == 0 && host)
		fprintf(stderr,
			"no targets: no program whose user you are has announced itself at %s\n",
			host);
	else if (targets->n == 0 && targets->n_silent == 0)
		fprintf(stderr, "no targets: no program of this user has a server; start one with "
				"ptap_server_start() or proftap run -p PORT -- PROGRAM\n");
	if (targets->n)
		print_table(targets);
}

/* Of a host daemon's. */
static void print_place(struct json *j, const struct place *p)
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
		char user[64];

		format_user(s->uid, user, sizeof user);
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
		json_int(&j, "children", s->n_children);
		json_text(&j, "version", s->version);
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

/* Of this machine, or, if one is said, of the host daemon at |host|. */
static int load(const char *host, struct targets *targets, struct diag *d)
{
	if (host)
		return host_list_load(host, targets, d);
	if (targets_load(targets) == 0)
		return EXIT_DONE;
	diag_set(d, -ENOMEM, "out of memory");
	return EXIT_FAILED;
}

static int list(const struct settings *s, const char *host)
{
	struct targets targets = TARGETS_INIT;
	struct diag d = DIAG_INIT;
	int code = load(host, &targets, &d);

	if (code != EXIT_DONE)
		fprintf(stderr, "proftap list: %s\n", d.text);
	else if (s->is_json)
		print_json(&targets, host);
	else
		print_text(&targets, host);
	targets_deinit(&targets);
	return code;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct settings s = {false};
	struct diag d = DIAG_INIT;
	int n_left;
	int r = arguments_parse(self, argc, argv, &s, &n_left, &d);

	if (r == 0 && n_left > 1)
		r = diag_set(&d, -EINVAL, "proftap list: one HOST at a time, or none");
	if (r < 0)
		return command_fail_usage(self, &d);
	return r == 0 ? list(&s, n_left ? argv[0] : NULL) : EXIT_DONE;
}

const struct command command_list = {
	.name = "list",
	.usage = "[HOST[:PORT]] [--json]",
	.summary = "show the targets of this machine, or of a host daemon",
	.options = options,
	.n_options = sizeof options / sizeof options[0],
	.run = run,
};
