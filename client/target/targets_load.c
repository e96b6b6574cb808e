/* SPDX-License-Identifier: Apache-2.0 */
/* Finding targets: asks all servers for their status; see targets.h. */
#include "client/target/targets.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/grow.h"
#include "base/log.h"
#include "base/runtime_dir.h"
#include "base/stock_servers.h"
#include "client/process/clock.h"
#include "client/target/dial_unix.h"

/*
 * The time for QUESTIONS_MAX servers together. A server that is not stopped answers within a
 * millisecond, and within some 100 ms if many other processes want the processors.
 */
#define ANSWER_MS 1000
#define QUICK_ANSWER_MS 500
/* A quick search waits this long for servers that are stopped. */
#define STOPPED_ANSWER_MS 50
/*
 * The time for JAX's and TensorFlow's servers to answer. They answer within a millisecond, but
 * other listeners may not answer at all.
 */
#define STOCK_ANSWER_MS 200
/* A server listens milliseconds after it has bound its socket, even on a busy machine. */
#define MIN_DEAD_S 5
/* __SO_ACCEPTCON: the flag of a listening socket in /proc/net/unix. */
#define LISTENING 0x10000ul

/* --- questions ----------------------------------------------------------------------------- */

/* The number of questions at one time. Each has an open descriptor. */
#define QUESTIONS_MAX 256

struct status_question {
	char path[108]; /* the path of the server's socket */
	int fd; /* -1: closed */
	char text[STATUS_MAX_BYTES]; /* the bytes of the answer so far */
	size_t n_bytes;
	/* Set when the question has ended: */
	/* 0 or a negative errno; -ECONNREFUSED: the server is gone, but its socket is left. */
	int error;
	struct status status; /* its uid comes from the kernel */
};

struct questions {
	struct status_question *v;
	size_t n; /* at most QUESTIONS_MAX */
	size_t n_allocated;
};

#define QUESTIONS_INIT     \
	{                  \
		NULL, 0, 0 \
	}

static int questions_ask(struct questions *q, const char *path)
{
	struct status_question *one;

	if (grow(&q->v, &q->n_allocated, q->n + 1))
		return -ENOMEM;
	one = &q->v[q->n++];
	*one = (struct status_question){.fd = dial_path(path)};
	snprintf(one->path, sizeof one->path, "%s", path);
	if (one->fd < 0)
		one->error = one->fd;
	return 0;
}

static void end_question(struct status_question *one, int error)
{
	close(one->fd);
	one->fd = -1;
	one->error = error;
}

/*
 * Root asks other users' servers, too. A server could lie about its user, so the uid is
 * taken from the kernel.
 */
static int set_true_uid(int fd, struct status *status)
{
	struct ucred peer;
	socklen_t n = sizeof peer;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n))
		return -errno;
	/* A server that runs as root may serve a program that has changed its user since. */
	if (peer.uid != 0)
		status->uid = peer.uid;
	return 0;
}

static void read_answer(struct status_question *one)
{
	int r = status_parse(one->text, one->n_bytes, &one->status);

	end_question(one, r ? r : set_true_uid(one->fd, &one->status));
}

/* Reads what has arrived. The server closes the connection after its answer. */
static void read_some(struct status_question *one)
{
	ssize_t r = recv(
		one->fd, one->text + one->n_bytes, sizeof one->text - one->n_bytes, MSG_DONTWAIT);

	if (r < 0 && errno != EAGAIN && errno != EINTR)
		end_question(one, -errno);
	if (r < 0)
		return;
	one->n_bytes += (size_t)r;
	if (r == 0 || one->n_bytes == sizeof one->text)
		read_answer(one);
}

static bool is_any_open(const struct questions *q)
{
	for (size_t i = 0; i < q->n; i++)
		if (q->v[i].fd >= 0)
			return true;
	return false;
}

static void read_once(struct questions *q, int64_t left_ms)
{
	struct pollfd fds[QUESTIONS_MAX];

	for (size_t i = 0; i < q->n; i++)
		fds[i] = (struct pollfd){.fd = q->v[i].fd, .events = POLLIN};
	if (poll(fds, q->n, (int)left_ms) <= 0)
		return;
	for (size_t i = 0; i < q->n; i++)
		if (fds[i].revents)
			read_some(&q->v[i]);
}

static void questions_wait(struct questions *q, int answer_ms)
{
	int64_t end_ms = clock_monotonic_ms() + answer_ms;
	int64_t left_ms = answer_ms;

	while (is_any_open(q) && left_ms > 0) {
		read_once(q, left_ms);
		left_ms = end_ms - clock_monotonic_ms();
	}
}

static bool server_is_stopped(const struct status_question *one)
{
	struct ucred peer;
	socklen_t n = sizeof peer;

	return getsockopt(one->fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 &&
	       process_is_stopped(peer.pid);
}

static void questions_give_up(struct questions *q, bool only_stopped)
{
	for (size_t i = 0; i < q->n; i++)
		if (q->v[i].fd >= 0 && (!only_stopped || server_is_stopped(&q->v[i])))
			end_question(&q->v[i], -ETIMEDOUT);
}

static void questions_deinit(struct questions *q)
{
	for (size_t i = 0; i < q->n; i++)
		if (q->v[i].fd >= 0)
			close(q->v[i].fd);
	free(q->v);
	*q = (struct questions)QUESTIONS_INIT;
}

/* --- the search ---------------------------------------------------------------------------- */

/* One search for targets. */
struct target_search {
	struct targets *found;
	bool is_quick; /* the caller cannot wait for servers that are stopped */
	pid_t only; /* the only process whose servers are asked; 0: all are */
	const struct targets
		*known; /* its silent servers are not asked again; NULL: there are none */
	struct questions questions; /* the questions under way */
};

static int add_target(struct targets *t, const struct found_target *found)
{
	/* Two places may have one path, such as /run/user/UID/proftap. */
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->v[i].socket, found->socket) == 0)
			return 0;
	if (grow(&t->v, &t->n_allocated, t->n + 1))
		return -ENOMEM;
	t->v[t->n++] = *found;
	return 0;
}

/*
 * Removes the socket of a dead server. One that was just bound is kept: its server may not listen
 * yet, and would never be found again.
 */
static void remove_own_socket(const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_uid == geteuid() &&
		time(NULL) - st.st_mtime > MIN_DEAD_S)
		unlink(path);
}

/*
 * Sets the path of the socket PID.sock beside PID.status, which was asked. ask_dir()
 * has checked the length.
 */
static void set_socket(struct found_target *found, const char *path)
{
	int n = (int)(strlen(path) - strlen("status"));

	snprintf(found->socket, sizeof found->socket, "%.*ssock", n, path);
}

/* The socket's name begins with its target's pid. */
static int parse_pid(const char *path)
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

static int take_answer(struct target_search *s, const struct status_question *one)
{
	struct found_target found = {.status = one->status};
	int r = one->error;

	set_socket(&found, one->path);
	if (r == 0 && found.status.pid != parse_pid(one->path))
		r = -EPROTO;
	if (r == 0)
		return add_target(s->found, &found);
	log_debug(LOG_CLIENT, "%s: %s", one->path, errno_words(r));
	/* A stopped server accepts no more connections once its queue is full. */
	if (r == -ETIMEDOUT || r == -EAGAIN)
		return note_silent(s->found, parse_pid(one->path));
	if (r == -ECONNREFUSED) {
		remove_own_socket(one->path);
		remove_own_socket(found.socket);
	}
	return 0;
}

static int take_answers(struct target_search *s)
{
	int r = 0;

	if (s->is_quick) {
		questions_wait(&s->questions, STOPPED_ANSWER_MS);
		questions_give_up(&s->questions, true);
	}
	questions_wait(&s->questions, s->is_quick ? QUICK_ANSWER_MS : ANSWER_MS);
	questions_give_up(&s->questions, false);
	for (size_t i = 0; i < s->questions.n && r == 0; i++)
		r = take_answer(s, &s->questions.v[i]);
	questions_deinit(&s->questions);
	return r;
}

static int ask_server(struct target_search *s, const char *dir, long pid)
{
	char path[108];
	int r = 0;

	snprintf(path, sizeof path, "%s/%ld.status", dir, pid);
	if (s->questions.n == QUESTIONS_MAX)
		r = take_answers(s);
	return r ? r : questions_ask(&s->questions, path);
}

static bool search_wants(const struct target_search *s, long pid)
{
	for (size_t i = 0; s->known && i < s->known->n_silent; i++)
		if (s->known->silent[i] == pid)
			return false;
	return pid > 0 && pid <= INT32_MAX && (!s->only || pid == s->only);
}

static int ask_dir(struct target_search *s, const char *path, uid_t owner)
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

		if (search_wants(s, pid) && strcmp(end, ".status") == 0)
			r = ask_server(s, path, pid);
	}
	return r;
}

/* Asks the servers in the directories of other users, which match |pattern|. */
static int ask_dirs(struct target_search *s, const char *pattern)
{
	glob_t found;
	int r = 0;

	if (glob(pattern, 0, NULL, &found))
		return 0;
	for (size_t i = 0; i < found.gl_pathc && r == 0; i++) {
		struct stat st;

		if (lstat(found.gl_pathv[i], &st) == 0)
			r = ask_dir(s, found.gl_pathv[i], st.st_uid);
	}
	globfree(&found);
	return r;
}

static bool is_runtime_dir(const char *dir)
{
	char path[RUNTIME_DIR_MAX_BYTES];

	for (unsigned i = 0; i < RUNTIME_DIR_PLACES; i++)
		if (runtime_dir_get(i, path) == 0 && strcmp(path, dir) == 0)
			return true;
	return false;
}

/*
 * |line| is a line of /proc/net/unix. Asks the listener "/DIR/PID.status", unless its
 * directory is searched anyway.
 */
static int ask_listener(struct target_search *s, char *line)
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
		(s->only && pid != s->only) || strlen(path) >= RUNTIME_DIR_MAX_BYTES ||
		is_runtime_dir(path) || runtime_dir_check(path, geteuid()))
		return 0;
	return ask_server(s, path, pid);
}

/*
 * A session by ssh often has no XDG_RUNTIME_DIR, and the programs may have been started with any
 * value. The kernel knows where they listen. If the variable is set here, its value is searched
 * instead of the kernel's list.
 */
static int ask_listeners(struct target_search *s)
{
	const char *chosen = getenv("XDG_RUNTIME_DIR");
	FILE *f = chosen && *chosen ? NULL : fopen("/proc/net/unix", "re");
	_cleanup_free_ char *line = NULL;
	size_t size = 0;
	int r = 0;

	while (f && r == 0 && getline(&line, &size, f) > 0)
		r = ask_listener(s, line);
	if (f)
		fclose(f);
	return r;
}

static int compare_targets(const void *a, const void *b)
{
	const struct found_target *x = a;
	const struct found_target *y = b;

	if (x->status.pid != y->status.pid)
		return x->status.pid < y->status.pid ? -1 : 1;
	/* The servers of one program are adjacent. proftap's is first, because it knows more. */
	return (x->status.make[0] != '\0') - (y->status.make[0] != '\0');
}

static int compare_pids(const void *a, const void *b)
{
	const pid_t *x = a;
	const pid_t *y = b;

	return (*x > *y) - (*x < *y);
}

static void sort_targets(struct targets *t)
{
	if (t->n)
		qsort(t->v, t->n, sizeof *t->v, compare_targets);
	if (t->n_silent)
		qsort(t->silent, t->n_silent, sizeof *t->silent, compare_pids);
}

/* Adds a server of JAX's or TensorFlow's make, which has no private socket. */
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

/* If the kernel does not report the listeners, finds none, which is no failure. */
static int find_stock(struct target_search *s)
{
	struct stock_servers stock = STOCK_SERVERS_INIT;
	int r = 0;

	if (stock_servers_find(&stock, s->only, STOCK_ANSWER_MS) == 0)
		for (size_t i = 0; i < stock.n && r == 0; i++)
			r = add_stock(s->found, &stock.v[i]);
	stock_servers_deinit(&stock);
	return r;
}

static int load_announced(struct target_search *s)
{
	char path[RUNTIME_DIR_MAX_BYTES];
	int r = 0;

	for (unsigned i = 0; i < RUNTIME_DIR_PLACES && r == 0; i++)
		if (runtime_dir_get(i, path) == 0)
			r = ask_dir(s, path, geteuid());
	if (r == 0)
		r = ask_listeners(s);
	if (r == 0 && geteuid() == 0)
		r = ask_dirs(s, "/run/user/*/proftap");
	if (r == 0 && geteuid() == 0)
		r = ask_dirs(s, "/tmp/proftap-*");
	if (r == 0)
		r = take_answers(s);
	questions_deinit(&s->questions);
	return r;
}

/* Makes |t| the result of a search that is prepared but for |found|. 0 or -ENOMEM. */
static int load_targets(struct targets *t, struct target_search s, bool has_stock)
{
	int r;

	*t = (struct targets){.is_here = true};
	s.found = t;
	r = load_announced(&s);
	if (r == 0 && has_stock)
		r = find_stock(&s);
	if (r)
		targets_deinit(t);
	else
		sort_targets(t);
	return r;
}

int targets_load(struct targets *t)
{
	return load_targets(t, (struct target_search){.only = 0}, true);
}

int targets_load_pid(struct targets *t, pid_t pid)
{
	return load_targets(t, (struct target_search){.only = pid}, true);
}

int targets_load_quickly(struct targets *t)
{
	return load_targets(t, (struct target_search){.is_quick = true}, true);
}

int targets_load_again(struct targets *t, const struct targets *known, bool has_stock)
{
	return load_targets(t, (struct target_search){.is_quick = true, .known = known}, has_stock);
}

void targets_deinit(struct targets *t)
{
	free(t->v);
	free(t->silent);
	*t = (struct targets)TARGETS_INIT;
}
