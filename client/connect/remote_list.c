/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of programs on other machines; see remote_list.h. */
#include "client/connect/remote_list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/grow.h"
#include "base/program_word.h"
#include "client/connect/ssh.h"
#include "client/process/exit.h"
#include "client/target/address.h"

#define MAX_BYTES ((size_t)1 << 20)
#define SINCE_BYTES 17 /* the width of the column SINCE with the blank behind it */
/* The exit statuses of ssh when it fails itself, and of a shell that does not find the command. */
#define STATUS_SSH 255
#define STATUS_NOT_FOUND 127
/* The child's exit status where ssh is not installed. */
#define STATUS_NO_SSH 253

/* Runs in the child, between fork and exec. */
static void become_ssh(const char *destination, const char *command, int out_fd)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	const char *const argv[] = {"ssh", "-T", "-o", "ControlMaster=no", "-o",
		"RemoteCommand=none", "-o", ssh_has_terminal() ? "BatchMode=no" : "BatchMode=yes",
		"--", destination, command, NULL};

	dup2(null, STDIN_FILENO);
	dup2(out_fd, STDOUT_FILENO);
	execvp(argv[0], (char *const *)argv);
	_exit(STATUS_NO_SSH);
}

static char *read_all(int fd)
{
	char *text = malloc(MAX_BYTES + 1);
	size_t n = 0;
	ssize_t r = 1;

	while (text && n < MAX_BYTES && (r > 0 || errno == EINTR)) {
		r = read(fd, text + n, MAX_BYTES - n);
		if (r == 0)
			break;
		n += r > 0 ? (size_t)r : 0;
	}
	if (text)
		text[n] = '\0';
	return text;
}

static int explain_status(const char *destination, int status, struct diag *d)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_NO_SSH)
		diag_set(d, -ENOENT, "--ssh %.200s: there is no ssh: install the OpenSSH client",
			destination);
	else if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_NOT_FOUND)
		diag_set(d, -ENOENT,
			"--ssh %.200s: proftap is not there, or not in the PATH of commands that ssh "
			"runs: give a port, which needs no proftap there",
			destination);
	else if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_SSH)
		diag_set(d, -EPIPE, "--ssh %.200s: ssh failed; its message is above", destination);
	else if (WIFEXITED(status))
		diag_set(d, -EREMOTEIO, "--ssh %.200s: proftap list failed there", destination);
	else
		diag_set(d, -EPIPE, "--ssh %.200s: ssh was killed", destination);
	return EXIT_FAILED;
}

int remote_list_read(const char *destination, const char *command, char **out, struct diag *d)
{
	int pipes[2];
	int status = 0;
	pid_t pid;

	*out = NULL;
	if (pipe2(pipes, O_CLOEXEC)) {
		diag_set(d, -errno, "ssh: not started: %s", errno_words(errno));
		return EXIT_FAILED;
	}
	pid = fork();
	if (pid == 0)
		become_ssh(destination, command, pipes[1]);
	close(pipes[1]);
	if (pid > 0)
		*out = read_all(pipes[0]);
	close(pipes[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid > 0 && status == 0 && *out)
		return EXIT_DONE;
	if (pid > 0 && status != 0)
		return explain_status(destination, status, d);
	diag_set(d, -ENOMEM, "ssh: not started: out of memory");
	return EXIT_FAILED;
}

/* The result of --all: it replaces each name by the addresses of all programs of that name. */
struct address_list {
	struct address *v;
	size_t n;
	size_t n_allocated;
};

/* A row of the table. */
struct list_row {
	int pid;
	char name[256];
	char address[128]; /* "127.0.0.1:9999" or "unix:/path" */
	/* The time as a string that sorts by time: with seconds if it is today's, else without. */
	char since[24];
	bool has_ended;
};

/*
 * Returns true if |word|, which ends at a space, is an entry of the column PORT. A name may consist
 * of several words.
 */
static bool is_address(const char *word)
{
	size_t n = strcspn(word, " \n");

	if (strncmp(word, "unix:", 5) == 0 || (n == 1 && *word == '-'))
		return true;
	while (n > 0 && word[n - 1] >= '0' && word[n - 1] <= '9')
		n--;
	return n > 0 && word[n - 1] == ':';
}

static bool read_row(const char *line, struct list_row *row)
{
	char user[64];
	char rest[256] = "";
	const char *name;
	const char *word;
	int n = 0;

	if (sscanf(line, "%d %n", &row->pid, &n) != 1 || n == 0)
		return false;
	name = line + n;
	word = name;
	do {
		word += strcspn(word, " \n");
		word += strspn(word, " ");
	} while (*word && *word != '\n' && !is_address(word));
	if (sscanf(word, "%127s %63s %255[^\n]", row->address, user, rest) != 3)
		return false;
	n = (int)(word - name);
	while (n > 0 && name[n - 1] == ' ')
		n--;
	snprintf(row->name, sizeof row->name, "%.*s", n, name);
	/* The state follows the time. */
	row->has_ended = strlen(rest) > SINCE_BYTES && strncmp(rest + SINCE_BYTES, "ended", 5) == 0;
	/* The time is "2026-11-22 21:53", or "21:53:07" if it is today's. */
	if (rest[4] == '-')
		snprintf(row->since, sizeof row->since, "%.16s", rest);
	else
		snprintf(row->since, sizeof row->since, "~%.8s", rest);
	return true;
}

static bool row_matches(const struct list_row *row, const char *word)
{
	const struct program_traits traits = {.name = row->name, .has_ended = row->has_ended};

	if (!word[strspn(word, "0123456789")])
		return atoi(word) == row->pid;
	return program_word_means_name(word, &traits);
}

/*
 * Sets |a| to the program's socket or to its port, which the tunnel finds on the other machine's
 * loopback address.
 */
static void set_address(struct address *a, const struct list_row *row)
{
	const char *colon = strrchr(row->address, ':');

	a->lookup[0] = '\0';
	a->is_bare = false;
	a->port = 0;
	if (strncmp(row->address, "unix:", 5) == 0) {
		snprintf(
			a->path, sizeof a->path, "%.*s", (int)sizeof a->path - 1, row->address + 5);
	} else {
		snprintf(a->host, sizeof a->host, "localhost");
		a->port = (uint16_t)(colon ? strtoul(colon + 1, NULL, 10) : 0);
	}
	address_format(a);
}

/* Finds the row of the program with that pid in |text|. */
static bool find_pid(const char *text, int pid, struct list_row *out)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (read_row(line, out) && out->pid == pid)
			return true;
	}
	return false;
}

/* Reads *text to the next row that |word| selects; another server of |last_pid| is skipped. */
static bool find_next_match(const char **text, const char *word, int last_pid, struct list_row *row)
{
	while (*text) {
		const char *line = *text + (**text == '\n');

		*text = strchr(line, '\n');
		if (read_row(line, row) && row_matches(row, word) && row->pid != last_pid)
			return true;
	}
	return false;
}

static int locate_address(
	const char *destination, const char *text, struct address *a, struct diag *d)
{
	struct list_row found = {.pid = 0};
	struct list_row row = {.pid = 0};
	const char *rest = text;
	bool is_one = true; /* only one program was started last */
	int n_found = 0;

	while (find_next_match(&rest, a->lookup, row.pid, &row)) {
		int order = n_found++ ? strcmp(row.since, found.since) : 1;

		is_one = order ? is_one || order > 0 : false;
		if (order > 0)
			found = row;
	}
	if (n_found == 1 || (n_found && a->is_newest && is_one)) {
		set_address(a, &found);
		return EXIT_DONE;
	}
	if (n_found)
		fputs(text, stderr);
	diag_set(d, n_found ? -EINVAL : -ENOENT,
		n_found ? "%.64s: more than one target has that name at %.150s; give a pid"
			: "%.64s: no target of that name or pid at %.150s; proftap list --ssh "
			  "shows its targets",
		a->lookup, destination);
	return n_found ? EXIT_USAGE : EXIT_NOBODY;
}

int remote_list_locate(const char *destination, struct address *v, size_t n, struct diag *d)
{
	_cleanup_free_ char *text = NULL;
	int code = EXIT_DONE;

	for (size_t i = 0; i < n && code == EXIT_DONE; i++) {
		if (!v[i].lookup[0] || v[i].path[0])
			continue;
		if (!text)
			code = remote_list_read(destination, "proftap list", &text, d);
		if (code == EXIT_DONE)
			code = locate_address(destination, text, &v[i], d);
	}
	return code;
}

size_t remote_list_locate_ports(
	const char *destination, struct address *v, size_t n, const bool *may_be_pid)
{
	_cleanup_free_ char *text = NULL;
	struct diag d = DIAG_INIT;
	size_t n_found = 0;

	for (size_t i = 0; i < n; i++) {
		struct list_row row;

		if (!may_be_pid[i])
			continue;
		/*
		 * Without proftap on that machine the pids are not known. The connection fails
		 * later and reports that the port is wrong.
		 */
		if (!text && remote_list_read(destination, "proftap list 2>/dev/null", &text, &d))
			return 0;
		if (!find_pid(text, v[i].port, &row))
			continue;
		set_address(&v[i], &row);
		n_found++;
	}
	return n_found;
}

/* Adds each program that |like| selects; -ENOENT: there is none. */
static int add_matches(struct address_list *all, const char *text, const struct address *like)
{
	struct list_row row = {.pid = 0};
	size_t n_before = all->n;

	while (find_next_match(&text, like->lookup, row.pid, &row)) {
		if (grow(&all->v, &all->n_allocated, all->n + 1))
			return -ENOMEM;
		all->v[all->n] = *like;
		set_address(&all->v[all->n++], &row);
	}
	return all->n > n_before ? 0 : -ENOENT;
}

static int add_as_it_is(struct address_list *all, const struct address *one)
{
	if (grow(&all->v, &all->n_allocated, all->n + 1))
		return -ENOMEM;
	all->v[all->n++] = *one;
	return 0;
}

int remote_list_expand(const char *destination, struct address **v, size_t *n, struct diag *d)
{
	struct address_list all = {NULL, 0, 0};
	_cleanup_free_ char *text = NULL;
	int code = EXIT_DONE;

	for (size_t i = 0; i < *n && code == EXIT_DONE; i++) {
		const struct address *one = &(*v)[i];
		int r = -ENOENT;

		if (one->lookup[0] && !one->path[0] && !text)
			code = remote_list_read(destination, "proftap list", &text, d);
		if (code == EXIT_DONE && one->lookup[0] && !one->path[0])
			r = add_matches(&all, text, one);
		/*
		 * Ports and paths stay unchanged. So does a name or pid that no program has:
		 * locating it fails later, with an explanation.
		 */
		if (code == EXIT_DONE && r == -ENOENT)
			r = add_as_it_is(&all, one);
		if (code == EXIT_DONE && r == -ENOMEM) {
			diag_set(d, r, "the list of targets: out of memory");
			code = EXIT_FAILED;
		}
	}
	if (code != EXIT_DONE) {
		free(all.v);
		return code;
	}
	free(*v);
	*v = all.v;
	*n = all.n;
	return EXIT_DONE;
}
