/* SPDX-License-Identifier: Apache-2.0 */
/* Starting and ending ssh; see ssh.h. */
#include "client/connect/ssh.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "client/process/clock.h"
#include "client/process/interrupt.h"

/*
 * The time that ssh has to restore the terminal's echo and to inform the other end, before ssh is
 * killed.
 */
#define END_MS 1000
#define END_TURN_MS 5

bool ssh_has_terminal(void)
{
	_cleanup_close_ int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);

	return fd >= 0;
}

/*
 * Ctrl-C must not end ssh: the client ends the recording first and then the tunnel. ssh keeps
 * ignoring a signal that was ignored at its start.
 */
static void ignore_keys(void)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
}

/*
 * Runs in the child between fork and exec, where only async-signal-safe calls are allowed: the
 * parent has threads.
 */
static void become_ssh(char *const *argv, int words_fd, bool has_terminal, pid_t parent)
{
	sigset_t none;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	/* In a session of its own, ssh does not get signals that are sent to our process group. */
	if (!has_terminal)
		setsid();
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(SSH_NOT_FOUND);
	ignore_keys();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(words_fd, STDERR_FILENO);
	execvp(argv[0], argv);
	_exit(SSH_NOT_FOUND);
}

int ssh_start(struct ssh *s, char *const *argv, struct diag *d)
{
	bool has_terminal = ssh_has_terminal();
	pid_t parent = getpid();
	int pipes[2];
	int error;

	*s = (struct ssh)SSH_INIT;
	if (pipe2(pipes, O_CLOEXEC))
		return diag_set(d, -errno, "ssh: not started: %s", errno_words(errno));
	s->pid = fork();
	if (s->pid == 0)
		become_ssh(argv, pipes[1], has_terminal, parent);
	error = errno;
	close(pipes[1]);
	s->words_fd = pipes[0];
	fcntl(s->words_fd, F_SETFL, O_NONBLOCK);
	if (s->pid > 0)
		return 0;
	s->pid = 0;
	ssh_end(s);
	return diag_set(d, -error, "ssh: not started: %s", errno_words(error));
}

/* Appends to s->words; drops the oldest bytes when it is full. */
static void add_words(struct ssh *s, const char *words, size_t n)
{
	size_t room = sizeof s->words - 1;

	if (n > room) {
		words += n - room;
		n = room;
	}
	if (s->n_words + n > room) {
		size_t n_kept = room - n;

		memmove(s->words, s->words + s->n_words - n_kept, n_kept);
		s->n_words = n_kept;
	}
	memcpy(s->words + s->n_words, words, n);
	s->n_words += n;
	s->words[s->n_words] = '\0';
}

static void read_words(struct ssh *s)
{
	char words[512];
	ssize_t n;

	while ((n = read(s->words_fd, words, sizeof words)) > 0)
		add_words(s, words, (size_t)n);
}

/* Returns whether ssh has ended, and reaps it then. */
static bool reap_ssh(struct ssh *s)
{
	int status = 0;
	pid_t r = s->pid ? waitpid(s->pid, &status, WNOHANG) : -1;

	if (r == 0 || (r < 0 && errno == EINTR))
		return false;
	if (r > 0)
		s->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	s->pid = 0;
	return true;
}

bool ssh_poll(struct ssh *s, int64_t wait_ms)
{
	struct pollfd p = {.fd = s->words_fd, .events = POLLIN};
	bool has_ended;

	interrupt_poll(&p, wait_ms);
	has_ended = reap_ssh(s);
	read_words(s);
	return has_ended;
}

const char *ssh_get_last_line(struct ssh *s)
{
	char *start;

	while (s->n_words > 0 && strchr("\r\n ", s->words[s->n_words - 1]))
		s->words[--s->n_words] = '\0';
	start = strrchr(s->words, '\n');
	return start ? start + 1 : s->words;
}

void ssh_end(struct ssh *s)
{
	int64_t end_ms = clock_monotonic_ms() + END_MS;

	if (s->pid)
		kill(s->pid, SIGTERM);
	while (s->pid && !reap_ssh(s)) {
		if (clock_monotonic_ms() >= end_ms)
			kill(s->pid, SIGKILL);
		poll(NULL, 0, END_TURN_MS);
	}
	if (s->words_fd >= 0)
		close(s->words_fd);
	s->words_fd = -1;
}
