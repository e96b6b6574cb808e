/* SPDX-License-Identifier: Apache-2.0 */
/* Locating targets; see locate.h. */
#include "client/target/locate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/grow.h"
#include "base/stock_servers.h"
#include "client/process/clock.h"
#include "client/process/interrupt.h"
#include "client/target/address.h"
#include "client/target/command_line.h"
#include "client/target/targets.h"

/* The pause between two searches for a new program. */
#define NEXT_TURN_MS 20

static void set_address(struct address *a, const struct found_target *t)
{
	snprintf(a->path, sizeof a->path, "%s", t->socket);
	a->port = 0;
	/* A server of another make has only a port. */
	if (!t->socket[0]) {
		snprintf(a->host, sizeof a->host, "%s", t->status.address);
		a->port = (uint16_t)t->status.port;
		a->lookup[0] = '\0';
		a->is_bare = false;
	}
	address_format(a);
}

/* Returns the pid; 0: |lookup| is a name. */
static pid_t read_pid(const char *lookup)
{
	char *end;
	long pid = strtol(lookup, &end, 10);

	return *end ? 0 : (pid_t)pid;
}

/* Reads the name of a process ("" if there is none) and its user. */
static void read_process(pid_t pid, char *name, size_t n, uid_t *uid)
{
	char path[32];
	struct stat st;
	FILE *f;

	name[0] = '\0';
	snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
	f = fopen(path, "re");
	if (f && fgets(name, (int)n, f))
		name[strcspn(name, "\n")] = '\0';
	*uid = f && fstat(fileno(f), &st) == 0 ? st.st_uid : geteuid();
	if (f)
		fclose(f);
}

static int explain_pid(const struct targets *targets, pid_t pid, struct diag *d)
{
	char silent[256];
	char name[64];
	uid_t uid;

	read_process(pid, name, sizeof name, &uid);
	targets_describe_silent(targets, silent, sizeof silent);
	if (*silent)
		return diag_set(d, -ENOENT, "%s", silent);
	if (!*name)
		return diag_set(d, -ESRCH,
			"pid %d: no such process; the data of a program that died is kept for five minutes, "
			"or until it is fetched",
			(int)pid);
	if (geteuid() != 0 && uid != geteuid())
		return diag_set(d, -ENOENT,
			"pid %d (%s): another user's process: only that user and root may record it",
			(int)pid, name);
	return diag_set(d, -ENOENT,
		"pid %d (%s): that process has no server; proftap doctor %d explains how to start "
		"one, proftap list shows the processes with servers",
		(int)pid, name, (int)pid);
}

/*
 * A server of another make is stopped when its program is. proftap's server is a process of
 * its own and continues.
 */
static bool is_stopped_stock(const struct found_target *t)
{
	return t->status.make[0] && t->status.is_stopped;
}

static int set_found(struct address *a, const struct found_target *t, struct diag *d)
{
	if (is_stopped_stock(t))
		return diag_set(d, -ENOENT,
			"pid %d (%s): that program is stopped, and its profiler server with it; kill "
			"-CONT %d lets them go on",
			t->status.pid, t->status.name, t->status.pid);
	set_address(a, t);
	return 0;
}

/* Adds to |d| the user's command line with the first target's pid in place of |word|. */
static void add_example(const struct targets *targets, const char *word, struct diag *d)
{
	const struct diag why = *d;
	char command[256];
	char pid[16];

	snprintf(pid, sizeof pid, "%d", targets->v[0].status.pid);
	if (command_line_replace(word, pid, command, sizeof command))
		diag_set(d, why.code, "%s, as in %s", why.text, command);
}

/* If several programs have the name, writes a table of them to standard error. */
static const struct found_target *find_name(
	struct targets *targets, const struct address *a, struct diag *d)
{
	const struct found_target *t = targets_find_name(targets, a->lookup, d);
	const struct found_target *newest = NULL;

	if (t || d->code != -EINVAL)
		return t;
	targets_keep_named(targets, a->lookup);
	for (size_t i = 0; i < targets->n; i++)
		if (!newest || targets->v[i].status.since_ns > newest->status.since_ns)
			newest = &targets->v[i];
	if (a->is_newest)
		return newest;
	targets_write(targets, stderr);
	add_example(targets, a->lookup, d);
	return NULL;
}

static const struct found_target *find_target(
	struct targets *targets, const struct address *a, struct diag *d)
{
	const struct found_target *t;
	pid_t pid = read_pid(a->lookup);

	if (!pid)
		return find_name(targets, a, d);
	t = targets_find_pid(targets, pid);
	if (!t)
		explain_pid(targets, pid, d);
	return t;
}

int locate(struct address *a, struct diag *d)
{
	struct targets targets;
	const struct found_target *t;
	struct diag why = DIAG_INIT;
	int r;

	if (!a->lookup[0] || a->path[0])
		return 0;
	r = targets_load_pid(&targets, read_pid(a->lookup));
	if (r)
		return diag_set(d, r, "%s: out of memory", a->text);
	t = find_target(&targets, a, &why);
	if (t)
		r = set_found(a, t, d);
	else
		r = diag_set(d, why.code, "%s", why.text);
	targets_deinit(&targets);
	return r;
}

int locate_port_as_pid(struct address *a, struct diag *d)
{
	const struct found_target *t;
	struct targets targets;
	struct diag why = DIAG_INIT;
	int r = -ECONNREFUSED;

	if (!a->is_bare || targets_load_pid(&targets, a->port))
		return r;
	t = targets_find_pid(&targets, a->port);
	if (t) {
		r = set_found(a, t, d);
	} else if (explain_pid(&targets, a->port, &why) != -ESRCH) {
		diag_set(d, r, "%s: connection refused: no profiler server there; and %.400s",
			a->text, why.text);
	}
	targets_deinit(&targets);
	return r;
}

/* Finds the program with the pid |number|, unless its server listens on the port |number|. */
static const struct found_target *find_other(const struct targets *targets, uint16_t number)
{
	for (size_t i = 0; i < targets->n; i++)
		if (targets->v[i].status.pid == number && targets->v[i].status.port == number)
			return NULL;
	return targets_find_pid(targets, number);
}

void locate_warn_of_pid(struct address *a)
{
	const struct found_target *other;
	struct targets targets;

	if (!a->is_bare || a->path[0] || targets_load_pid(&targets, a->port))
		return;
	a->is_bare = false;
	other = find_other(&targets, a->port);
	if (other) {
		struct address pid = *a;

		set_address(&pid, other);
		fprintf(stderr,
			"%u: taken as the port; it is also the pid of a program with a server (%s): for "
			"that program write %s; for the port, without this message, write %s\n",
			a->port, other->status.name, pid.text, a->text);
	}
	targets_deinit(&targets);
}

/*
 * The number of full searches after a new listener has appeared: a server that has just begun to
 * listen may answer late.
 */
#define STOCK_SEARCHES 25

/*
 * Programs with servers of another make announce nothing, so all listeners would have to be asked
 * at each search. They are asked only after a new listener has appeared.
 */
struct stock_watch {
	struct stock_servers listening; /* the listeners at the last search */
	int n_searches; /* the number of full searches to come */
};

static void watch_stock(struct stock_watch *w)
{
	struct stock_servers now = STOCK_SERVERS_INIT;

	w->n_searches -= w->n_searches > 0;
	if (stock_servers_list(&now, 0) == 0)
		for (size_t i = 0; i < now.n; i++) {
			bool is_known = false;

			for (size_t j = 0; j < w->listening.n && !is_known; j++)
				is_known = w->listening.v[j].inode == now.v[i].inode;
			w->n_searches = is_known ? w->n_searches : STOCK_SEARCHES;
		}
	stock_servers_deinit(&w->listening);
	w->listening = now;
}

/* Searches once. Returns whether it found the program. */
static bool find_new(const struct targets *before, struct stock_watch *watch, const char *pattern,
	struct address *out)
{
	struct targets now;
	bool is_found = false;

	watch_stock(watch);
	if (targets_load_again(&now, before, watch->n_searches > 0))
		return false;
	for (size_t i = 0; i < now.n && !is_found; i++) {
		if (targets_contain(before, &now.v[i]) || is_stopped_stock(&now.v[i]) ||
			!targets_match(&now.v[i], pattern))
			continue;
		set_address(out, &now.v[i]);
		is_found = true;
	}
	targets_deinit(&now);
	return is_found;
}

int locate_next(const char *pattern, int64_t wait_ms, struct address *out, struct diag *d)
{
	int64_t end_ms = wait_ms < 0 ? INT64_MAX : clock_monotonic_ms() + wait_ms;
	struct stock_watch watch = {STOCK_SERVERS_INIT, 0};
	struct targets before;
	int r;

	/* The listeners are listed first, so that no program is missed between the two calls. */
	stock_servers_list(&watch.listening, 0);
	r = targets_load_quickly(&before);
	if (r)
		return diag_set(d, r, "--next %.200s: out of memory", pattern);
	while (!r && !find_new(&before, &watch, pattern, out)) {
		interrupt_poll(NULL, NEXT_TURN_MS);
		if (interrupt_get_count() > 0)
			r = diag_set(d, -EINTR, "--next %.200s: interrupted", pattern);
		else if (clock_monotonic_ms() >= end_ms)
			r = diag_set(d, -ETIMEDOUT,
				"--next %.200s: no program that matches has started a server within "
				"%lld s",
				pattern, (long long)(wait_ms / 1000));
	}
	stock_servers_deinit(&watch.listening);
	targets_deinit(&before);
	return r;
}

struct expansion {
	struct address *v;
	size_t n;
	size_t n_allocated;
};

/* Adds a copy of |like|. If |t| is not NULL, the copy gets the address of that program. */
static int add_address(
	struct expansion *e, const struct address *like, const struct found_target *t)
{
	if (grow(&e->v, &e->n_allocated, e->n + 1))
		return -ENOMEM;
	e->v[e->n] = *like;
	if (t) {
		snprintf(e->v[e->n].lookup, sizeof like->lookup, "%d", t->status.pid);
		set_address(&e->v[e->n], t);
	}
	e->n++;
	return 0;
}

static int add_named(struct expansion *e, const struct address *a, struct diag *d)
{
	struct targets targets;
	struct diag why = DIAG_INIT;
	int r = targets_load(&targets);

	if (r)
		return r;
	if (!targets_find_name(&targets, a->lookup, &why) && why.code != -EINVAL)
		r = diag_set(d, why.code, "%s", why.text);
	targets_keep_named(&targets, a->lookup);
	for (size_t i = 0; i < targets.n && !r; i++)
		r = add_address(e, a, &targets.v[i]);
	targets_deinit(&targets);
	return r;
}

int locate_all(struct address **v, size_t *n, struct diag *d)
{
	struct expansion e = {NULL, 0, 0};
	int r = 0;

	for (size_t i = 0; i < *n && !r; i++) {
		const struct address *a = &(*v)[i];
		bool is_name = a->lookup[0] && !a->path[0] && !read_pid(a->lookup);

		r = is_name ? add_named(&e, a, d) : add_address(&e, a, NULL);
	}
	if (r == -ENOMEM)
		diag_set(d, r, "the list of targets: out of memory");
	if (r) {
		free(e.v);
		return r;
	}
	free(*v);
	*v = e.v;
	*n = e.n;
	return 0;
}
