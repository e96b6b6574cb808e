/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prefork: a server whose work is done in forked children. All of them accept on one listening
 * socket, and answer each line in upper case, until Ctrl-C:
 *
 *	prefork 4                                       four workers; prints both ports
 *	echo hello | nc -N 127.0.0.1 PORT
 *	proftap capture PROFILER_PORT 500 --log_dir logs
 *
 * With follow_fork each worker is a process of its own in the trace; a worker that ends is replaced, and
 * the new one is in the same trace. Without it the capture says how many children were not recorded.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <proftap/proftap.h>

#define MAX_WORKERS 64

static int listener;
static pid_t workers[MAX_WORKERS];
static volatile sig_atomic_t is_over;

static void end(int number)
{
	(void)number;
	is_over = 1;
}

static int listen_somewhere(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t n = sizeof(address);

	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
		listen(listener, 128) != 0 ||
		getsockname(listener, (struct sockaddr *)&address, &n) != 0)
		return -1;
	return ntohs(address.sin_port);
}

static void answer(FILE *in, FILE *out)
{
	static int64_t n_lines;
	char line[1024];

	while (fgets(line, sizeof(line), in)) {
		PTAP_SPAN("line");
		for (char *c = line; *c; c++)
			*c = (char)toupper((unsigned char)*c);
		fputs(line, out);
		fflush(out);
		PTAP_COUNTER("lines", ++n_lines);
	}
}

static void serve(int fd)
{
	PTAP_SPAN_ARGS("request", PTAP_I("worker", getpid()));
	int copy = dup(fd);
	FILE *in = fdopen(fd, "r");
	FILE *out = fdopen(copy, "w");

	if (in && out)
		answer(in, out);
	if (out)
		fclose(out);
	else
		close(copy);
	if (in)
		fclose(in);
	else
		close(fd);
}

static void work(void)
{
	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_IGN); /* the master stops the workers */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	ptap_thread_name("worker");
	for (;;) {
		int fd = accept(listener, NULL, NULL);

		if (fd >= 0)
			serve(fd);
	}
}

static int start_worker(int i)
{
	workers[i] = fork();
	if (workers[i] == 0)
		work();
	return workers[i] < 0 ? -1 : 0;
}

/* Replaces a worker that has ended. */
static void watch_over(int n)
{
	while (!is_over) {
		pid_t pid = wait(NULL);

		for (int i = 0; i < n && pid > 0 && !is_over; i++)
			if (workers[i] == pid)
				start_worker(i);
	}
	for (int i = 0; i < n; i++)
		kill(workers[i], SIGTERM);
	while (wait(NULL) > 0)
		;
}

static int start_profiler(void)
{
	struct ptap_server_options options = PTAP_SERVER_OPTIONS_INIT;

	options.name = "prefork";
	options.follow_fork = 1;
	if (ptap_server_start_with(&options) == 0)
		return 0;
	fprintf(stderr, "prefork: %s\n", ptap_last_error());
	return -1;
}

int main(int argc, char **argv)
{
	const struct sigaction ends = {.sa_handler = end}; /* without SA_RESTART */
	int n = argc > 1 ? atoi(argv[1]) : 2;
	int port = listen_somewhere();

	if (port < 0 || n < 1 || n > MAX_WORKERS) {
		fprintf(stderr, "usage: prefork [WORKERS]   1 to %d\n", MAX_WORKERS);
		return 2;
	}
	/* The server starts before the workers, which join the server of their parent. */
	if (start_profiler() != 0)
		return 1;
	sigaction(SIGTERM, &ends, NULL);
	sigaction(SIGINT, &ends, NULL);
	printf("prefork: pid %d, profiler port %d, port %d, workers", (int)getpid(),
		ptap_server_port(), port);
	fflush(stdout);
	for (int i = 0; i < n; i++) {
		if (start_worker(i) == 0)
			printf(" %d", (int)workers[i]);
		fflush(stdout);
	}
	printf("\n");
	fflush(stdout);
	watch_over(n);
	return 0;
}
