/* SPDX-License-Identifier: Apache-2.0 */
/* Finding targets; see targets.h. */
#include "client/target/targets.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <glob.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/grow.h"
#include "base/log.h"
#include "base/program_word.h"
#include "base/runtime_dir.h"
#include "base/stock_servers.h"
#include "base/utf8.h"
#include "client/process/terminal.h"
#include "client/target/command_line.h"

/* A server answers within a millisecond, unless it is stopped. For all of them. */
#define ANSWER_MS 1000
#define QUICK_ANSWER_MS 50
/*
 * How long JAX's and TensorFlow's servers get to answer. They answer within a millisecond, but
 * other listeners may say nothing.
 */
#define STOCK_ANSWER_MS 200
/* Of those that do not answer. */
#define MAX_SILENT_SAID 8
/* __SO_ACCEPTCON, as /proc/net/unix shows it: of a socket that listens. */
#define LISTENING 0x10000ul
/* Bytes of a command line in the table. A narrow terminal does not make it shorter than the minimum. */
#define MAX_COMMAND_BYTES 256
#define MIN_COMMAND_BYTES 40

static int add(struct targets *t, const struct found_target *found)
{
	/* The same directory may be reached by two ways. */
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->v[i].socket, found->socket) == 0)
			return 0;
	if (grow(&t->v, &t->n_allocated, t->n + 1))
		return -ENOMEM;
	t->v[t->n++] = *found;
	return 0;
}

static void remove_if_ours(const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_uid == geteuid())
		unlink(path);
}

/* The socket |name|.sock, beside the one that was asked; its length is checked with the directory's. */
static void set_socket(struct found_target *found, const char *path)
{
	int n = (int)(strlen(path) - strlen("status"));

	snprintf(found->socket, sizeof found->socket, "%.*ssock", n, path);
}

/* The file's name is its target's pid: a server made it. */
static int read_pid(const char *path)
{
	return atoi(strrchr(path, '/') + 1);
}

static int note_silent(struct targets *t, pid_t pid)
{
	if (grow(&t->silent, &t->n_silent_allocated, t->n_silent + 1))
		return -ENOMEM;
	t->silent[t->n_silent++] = pid;
	return 0;
}

static int take(struct targets *t, const struct question *one)
{
	struct found_target found = {.status = one->status};
	int r = one->error;

	set_socket(&found, one->path);
	if (r == 0 && found.status.pid != read_pid(one->path))
		r = -EPROTO;
	if (r == 0)
		return add(t, &found);
	log_debug(LOG_CLIENT, "%s: %s", one->path, errno_words(r));
	/* One that is stopped takes no more connections once its queue is full. */
	if (r == -ETIMEDOUT || r == -EAGAIN)
		return note_silent(t, read_pid(one->path));
	if (r == -ECONNREFUSED) {
		remove_if_ours(one->path);
		remove_if_ours(found.socket);
	}
	return 0;
}

static int take_answers(struct targets *t)
{
	int r = 0;

	questions_wait(&t->questions, t->answer_ms);
	for (size_t i = 0; i < t->questions.n && r == 0; i++)
		r = take(t, &t->questions.v[i]);
	questions_deinit(&t->questions);
	return r;
}

static int look_at(struct targets *t, const char *dir, long pid)
{
	char path[108];
	int r = 0;

	snprintf(path, sizeof path, "%s/%ld.status", dir, pid);
	if (t->questions.n == QUESTIONS_MAX)
		r = take_answers(t);
	return r ? r : questions_ask(&t->questions, path);
}

static int look_into(struct targets *t, const char *path, uid_t owner)
{
	_cleanup_closedir_ DIR *dir = NULL;
	struct dirent *entry;
	int r = 0;

	if (strlen(path) >= RUNTIME_DIR_MAX_BYTES || runtime_dir_check(path, owner))
		return 0;
	dir = opendir(path);
	while (dir && r == 0 && (entry = readdir(dir))) {
		char *end;
		long pid = strtol(entry->d_name, &end, 10);

		if (pid > 0 && pid <= INT32_MAX && strcmp(end, ".status") == 0 &&
			(!t->only || pid == t->only))
			r = look_at(t, path, pid);
	}
	return r;
}

/* Those of other users, whose names end with their uid or hold it. */
static int look_into_all(struct targets *t, const char *pattern)
{
	glob_t found;
	int r = 0;

	if (glob(pattern, 0, NULL, &found))
		return 0;
	for (size_t i = 0; i < found.gl_pathc && r == 0; i++) {
		struct stat st;

		if (lstat(found.gl_pathv[i], &st) == 0)
			r = look_into(t, found.gl_pathv[i], st.st_uid);
	}
	globfree(&found);
	return r;
}

static bool is_looked_into(const char *dir)
{
	char path[RUNTIME_DIR_MAX_BYTES];

	for (unsigned i = 0; i < RUNTIME_DIR_PLACES; i++)
		if (runtime_dir_get(i, path) == 0 && strcmp(path, dir) == 0)
			return true;
	return false;
}

/* A line of /proc/net/unix: looks at a listener "/DIR/PID.status" whose directory is none of the places. */
static int look_at_listener(struct targets *t, char *line)
{
	unsigned long flags = 0;
	char *path = strchr(line, '/');
	char *slash = strrchr(line, '/');
	char *end;
	long pid;

	if (!path || sscanf(line, "%*s %*s %*s %lx", &flags) != 1 || !(flags & LISTENING))
		return 0;
	*slash = '\0';
	pid = strtol(slash + 1, &end, 10);
	if (pid <= 0 || pid > INT32_MAX || strcmp(end, ".status\n") != 0 ||
		(t->only && pid != t->only) || strlen(path) >= RUNTIME_DIR_MAX_BYTES ||
		is_looked_into(path) || runtime_dir_check(path, geteuid()))
		return 0;
	return look_at(t, path, pid);
}

/*
 * A session by ssh often has no XDG_RUNTIME_DIR, and the programs may have been started with any. The kernel knows where they
 * listen. Who sets it says where to look.
 */
static int look_at_listeners(struct targets *t)
{
	const char *said = getenv("XDG_RUNTIME_DIR");
	FILE *f = said && *said ? NULL : fopen("/proc/net/unix", "re");
	_cleanup_free_ char *line = NULL;
	size_t size = 0;
	int r = 0;

	while (f && r == 0 && getline(&line, &size, f) > 0)
		r = look_at_listener(t, line);
	if (f)
		fclose(f);
	return r;
}

static int compare(const void *a, const void *b)
{
	const struct found_target *x = a;
	const struct found_target *y = b;

	if (x->status.pid != y->status.pid)
		return x->status.pid < y->status.pid ? -1 : 1;
	/* The servers of one program stand together, ours first, because it knows more. */
	return (x->status.make[0] != '\0') - (y->status.make[0] != '\0');
}

static int compare_pids(const void *a, const void *b)
{
	const pid_t *x = a;
	const pid_t *y = b;

	return (*x > *y) - (*x < *y);
}

static void sort(struct targets *t)
{
	if (t->n)
		qsort(t->v, t->n, sizeof *t->v, compare);
	if (t->n_silent)
		qsort(t->silent, t->n_silent, sizeof *t->silent, compare_pids);
}

/* Servers of another make, which have no private socket. */
static int add_stock(struct targets *t, const struct stock_server *one)
{
	struct found_target found = {.status = {
					     .pid = one->pid,
					     .uid = one->uid,
					     .port = one->port,
					     .since_ns = one->since_ns,
					     .is_stopped = one->is_presumed,
				     }};

	snprintf(found.status.name, sizeof found.status.name, "%s", one->name);
	snprintf(found.status.make, sizeof found.status.make, "%s", one->make);
	snprintf(found.status.address, sizeof found.status.address, "%s", one->address);
	if (grow(&t->v, &t->n_allocated, t->n + 1))
		return -ENOMEM;
	t->v[t->n++] = found;
	return 0;
}

/* A kernel that does not tell who listens is no failure. */
static int find_stock(struct targets *t)
{
	struct stock_servers stock = STOCK_SERVERS_INIT;
	int r = 0;

	if (stock_servers_find(&stock, t->only,
		    t->answer_ms < STOCK_ANSWER_MS ? t->answer_ms : STOCK_ANSWER_MS) == 0)
		for (size_t i = 0; i < stock.n && r == 0; i++)
			r = add_stock(t, &stock.v[i]);
	stock_servers_deinit(&stock);
	return r;
}

static int load_announced(struct targets *t, int answer_ms, pid_t only)
{
	char path[RUNTIME_DIR_MAX_BYTES];
	int r = 0;

	*t = (struct targets){.answer_ms = answer_ms, .only = only, .is_here = true};
	for (unsigned i = 0; i < RUNTIME_DIR_PLACES && r == 0; i++)
		if (runtime_dir_get(i, path) == 0)
			r = look_into(t, path, geteuid());
	if (r == 0)
		r = look_at_listeners(t);
	if (r == 0 && geteuid() == 0)
		r = look_into_all(t, "/run/user/*/proftap");
	if (r == 0 && geteuid() == 0)
		r = look_into_all(t, "/tmp/proftap-*");
	if (r == 0)
		r = take_answers(t);
	if (r)
		targets_deinit(t);
	else
		sort(t);
	return r;
}

static int load(struct targets *t, int answer_ms, pid_t only)
{
	int r = load_announced(t, answer_ms, only);

	if (r)
		return r;
	r = find_stock(t);
	if (r)
		targets_deinit(t);
	else
		sort(t);
	return r;
}

int targets_load_announced(struct targets *t)
{
	return load_announced(t, QUICK_ANSWER_MS, 0);
}

int targets_load(struct targets *t)
{
	return load(t, ANSWER_MS, 0);
}

int targets_load_pid(struct targets *t, pid_t pid)
{
	return load(t, ANSWER_MS, pid);
}

int targets_load_quickly(struct targets *t)
{
	return load(t, QUICK_ANSWER_MS, 0);
}

void targets_deinit(struct targets *t)
{
	questions_deinit(&t->questions);
	free(t->v);
	free(t->silent);
	*t = (struct targets)TARGETS_INIT;
}

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

/* Whether it runs the file at |path|, by whatever name. */
static bool runs(const struct found_target *t, const char *path)
{
	char link[32];
	struct stat its;
	struct stat meant;

	snprintf(link, sizeof link, "/proc/%d/exe", t->status.pid);
	return !t->status.has_ended && stat(link, &its) == 0 && stat(path, &meant) == 0 &&
	       its.st_dev == meant.st_dev && its.st_ino == meant.st_ino;
}

static bool is_called(const struct found_target *t, const char *word)
{
	const struct program_traits traits = {
		.name = t->status.name, .has_ended = t->status.has_ended};

	return strchr(word, '/') ? runs(t, word) : program_word_means_name(word, &traits);
}

/* A program of that name has ended, and what its recorder held is still there. */
static const struct found_target *find_dead(const struct targets *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].status.has_ended && strcmp(t->v[i].status.name, name) == 0)
			return &t->v[i];
	return NULL;
}

/* When a program with a server of another make was started is known to a tick of the clock only. */
bool targets_have(const struct targets *t, const struct found_target *one)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].status.pid == one->status.pid &&
			t->v[i].status.port == one->status.port &&
			(t->v[i].status.make[0] || t->v[i].status.since_ns == one->status.since_ns))
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
			"%.64s" PROGRAM_WORD_DEAD " takes what was recorded of it",
			word, dead->status.pid, word);
	targets_describe_silent(t, silent, sizeof silent);
	if (*silent)
		return diag_set(
			d, -ENOENT, "%.64s: no target of that name answers; %s", word, silent);
	if (t->n == 0)
		return diag_set(d, -ENOENT,
			"%.64s: no target of that name: no program of this user has a server; start one "
			"with ptap_server_start() or proftap run -p PORT -- PROGRAM",
			word);
	return diag_set(d, -ENOENT,
		"%.64s: no target of that name among %zu; proftap list shows them", word, t->n);
}

/* One program may have a server of ours and one of another make beside it: then its name and pid mean ours. */
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
		/* A pid and a blank more must leave room for the mark. */
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
		/* Two servers of one program, both JAX's or TensorFlow's. */
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

/* The table. */

void targets_format_user(unsigned uid, char *out, size_t n)
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

void targets_find_command(const struct targets *t, const struct found_target *one,
	char out[static TARGETS_COMMAND_BYTES])
{
	out[0] = '\0';
	/* The pid of a program that has ended may be another process's by now. */
	if (t->is_here && !one->status.has_ended)
		command_line_show(one->status.pid, out, TARGETS_COMMAND_BYTES);
}

/* Writes as much as the terminal has room for behind |used| columns. */
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

/* The last columns are there where somebody has something in them. */
static void write_row(const struct targets *targets, const struct found_target *t, bool has_makes,
	bool has_places, FILE *out)
{
	const struct status *s = &t->status;
	bool has_more = has_places || targets->is_here;
	char door[128];
	char user[64];
	char since[32];
	char place[256];
	char state[32];
	int n;

	format_door(t, door, sizeof door);
	targets_format_user(s->uid, user, sizeof user);
	format_since(s->since_ns, since, sizeof since);
	place_format(&t->place, s->pid, place, sizeof place);
	snprintf(state, sizeof state, "%s%s", status_name_state(s),
		s->is_stopped ? ", stopped" : "");
	n = fprintf(out, "%8d  %-20s %-21s %-12s %-16s ", s->pid, s->name, door, user, since);
	n += fprintf(out, has_makes || has_more ? "%-9s" : "%s", state);
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

	fprintf(out, "%8s  %-20s %-21s %-12s %-16s ", "PID", "NAME", "PORT", "USER", "SINCE");
	fprintf(out, has_makes || has_more ? "%-9s" : "%s", "STATE");
	if (has_makes)
		fprintf(out, has_more ? "  %-11s" : "  %s", "SERVER");
	fputs(has_places ? "  CONTAINER\n" : targets->is_here ? "  COMMAND\n" : "\n", out);
	for (size_t i = 0; i < targets->n; i++)
		write_row(targets, &targets->v[i], has_makes, has_places, out);
}
