/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures how long a program waits for its server, and another process for an answer.
 *
 * usage: bench_start EMIT GIGABYTES N
 *
 * N times a new target (`EMIT start GIGABYTES`) starts a server. As soon as this process has
 * its port, it connects and sends two requests: first 33 bytes of its own, which the server
 * answers by its SETTINGS frame, then, on a second connection, a Profile of 1 ms through gRPC.
 * All times count from the target's call of ptap_server_start. Prints the medians in ms:
 * return, SETTINGS, the whole Profile answer.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "rpc/client.h"
#include "tests/bench/profile.h"
#include "tests/bench/samples.h"

#define MAX_RUNS 101

/* The client's side of a connection: the preface and an empty SETTINGS frame. */
static const char hello[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
			    "\0\0\0\4\0\0\0\0";
#define FRAME_HEAD_BYTES 9
#define FRAME_SETTINGS 4

struct target {
	pid_t pid;
	int in; /* the target ends when this is closed */
	FILE *out;
};

struct times {
	double started_ns; /* all times are CLOCK_MONOTONIC */
	double returned_ns;
	double settings_ns;
	double profile_ns;
};

static int spawn(char *const *argv, struct target *target)
{
	posix_spawn_file_actions_t actions;
	int in[2];
	int out[2];
	int r;

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		return -errno;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
	r = posix_spawn(&target->pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(in[0]);
	close(out[1]);
	target->in = in[1];
	target->out = fdopen(out[0], "r");
	return target->out ? -r : -ENOMEM;
}

static int end(struct target *target)
{
	int status;

	close(target->in);
	fclose(target->out);
	waitpid(target->pid, &status, 0);
	return status == 0 ? 0 : -1;
}

/* The first frame of an HTTP/2 server must be SETTINGS. */
static int ask_settings(int port)
{
	_cleanup_close_ int fd = profile_connect(port);
	unsigned char head[FRAME_HEAD_BYTES];

	if (fd < 0 || send(fd, hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello)
		return -1;
	if (recv(fd, head, sizeof head, MSG_WAITALL) == sizeof head && head[3] == FRAME_SETTINGS)
		return 0;
	fprintf(stderr, "bench_start: the server's first frame is not SETTINGS\n");
	return -1;
}

static int ask_profile(int port)
{
	struct rpc_channel *channel = profile_open(port);
	struct profile_result result;
	int r = channel ? profile_call(channel, 1, &result) : -1;

	rpc_channel_free(channel);
	return r;
}

static int ask(struct target *target, struct times *times)
{
	int port;

	if (fscanf(target->out, "%lf %lf %d", &times->started_ns, &times->returned_ns, &port) != 3)
		return -1;
	if (ask_settings(port))
		return -1;
	times->settings_ns = now_ns();
	if (ask_profile(port))
		return -1;
	times->profile_ns = now_ns();
	return 0;
}

static int run_once(char *const *argv, struct times *times)
{
	struct target target;
	int r;

	if (spawn(argv, &target)) {
		fprintf(stderr, "bench_start: cannot run %s\n", argv[0]);
		return -1;
	}
	r = ask(&target, times);
	return end(&target) || r ? -1 : 0;
}

int main(int argc, char **argv)
{
	char *command[] = {argv[1], (char *)"start", argv[2], NULL};
	int n = argc == 4 ? atoi(argv[3]) : 0;
	double returned[MAX_RUNS];
	double settings[MAX_RUNS];
	double profile[MAX_RUNS];

	if (n < 1 || n > MAX_RUNS)
		return 2;
	for (int i = 0; i < n; i++) {
		struct times t;

		if (run_once(command, &t))
			return 1;
		returned[i] = (t.returned_ns - t.started_ns) / 1e6;
		settings[i] = (t.settings_ns - t.started_ns) / 1e6;
		profile[i] = (t.profile_ns - t.started_ns) / 1e6;
	}
	printf("%.3f", median(returned, (size_t)n));
	printf(" %.3f", median(settings, (size_t)n));
	printf(" %.3f\n", median(profile, (size_t)n));
	return 0;
}
