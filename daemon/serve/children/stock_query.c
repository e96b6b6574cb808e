/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiler servers of other users; see stock_query.h. The answer is a line for each socket whose
 * process may be a profiler server: "INODE PID HAS_ANSWERED IS_ONE SINCE_NS ADDRESS MAKE NAME",
 * with "-" for no address.
 */
#include "daemon/serve/children/stock_query.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/printable.h"
#include "base/stock_servers.h"
#include "daemon/kernel/identity.h"
#include "daemon/kernel/passed_fd.h"
#include "daemon/serve/children/starter.h"

/* Time limit of the answers from the servers of one user. */
#define ANSWER_MS 500
/* Time limit of the queries of all users together. */
#define WAIT_MS 4000
#define MAX_ANSWER_BYTES 65536
/*
 * Pairs of a user and a group: a process may see another one's sockets only when both are the same.
 */
#define MAX_PAIRS 64

/* --- the starter's side -------------------------------------------------------------------- */

struct pairs {
	struct identity v[MAX_PAIRS];
	size_t n;
};

static bool message_has_user(const char *message, size_t n, uid_t uid)
{
	uint32_t wanted;

	for (size_t at = 1; uid && at + sizeof wanted <= n; at += sizeof wanted) {
		memcpy(&wanted, message + at, sizeof wanted);
		if (wanted == uid)
			return true;
	}
	return false;
}

/* Leaves out supplementary groups, because they give no access to the processes of others. */
static void add_pair(struct pairs *p, const struct identity *i)
{
	for (size_t k = 0; k < p->n; k++)
		if (p->v[k].uid == i->uid && p->v[k].gid == i->gid)
			return;
	if (p->n < MAX_PAIRS)
		p->v[p->n++] = (struct identity){.uid = i->uid, .gid = i->gid};
}

/* Finds the user and group pairs of the present processes of the users in |message|. */
static void find_pairs(struct pairs *p, const char *message, size_t n)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		struct identity i;

		if (isdigit((unsigned char)entry->d_name[0]) &&
			!identity_find("", (pid_t)atoi(entry->d_name), &i) &&
			message_has_user(message, n, i.uid))
			add_pair(p, &i);
	}
	if (dir)
		closedir(dir);
}

static void write_found(const struct stock_server *one, FILE *out)
{
	fprintf(out, "%" PRIu64 " %d %d %d %" PRId64 " %s %s %s\n", one->inode, (int)one->pid,
		one->has_answered, one->is_one, one->since_ns, one->is_one ? one->address : "-",
		one->make, one->name);
}

static void query_as_user(const struct identity *i, int out)
{
	struct stock_servers found = STOCK_SERVERS_INIT;
	FILE *f = identity_assume(i) ? NULL : fdopen(out, "we");

	if (!f || stock_servers_list(&found, 0))
		return;
	stock_servers_identify(&found, 0);
	stock_servers_ask(&found, ANSWER_MS);
	for (size_t k = 0; k < found.n; k++)
		if (found.v[k].pid)
			write_found(&found.v[k], f);
	fflush(f);
}

void stock_query_serve(const char *message, size_t n, int out)
{
	static struct pairs pairs;

	/*
	 * The processes that search for servers run as other users, so they must not inherit the
	 * starter's files.
	 */
	out = dup2(out, STDIN_FILENO);
	if (out < 0 || close_range(STDERR_FILENO + 1, ~0U, 0))
		return;
	prctl(PR_SET_NAME, "proftapd-query");
	find_pairs(&pairs, message, n);
	for (size_t i = 0; i < pairs.n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			query_as_user(&pairs.v[i], out);
			_exit(0);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
}

/* --- the daemon's side --------------------------------------------------------------------- */

/* Writes STOCK_QUERY_WORD and the uid of each other user once. Returns the message's length. */
static size_t write_message(const struct stock_servers *s, char *message)
{
	size_t n = 1;

	message[0] = STOCK_QUERY_WORD;
	for (size_t i = 0; i < s->n; i++) {
		uint32_t uid = s->v[i].uid;

		if (!uid || uid == geteuid() || message_has_user(message, n, uid) ||
			n == STOCK_QUERY_MAX_BYTES)
			continue;
		memcpy(message + n, &uid, sizeof uid);
		n += sizeof uid;
	}
	return n;
}

/*
 * Reads the answer to its end, and returns the number of bytes. Bytes that come too late or do not
 * fit are left out.
 */
static size_t answer_read(int from, char *to, size_t size)
{
	int64_t end_ns = monotonic_ns() + WAIT_MS * NS_PER_MS;
	size_t n = 0;

	for (;;) {
		struct pollfd waited = {.fd = from, .events = POLLIN};
		int64_t left_ms = (end_ns - monotonic_ns()) / NS_PER_MS;
		ssize_t length;

		if (left_ms <= 0 || poll(&waited, 1, (int)left_ms) <= 0)
			return n;
		length = read(from, to + n, size - n);
		if (length <= 0)
			return n;
		n += (size_t)length;
	}
}

/* Finds the socket of another user; this user's own sockets have a pid already. */
static struct stock_server *find_socket(struct stock_servers *s, uint64_t inode)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].inode == inode && !s->v[i].pid)
			return &s->v[i];
	return NULL;
}

static void answer_take_line(struct stock_servers *s, const char *line)
{
	struct stock_server read = {.pid = 0};
	struct stock_server *one;
	int answered;
	int single;
	int pid;

	_Static_assert(
		sizeof read.address == 16 && sizeof read.make == 16 && sizeof read.name == 64,
		"the widths below");
	if (sscanf(line, "%" SCNu64 " %d %d %d %" SCNd64 " %15s %15s %63[^\n]", &read.inode, &pid,
		    &answered, &single, &read.since_ns, read.address, read.make, read.name) != 8)
		return;
	one = find_socket(s, read.inode);
	if (!one || pid <= 0)
		return;
	printable_clean(read.name);
	one->pid = (pid_t)pid;
	one->has_answered = answered != 0;
	one->is_one = single && read.address[0] != '-';
	one->since_ns = read.since_ns;
	memcpy(one->address, read.address, sizeof one->address);
	memcpy(one->make, read.make, sizeof one->make);
	memcpy(one->name, read.name, sizeof one->name);
}

static void answer_take(struct stock_servers *s, char *answer)
{
	char *rest = answer;
	char *line;

	while ((line = strsep(&rest, "\n")))
		answer_take_line(s, line);
}

void stock_query_ask(struct starter *starter, struct stock_servers *s)
{
	_cleanup_free_ char *answer = malloc(MAX_ANSWER_BYTES);
	char message[STOCK_QUERY_MAX_BYTES];
	size_t n = write_message(s, message);
	int ends[2];
	int r;

	if (!answer || !starter->may_become_others || n == 1 || pipe2(ends, O_CLOEXEC))
		return;
	r = passed_fd_send(starter->socket, message, n, ends[1]);
	close(ends[1]);
	if (!r) {
		answer[answer_read(ends[0], answer, MAX_ANSWER_BYTES - 1)] = '\0';
		answer_take(s, answer);
	}
	close(ends[0]);
}
