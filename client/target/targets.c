/* SPDX-License-Identifier: Apache-2.0 */
/* Targets by pid and by name, and as a table; see targets.h. */
#include "client/target/targets.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/program_word.h"
#include "base/utf8.h"
#include "client/process/terminal.h"
#include "client/target/command_line.h"

/* The largest number of pids of silent servers in a message. */
#define MAX_SILENT_SAID 8
/*
 * The limits of a command line in the table, in bytes. A narrow terminal does not make it shorter
 * than the minimum.
 */
#define MAX_COMMAND_BYTES 256
#define MIN_COMMAND_BYTES 40

const struct found_target *targets_find_pid(const struct targets *t, pid_t pid)
{
	const struct found_target *found = NULL;

	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].status.pid == pid && (!found || found->status.has_ended))
			found = &t->v[i];
	return found;
}

void targets_describe_silent(const struct targets *t, char *out, size_t n)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < t->n_silent && i < MAX_SILENT_SAID && used < n; i++)
		used += (size_t)snprintf(out + used, n - used, "%s%d",
			i		   ? ", "
			: t->n_silent == 1 ? "pid "
					   : "pids ",
			(int)t->silent[i]);
	if (t->n_silent > MAX_SILENT_SAID && used < n)
		used += (size_t)snprintf(
			out + used, n - used, " and %zu more", t->n_silent - MAX_SILENT_SAID);
	if (used && used < n)
		snprintf(out + used, n - used, ": %s: stopped, or very busy",
			t->n_silent == 1 ? "its server does not answer"
					 : "their servers do not answer");
}

/* Returns true if the program's file is the file at |path|; the names may differ. */
static bool runs_file(const struct found_target *t, const char *path)
{
	char link[32];
	struct stat its;
	struct stat wanted;

	snprintf(link, sizeof link, "/proc/%d/exe", t->status.pid);
	return !t->status.has_ended && stat(link, &its) == 0 && stat(path, &wanted) == 0 &&
	       its.st_dev == wanted.st_dev && its.st_ino == wanted.st_ino;
}

static bool is_called(const struct found_target *t, const char *word)
{
	const struct program_traits traits = {
		.name = t->status.name, .has_ended = t->status.has_ended};

	return strchr(word, '/') ? runs_file(t, word) : program_word_means_name(word, &traits);
}

/* Finds an ended program of that name whose recording is still kept. */
static const struct found_target *find_dead(const struct targets *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].status.has_ended && strcmp(t->v[i].status.name, name) == 0)
			return &t->v[i];
	return NULL;
}

/*
 * For a server of another make, the start of the program is only known to a tick of the clock,
 * so it is not compared.
 */
bool targets_contain(const struct targets *t, const struct found_target *one)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].status.pid == one->status.pid &&
			t->v[i].status.port == one->status.port &&
			(t->v[i].status.make[0] || t->v[i].status.since_ns == one->status.since_ns))
			return true;
	for (size_t i = 0; i < t->n_silent; i++)
		if (t->silent[i] == one->status.pid)
			return true;
	return false;
}

bool targets_match(const struct found_target *t, const char *pattern)
{
	char link[32];
	char path[PATH_MAX];
	ssize_t n;

	if (t->status.has_ended)
		return false;
	if (!strchr(pattern, '/'))
		return fnmatch(pattern, t->status.name, 0) == 0;
	snprintf(link, sizeof link, "/proc/%d/exe", t->status.pid);
	n = readlink(link, path, sizeof path - 1);
	path[n > 0 ? n : 0] = '\0';
	return fnmatch(pattern, path, 0) == 0;
}

static int explain_unknown(const struct targets *t, const char *word, struct diag *d)
{
	const struct found_target *dead = find_dead(t, word);
	char silent[256];

	if (dead)
		return diag_set(d, -ENOENT,
			"%.64s: no live target of that name: pid %d has ended; proftap snapshot "
			"%.64s" PROGRAM_WORD_DEAD " gets its recorded data",
			word, dead->status.pid, word);
	targets_describe_silent(t, silent, sizeof silent);
	if (*silent)
		return diag_set(
			d, -ENOENT, "%.64s: no target of that name answers; %s", word, silent);
	if (t->n == 0)
		return diag_set(d, -ENOENT,
			"%.64s: no target of that name: no program that you may record has a server; start one "
			"with ptap_server_start() or proftap run -p PORT -- PROGRAM",
			word);
	return diag_set(d, -ENOENT,
		"%.64s: no target of that name among %zu that run; proftap list shows them", word,
		t->n);
}

/*
 * If a program has a server of proftap's and one of another make, its name and pid
 * select proftap's server.
 */
static bool is_second(const struct targets *t, size_t i)
{
	for (size_t j = 0; j < t->n && t->v[i].status.make[0]; j++)
		if (t->v[j].status.pid == t->v[i].status.pid && !t->v[j].status.make[0] &&
			!t->v[j].status.has_ended)
			return true;
	return false;
}

static void explain_several(const struct targets *t, const char *word, struct diag *d)
{
	char pids[128] = "";
	size_t n_bytes = 0;
	int last = 0;

	for (size_t i = 0; i < t->n; i++) {
		if (!is_called(&t->v[i], word) || is_second(t, i) || t->v[i].status.pid == last)
			continue;
		last = t->v[i].status.pid;
		/* Another pid and a comma must leave room for the "…". */
		if (n_bytes + sizeof "-2147483648, , \u2026" > sizeof pids) {
			snprintf(pids + n_bytes, sizeof pids - n_bytes, ", \u2026");
			break;
		}
		n_bytes += (size_t)snprintf(
			pids + n_bytes, sizeof pids - n_bytes, "%s%d", n_bytes ? ", " : "", last);
	}
	diag_set(d, -EINVAL, "%.64s: more than one target has that name (pids %s); give a pid",
		word, pids);
}

const struct found_target *targets_find_name(
	const struct targets *t, const char *word, struct diag *d)
{
	const struct found_target *found = NULL;
	size_t n_found = 0;

	for (size_t i = 0; i < t->n; i++) {
		if (!is_called(&t->v[i], word) || is_second(t, i))
			continue;
		/* One program can have two servers, both of JAX's or TensorFlow's make. */
		if (found && found->status.pid == t->v[i].status.pid)
			continue;
		found = &t->v[i];
		n_found++;
	}
	if (n_found == 1)
		return found;
	if (n_found)
		explain_several(t, word, d);
	else
		explain_unknown(t, word, d);
	return NULL;
}

void targets_keep_named(struct targets *t, const char *word)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		t->v[i].is_left_out = !is_called(&t->v[i], word) || is_second(t, i);
	for (size_t i = 0; i < t->n; i++)
		if (!t->v[i].is_left_out)
			t->v[n++] = t->v[i];
	t->n = n;
}

/* --- the table ----------------------------------------------------------------------------- */

void targets_format_user(unsigned uid, char *out, size_t n)
{
	const struct passwd *user = getpwuid(uid);

	if (user)
		snprintf(out, n, "%s", user->pw_name);
	else
		snprintf(out, n, "%u", uid);
}

/* Writes the local time, with the date unless it is today's. */
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

/* Writes "127.0.0.1:9999", or the path of the private socket of a server that has no port. */
static void format_address(const struct found_target *t, char *out, size_t n)
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

void targets_find_command(const struct targets *t, const struct found_target *one,
	char out[static TARGETS_COMMAND_BYTES])
{
	out[0] = '\0';
	/* The pid of an ended program may belong to another process by now. */
	if (t->is_here && !one->status.has_ended)
		command_line_show(one->status.pid, out, TARGETS_COMMAND_BYTES);
}

/* Writes as much of the command line as fits on the terminal after |used| columns. */
static void write_command(
	const struct targets *targets, const struct found_target *t, size_t used, FILE *out)
{
	char command[TARGETS_COMMAND_BYTES];
	char shown[MAX_COMMAND_BYTES];
	size_t width = terminal_get_width(out);
	size_t room = sizeof shown;

	if (width)
		room = width > used + MIN_COMMAND_BYTES ? width - used : MIN_COMMAND_BYTES;
	targets_find_command(targets, t, command);
	utf8_fit(shown, room < sizeof shown ? room : sizeof shown, *command ? command : "-");
	fprintf(out, "  %s", shown);
}

/*
 * Green: something is recorded. Yellow: the program is stopped. Dim: it has ended, or its state is
 * unknown.
 */
static const char *find_state_color(const struct status *s)
{
	if (s->is_stopped)
		return TERMINAL_YELLOW;
	if (s->has_ended || s->make[0])
		return TERMINAL_DIM;
	return s->is_recording || s->has_recorder ? TERMINAL_GREEN : "";
}

/* The last columns are written only where some row has an entry in them. */
static void write_row(const struct targets *targets, const struct found_target *t, bool has_makes,
	bool has_places, bool has_color, FILE *out)
{
	const struct status *s = &t->status;
	bool has_more = has_places || targets->is_here;
	char address[128];
	char user[64];
	char since[32];
	char place[256];
	char state[32];
	char padded[32];
	int n;

	format_address(t, address, sizeof address);
	targets_format_user(s->uid, user, sizeof user);
	format_since(s->since_ns, since, sizeof since);
	place_format(&t->place, s->pid, place, sizeof place);
	snprintf(state, sizeof state, "%s%s", status_name_state(s),
		s->is_stopped ? ", stopped" : "");
	n = fprintf(out, "%8d  %-20s %-21s %-12s %-16s ", s->pid, s->name, address, user, since);
	n += snprintf(padded, sizeof padded, has_makes || has_more ? "%-9s" : "%s", state);
	terminal_write_colored(has_color ? find_state_color(s) : "", padded, out);
	if (has_makes)
		n += fprintf(out, has_more ? "  %-11s" : "  %s", s->make[0] ? s->make : "proftap");
	if (has_places)
		fprintf(out, "  %s", *place ? place : "-");
	else if (targets->is_here)
		write_command(targets, t, (size_t)n + 2, out);
	fputc('\n', out);
}

static bool have_makes(const struct targets *targets)
{
	for (size_t i = 0; i < targets->n; i++)
		if (targets->v[i].status.make[0])
			return true;
	return false;
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

void targets_write(const struct targets *targets, FILE *out)
{
	bool has_makes = have_makes(targets);
	bool has_places = have_places(targets);
	bool has_more = has_places || targets->is_here;
	bool has_color = terminal_has_color(out);

	fputs(has_color ? TERMINAL_BOLD : "", out);
	fprintf(out, "%8s  %-20s %-21s %-12s %-16s ", "PID", "NAME", "PORT", "USER", "SINCE");
	fprintf(out, has_makes || has_more ? "%-9s" : "%s", "STATE");
	if (has_makes)
		fprintf(out, has_more ? "  %-11s" : "  %s", "SERVER");
	fputs(has_places ? "  CONTAINER" : targets->is_here ? "  COMMAND" : "", out);
	fputs(has_color ? TERMINAL_PLAIN "\n" : "\n", out);
	for (size_t i = 0; i < targets->n; i++)
		write_row(targets, &targets->v[i], has_makes, has_places, has_color, out);
}

/* --- places -------------------------------------------------------------------------------- */

void place_format(const struct program_place *p, int pid, char *out, size_t n)
{
	char pod[64] = "";
	char inside[32] = "";
	const char *name = p->name[0] ? p->name : p->id;
	int n_name = p->name[0] ? -1 : PROGRAM_WORD_ID_DIGITS;

	if (p->pod[0])
		snprintf(pod, sizeof pod, "%spod %s", *name ? ", " : "", p->pod);
	if (p->pid_inside && p->pid_inside != pid)
		snprintf(inside, sizeof inside, "%spid %d", *name || *pod ? ", " : "",
			p->pid_inside);
	snprintf(out, n, "%.*s%s%s", n_name, name, pod, inside);
}
