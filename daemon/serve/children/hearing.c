/* SPDX-License-Identifier: Apache-2.0 */
/* Hearings; see hearing.h. */
#include "daemon/serve/children/hearing.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/log.h"
#include "daemon/kernel/identity.h"
#include "daemon/kernel/lineage.h"
#include "daemon/kernel/unix_peer.h"
#include "daemon/serve/children/serve_request.h"
#include "lib/wire/fds.h"

struct hearing {
	struct serve_request request;
	struct serve_brought brought;
	pid_t peer;
	uid_t uid; /* of the peer */
	pid_t program;
	struct identity identity; /* of the program */
};

/* Who. */

/* While the clone waits for the answer its parent is the program, or the program has ended. */
static pid_t find_program(const struct hearing *h)
{
	return h->request.is_program ? h->peer : lineage_get_parent("", h->peer);
}

/* A peer without a pid here lives beside this process, not below. */
static int identify(struct hearing *h, int connection)
{
	int r = unix_peer_identify(connection, &h->peer, &h->uid);

	if (r || h->peer <= 0)
		return r ? r : -ESRCH;
	h->program = find_program(h);
	if (h->program <= 0)
		return -ESRCH;
	r = identity_find("", h->program, &h->identity);
	if (r)
		return r == -ENOENT ? -ESRCH : r;
	return h->identity.uid == h->uid ? 0 : -EPERM;
}

static int hear(struct hearing *h, int connection)
{
	int r = serve_request_read(connection, &h->request, &h->brought);

	return r ? r : identify(h, connection);
}

/* What. */

/* Of a service manager, for the daemon alone. */
static void clean_environment_of_manager(void)
{
	static const char *const names[] = {"LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PID",
		"NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", "JOURNAL_STREAM",
		"INVOCATION_ID"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		unsetenv(names[i]);
}

/* A copy of |fd| above all that are to be placed. */
static int raise_above(int fd)
{
	return fd < 0 ? fd : fcntl(fd, F_DUPFD_CLOEXEC, SPAWN_FD_ANSWER + 1);
}

static int place(int fd, int at)
{
	return dup2(fd, at) < 0 ? -errno : 0;
}

/* As a server finds them that its program has started, and the answer's. All others close with exec. */
static int place_descriptors(const struct hearing *h, int connection)
{
	int has_listener = h->brought.listener >= 0;
	int null = raise_above(open("/dev/null", O_RDWR | O_CLOEXEC));
	int arena = raise_above(h->brought.arena);
	int listener = raise_above(h->brought.listener);
	int r = null < 0 || arena < 0 || (has_listener && listener < 0) ? -EMFILE : 0;

	for (int fd = 0; !r && fd < 3; fd++)
		r = place(null, fd);
	if (!r)
		r = place(arena, SPAWN_FD_ARENA);
	if (!r)
		r = place(connection, SPAWN_FD_ANSWER);
	if (!r && has_listener)
		r = place(listener, SPAWN_FD_LISTENER);
	else
		close(SPAWN_FD_LISTENER);
	/* Also those that the daemon had from whoever started it; before Linux 5.11 they stay. */
	close_range(SPAWN_FD_ANSWER + 1, ~0U, CLOSE_RANGE_CLOEXEC);
	return r;
}

static void reset_signals(void)
{
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The daemon's end, and that of its terminal, are not the server's. */
static int become_server(const struct hearing *h, int connection)
{
	char pid[16];
	int r = identity_assume(&h->identity);

	if (!r)
		r = place_descriptors(h, connection);
	if (r)
		return r;
	snprintf(pid, sizeof pid, "%d", (int)h->program);
	clean_environment_of_manager();
	reset_signals();
	setsid();
	if (chdir("/"))
		return -errno;
	execl("/proc/self/exe", "proftapd", "--attached", pid, "--lent", (char *)NULL);
	return -errno;
}

int hearing_hold(int from)
{
	struct hearing h = {.peer = 0};
	/* Where nothing will be placed over it. */
	int connection = raise_above(from);
	int r = connection < 0 ? -EMFILE : hear(&h, connection);

	if (!r) {
		log_info(LOG_TARGET, "process %d of uid %u gets a server: it can start none",
			(int)h.program, (unsigned)h.uid);
		r = become_server(&h, connection);
	}
	log_warn(LOG_TARGET, "process %d of uid %u asks for a server, and gets none: %s",
		(int)(h.program > 0 ? h.program : h.peer), (unsigned)h.uid, errno_words(r));
	serve_request_answer(connection < 0 ? from : connection, r);
	return r;
}
