/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tunnels; see tunnel.h. ssh creates the sockets when it has logged in, so they show that ssh is
 * ready. If the user has a master connection, ssh leaves the forwarding to the master, which
 * continues it after ssh has ended; so cancel_forwards() makes the master end the forwarding. Our
 * ssh never becomes a master, because a master would outlive the command.
 */
#include "client/connect/tunnel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/local_name.h"
#include "base/log.h"
#include "client/connect/probe.h"
#include "client/connect/remote_list.h"
#include "client/connect/ssh.h"
#include "client/process/clock.h"
#include "client/process/exit.h"
#include "client/process/interrupt.h"
#include "client/target/address.h"
#include "client/target/dial_unix.h"

/* --- explaining ssh's failures ------------------------------------------------------------- */

/* Parts of ssh's last line, with advice. */
static const struct {
	const char *words;
	const char *advice;
	enum exit_code code;
} failures[] = {
	{"Host key verification failed", "connect once by plain ssh, and check the key",
		EXIT_FAILED},
	{"Permission denied",
		"plain ssh must be able to log in; without a terminal, ssh cannot ask for a "
		"password: "
		"use a key, an agent or a master connection",
		EXIT_FAILED},
	{"Could not resolve hostname", "check the spelling", EXIT_NOBODY},
	{"Connection refused", "there is no ssh server", EXIT_NOBODY},
	{"timed out", "the host is down or a firewall drops the connection", EXIT_NOBODY},
	{"No route to host", "check the address and the network", EXIT_NOBODY},
};

/*
 * Explains the end of |ssh| by its last line. Returns an enum exit_code other than EXIT_DONE, with
 * |d|.
 */
static int tunnel_failure_explain(struct ssh *ssh, const char *destination, struct diag *d)
{
	const char *said = ssh_get_last_line(ssh);
	const char *advice = "run plain ssh to see its messages";
	int code = EXIT_FAILED;

	if (ssh->status == SSH_NOT_FOUND) {
		diag_set(d, -ENOENT, "--ssh %.200s: there is no ssh: install the OpenSSH client",
			destination);
		return EXIT_FAILED;
	}
	for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
		if (!strstr(said, failures[i].words))
			continue;
		advice = failures[i].advice;
		code = failures[i].code;
		break;
	}
	diag_set(d, -EPIPE, "--ssh %.100s: ssh failed: %.200s; %s", destination,
		*said ? said : "it printed no message", advice);
	return code;
}

/*
 * The time limit, in case ssh has none of its own. There is no limit when a person may be
 * asked for a password.
 */
#define OPEN_MS 60000
#define CANCEL_MS 5000
#define TURN_MS 20
#define SOCKET_BYTES 96

static const char *const fixed[] = {"ssh", "-N", "-T", "-o", "ExitOnForwardFailure=yes", "-o",
	"ControlMaster=no", "-o", "RemoteCommand=none"};
#define N_FIXED (sizeof fixed / sizeof fixed[0])
/* Room for "-o BatchMode=yes", "-O cancel", "--", the destination and the final NULL. */
#define N_MORE 8

/* --- ssh's command line -------------------------------------------------------------------- */

static int add_word(struct tunnel *t, const char *word)
{
	t->argv[t->n_argv] = strdup(word);
	return t->argv[t->n_argv++] ? 0 : -ENOMEM;
}

static void format_socket(const struct tunnel *t, size_t i, char *out, size_t n)
{
	snprintf(out, n, "%s/%zu", t->dir, i + 1);
}

static int add_forward(struct tunnel *t, size_t i, const struct address *a)
{
	char socket[SOCKET_BYTES];
	char word[sizeof a->host + sizeof a->path + SOCKET_BYTES];

	format_socket(t, i, socket, sizeof socket);
	if (a->path[0])
		snprintf(word, sizeof word, "%s:%s", socket, a->path);
	else
		snprintf(word, sizeof word, strchr(a->host, ':') ? "%s:[%s]:%u" : "%s:%s:%u",
			socket, local_name_is(a->host) ? "localhost" : a->host, a->port);
	return add_word(t, "-L") || add_word(t, word) ? -ENOMEM : 0;
}

static int make_command(
	struct tunnel *t, const char *destination, const struct address *v, size_t n)
{
	int r = 0;

	t->argv = calloc(N_FIXED + 2 * n + N_MORE, sizeof *t->argv);
	if (!t->argv)
		return -ENOMEM;
	for (size_t i = 0; i < N_FIXED && !r; i++)
		r = add_word(t, fixed[i]);
	if (!r && !ssh_has_terminal())
		r = add_word(t, "-o") || add_word(t, "BatchMode=yes");
	for (size_t i = 0; i < n && !r; i++)
		r = add_forward(t, i, &v[i]);
	if (!r)
		r = add_word(t, "--") || add_word(t, destination);
	return r ? -ENOMEM : 0;
}

/* --- the directory of the sockets ---------------------------------------------------------- */

/*
 * Returns true if |dir| needs no quoting in ssh's options, and a socket's path below |dir| is short
 * enough.
 */
static bool is_usable(const char *dir)
{
	static const char ordinary[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";

	return dir && dir[0] == '/' && strlen(dir) < 40 && !dir[strspn(dir, ordinary)];
}

static int make_dir(struct tunnel *t, struct diag *d)
{
	const char *parent = getenv("TMPDIR");

	if (!is_usable(parent))
		parent = "/tmp";
	/* mkdtemp() makes a directory that only this user may enter. */
	snprintf(t->dir, sizeof t->dir, "%s/proftap-ssh-XXXXXX", parent);
	if (mkdtemp(t->dir))
		return 0;
	t->dir[0] = '\0';
	return diag_set(d, -errno, "%s: cannot make a directory for the tunnel: %s", parent,
		errno_words(errno));
}

/* --- waiting for ssh ----------------------------------------------------------------------- */

static bool is_ready(const struct tunnel *t)
{
	for (size_t i = 0; i < t->n_sockets; i++) {
		char path[SOCKET_BYTES];
		struct stat st;

		format_socket(t, i, path, sizeof path);
		if (lstat(path, &st) || !S_ISSOCK(st.st_mode))
			return false;
	}
	return true;
}

static int fail_late(const char *destination, struct diag *d)
{
	diag_set(d, -ETIMEDOUT, "--ssh %.200s: ssh did not log in within %d s", destination,
		OPEN_MS / 1000);
	return EXIT_TIMEOUT;
}

static int wait_until_ready(struct tunnel *t, const char *destination, struct diag *d)
{
	int64_t end_ms = ssh_has_terminal() ? INT64_MAX : clock_monotonic_ms() + OPEN_MS;

	for (;;) {
		/*
		 * Check for ssh's end before the sockets: a socket that exists after ssh's end will
		 * not vanish.
		 */
		bool has_ended = ssh_poll(&t->ssh, TURN_MS);

		t->is_open = is_ready(t);
		if (t->is_open)
			return EXIT_DONE;
		/* The Ctrl-C that interrupts us may have ended ssh too. */
		if (has_ended)
			interrupt_settle();
		if (interrupt_get_count() > 0) {
			diag_set(d, -EINTR, "--ssh %.200s: interrupted: nothing was written",
				destination);
			return EXIT_INTERRUPTED;
		}
		if (has_ended)
			return tunnel_failure_explain(&t->ssh, destination, d);
		if (clock_monotonic_ms() >= end_ms)
			return fail_late(destination, d);
	}
}

/* --- addresses ----------------------------------------------------------------------------- */

/* Writes the host of a destination: "gpu7" for "me@gpu7" and for "ssh://me@gpu7:22". */
static void find_host(const char *destination, char *out, size_t n)
{
	static const char scheme[] = "ssh://";
	bool is_uri = strncmp(destination, scheme, sizeof scheme - 1) == 0;
	const char *at = strrchr(destination, '@');

	if (is_uri)
		destination += sizeof scheme - 1;
	snprintf(out, n, "%s", at ? at + 1 : destination);
	if (is_uri)
		out[strcspn(out, ":/")] = '\0';
}

static void lead_through(
	const struct tunnel *t, const char *destination, struct address *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct address *a = &v[i];
		char words[sizeof a->words];

		snprintf(words, sizeof words, "--ssh %.200s %s", destination, a->text);
		if (!a->port || strcmp(a->host, "localhost") == 0)
			find_host(destination, a->host, sizeof a->host);
		a->is_tunnel = true;
		if (a->port)
			address_format(a);
		else
			snprintf(a->text, sizeof a->text, "%s:%s", a->host, a->path);
		memcpy(a->words, words, sizeof words);
		format_socket(t, i, a->path, sizeof a->path);
	}
}

/* --- closing ------------------------------------------------------------------------------- */

/*
 * Runs the same command with "-O cancel", which makes the user's master connection end the
 * forwarding, and nothing else.
 */
static void cancel_forwards(struct tunnel *t)
{
	int64_t end_ms = clock_monotonic_ms() + CANCEL_MS;
	struct ssh ssh;

	/* "-O cancel" goes before "--" and the destination. */
	t->argv[t->n_argv + 1] = t->argv[t->n_argv - 1];
	t->argv[t->n_argv] = t->argv[t->n_argv - 2];
	t->argv[t->n_argv - 2] = strdup("-O");
	t->argv[t->n_argv - 1] = strdup("cancel");
	t->n_argv += 2;
	if (!t->argv[t->n_argv - 4] || !t->argv[t->n_argv - 3] || ssh_start(&ssh, t->argv, NULL))
		return;
	while (!ssh_poll(&ssh, TURN_MS) && clock_monotonic_ms() < end_ms)
		;
	ssh_end(&ssh);
}

static void remove_dir(const struct tunnel *t)
{
	for (size_t i = 0; i < t->n_sockets; i++) {
		char path[SOCKET_BYTES];

		format_socket(t, i, path, sizeof path);
		unlink(path);
	}
	rmdir(t->dir);
}

/*
 * Returns true if a socket still accepts connections although ssh has ended: then the user's master
 * connection forwards it.
 */
static bool is_still_open(const struct tunnel *t)
{
	char path[SOCKET_BYTES];
	int fd;

	if (!t->is_open)
		return false;
	format_socket(t, 0, path, sizeof path);
	fd = dial_path(path);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

void tunnel_close(struct tunnel *t)
{
	ssh_end(&t->ssh);
	if (t->ssh.n_words > 0)
		log_info(LOG_CLIENT, "ssh: %s", ssh_get_last_line(&t->ssh));
	if (is_still_open(t))
		cancel_forwards(t);
	if (t->dir[0])
		remove_dir(t);
	for (size_t i = 0; i < t->n_argv; i++)
		free(t->argv[i]);
	free(t->argv);
	*t = (struct tunnel)TUNNEL_INIT;
}

/* --- opening ------------------------------------------------------------------------------- */

static int start_tunnel(struct tunnel *t, const char *destination, const struct address *v,
	size_t n, struct diag *d)
{
	if (make_dir(t, d))
		return EXIT_FAILED;
	t->n_sockets = n;
	if (make_command(t, destination, v, n)) {
		diag_set(d, -ENOMEM, "--ssh: out of memory");
		return EXIT_FAILED;
	}
	if (ssh_start(&t->ssh, t->argv, d))
		return EXIT_FAILED;
	return wait_until_ready(t, destination, d);
}

/*
 * Returns true if the connection is closed at once, which means that nothing listens at the other
 * end.
 */
static bool is_dead_end(const struct tunnel *t, size_t i)
{
	struct address end = {.is_tunnel = true};
	enum probe_result result;
	char said[2];

	format_socket(t, i, end.path, sizeof end.path);
	result = probe(&end, said, sizeof said);
	return result == PROBE_CLOSED || result == PROBE_GONE;
}

/*
 * A bare number is a port if something listens there, else the pid of a target. If a number proves
 * to be a pid, starts the tunnel anew.
 */
static int retry_numbers_as_pids(
	struct tunnel *t, const char *destination, struct address *v, size_t n, struct diag *d)
{
	_cleanup_free_ bool *is_pid = calloc(n, sizeof *is_pid);
	size_t n_pids = 0;

	for (size_t i = 0; is_pid && i < n; i++) {
		is_pid[i] = v[i].is_bare && v[i].port && is_dead_end(t, i);
		n_pids += is_pid[i];
	}
	if (n_pids == 0 || remote_list_locate_ports(destination, v, n, is_pid) == 0)
		return EXIT_DONE;
	tunnel_close(t);
	return start_tunnel(t, destination, v, n, d);
}

int tunnel_open(struct tunnel *t, const char *destination, struct address *targets,
	size_t n_targets, struct diag *d)
{
	int code;

	*t = (struct tunnel)TUNNEL_INIT;
	code = remote_list_locate(destination, targets, n_targets, d);
	if (code == EXIT_DONE)
		code = start_tunnel(t, destination, targets, n_targets, d);
	if (code == EXIT_DONE)
		code = retry_numbers_as_pids(t, destination, targets, n_targets, d);
	if (code == EXIT_DONE)
		lead_through(t, destination, targets, n_targets);
	return code;
}
