/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program under test that obeys commands: it reads one command per line from standard input, and
 * answers each with one line on standard output. It says "ready" first. The tests choose all
 * numbers; see fixture.py.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <proftap/proftap.h>

#include "tests/programs/confine.h"
#include "tests/programs/device_use.h"
#include "tests/programs/ending.h"
#include "tests/programs/offspring.h"
#include "tests/programs/own_clock.h"
#include "tests/programs/prefork.h"
#include "tests/programs/pulse.h"
#include "tests/programs/sandbox.h"
#include "tests/programs/workload.h"

/* A target that a failed test leaves behind ends after this time. No test takes longer. */
#define LIFE_S 300

struct command {
	const char *name;
	void (*run)(char *arguments); /* the rest of the line, without its end */
};

static volatile sig_atomic_t n_sigchld;

static void count_sigchld(int number)
{
	(void)number;
	n_sigchld++;
}

/*
 * PORT [RING_BYTES [ANY_LOCAL_USER [ADDRESS [INSECURE [FOLLOW_FORK [LOG_DIR [MAX_CAPTURE_BYTES
 * [RECORDER [RECORDER_OPTIONS]]]]]]]]]; LOG_DIR "-" means none.
 */
static void start(char *arguments)
{
	struct ptap_server_options o = PTAP_SERVER_OPTIONS_INIT;
	int64_t before_ns = workload_clock_ns(CLOCK_MONOTONIC);
	char address[128] = "127.0.0.1";
	char log_dir[1024] = "";
	char recorder_options[1024] = "";
	unsigned port = 0;
	int r;

	sscanf(arguments, "%u %u %d %127s %d %d %1023s %" SCNu64 " %d %1023s", &port, &o.ring_bytes,
		&o.any_local_user, address, &o.insecure, &o.follow_fork, log_dir,
		&o.max_capture_bytes, &o.recorder, recorder_options);
	o.recorder_options = recorder_options;
	o.log_dir = strcmp(log_dir, "-") ? log_dir : "";
	o.port = (uint16_t)port;
	o.address = address;
	r = ptap_server_start_with(&o);
	printf("%d %d %lld\n", r, ptap_server_port(),
		(long long)(workload_clock_ns(CLOCK_MONOTONIC) - before_ns) / 1000);
}

static void stop(char *arguments)
{
	(void)arguments;
	printf("%d\n", ptap_server_stop());
}

static void port(char *arguments)
{
	(void)arguments;
	printf("%d\n", ptap_server_port());
}

static void error(char *arguments)
{
	(void)arguments;
	printf("%s\n", ptap_last_error());
}

/* PORT: answers 0 if the port is free at this moment, else a negative errno. It does not wait. */
static void try_bind(char *arguments)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)atoi(arguments)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;
	int r;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	r = bind(fd, (struct sockaddr *)&address, sizeof address) ? -errno : 0;
	if (!r)
		r = listen(fd, 1) ? -errno : 0;
	close(fd);
	printf("%d\n", r);
}

static void say_enabled(char *arguments)
{
	printf("%d\n", ptap_enabled(atoi(arguments)));
}

static void await(char *arguments)
{
	workload_await(atoi(arguments));
	printf("recording\n");
}

/* Waits until threads record, which may be before the agreed start of the capture. */
static void await_early(char *arguments)
{
	(void)arguments;
	workload_await_early();
	printf("recording\n");
}

static void count_signals(char *arguments)
{
	(void)arguments;
	printf("%d\n", (int)n_sigchld);
}

/* DIR [KEY=VALUE]...; "-" instead of options passes NULL. */
static void start_trace(char *arguments)
{
	struct ptap_profile_options o = PTAP_PROFILE_OPTIONS_INIT;
	struct ptap_profile_option map[8];
	char *dir = strtok(arguments, " ");
	char *word = strtok(NULL, " ");
	bool is_default = word && strcmp(word, "-") == 0;

	o.advanced_configuration = map;
	for (; word && !is_default && o.n_advanced_configuration < 8; word = strtok(NULL, " ")) {
		char *value = strchr(word, '=');

		if (value)
			*value++ = '\0';
		map[o.n_advanced_configuration].key = word;
		map[o.n_advanced_configuration++].value = value;
	}
	printf("%d\n", ptap_trace_start(dir, is_default ? NULL : &o));
}

static void stop_trace(char *arguments)
{
	(void)arguments;
	printf("%d\n", ptap_trace_stop());
}

/* WHY; "-" passes NULL. */
static void ask_for_snapshot(char *arguments)
{
	printf("%d\n", ptap_snapshot(strcmp(arguments, "-") ? arguments : NULL));
}

static void change_directory(char *arguments)
{
	printf("%d\n", chdir(arguments));
}

/*
 * Plays a stray write to the robust list of the control thread TID. When that thread ends, the
 * kernel then finds no robust word to mark.
 */
static void forget_robust_list(char *arguments)
{
	struct robust_list_head *head = NULL;
	size_t n = 0;
	long r = syscall(SYS_get_robust_list, atoi(arguments), &head, &n);

	if (r == 0)
		head->list.next = &head->list;
	printf("%ld\n", r);
}

static void *obey_all(void *unused);

/* Ends the first thread; another thread obeys the further commands. */
static void leave(char *arguments)
{
	pthread_t thread;

	(void)arguments;
	if (pthread_create(&thread, NULL, obey_all, NULL) == 0)
		pthread_exit(NULL);
	printf("cannot leave\n");
}

/* MIB: maps that much memory, which the kernel must free when the program ends. */
static void touch(char *arguments)
{
	size_t n = (size_t)atoi(arguments) << 20;
	void *p = mmap(
		NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	printf("%d\n", p == MAP_FAILED ? -errno : 0);
}

static void lock_memory(char *arguments)
{
	(void)arguments;
	printf("%d\n", mlockall(MCL_CURRENT) ? -errno : 0);
}

static const struct command commands[] = {
	{"start", start},
	{"stop", stop},
	{"port", port},
	{"error", error},
	{"bind", try_bind},
	{"enabled", say_enabled},
	{"await", await},
	{"await_early", await_early},
	{"signals", count_signals},
	{"trace_start", start_trace},
	{"trace_stop", stop_trace},
	{"snapshot", ask_for_snapshot},
	{"chdir", change_directory},
	{"setuid", sandbox_change_user},
	{"crash", ending_crash},
	{"abort", ending_abort},
	{"exit", ending_exit},
	{"exec", ending_exec},
	{"end_thread", ending_thread},
	{"hang", ending_hang},
	{"end_in_thread", ending_in_thread},
	{"leave", leave},
	{"touch", touch},
	{"lock", lock_memory},
	{"forget", forget_robust_list},
	{"confine", confine},
	{"load", device_use_load},
	{"launch", device_use_launch},
	{"launch_graph", device_use_graph},
	{"launch_loop", device_use_loop},
	{"sandbox", sandbox},
	{"forbid_counter", own_clock_forbid_counter},
	{"clock_for_children", own_clock_for_children},
	{"spawn", offspring_spawn},
	{"fork", offspring_fork},
	{"fork_snapshot", offspring_snapshot},
	{"prefork", prefork},
	{"churn", prefork_churn},
	{"crowd", prefork_crowd},
	{"crowd_count", prefork_crowd_count},
	{"crowd_out", prefork_crowd_out},
	{"relay", prefork_relay},
	{"rush", prefork_rush},
	{"async", workload_async},
	{"burst", workload_burst},
	{"cycle", workload_cycle},
	{"flood", workload_flood},
	{"gauge", workload_gauge},
	{"requests", workload_requests},
	{"heavy", workload_heavy},
	{"label", workload_label},
	{"name", workload_name},
	{"paced", workload_paced},
	{"pulse", pulse_start},
	{"count", workload_count},
	{"spin", workload_spin},
	{"step", workload_step},
	{"threads", workload_threads},
	{"steady", workload_steady},
};

static void obey(char *line)
{
	size_t n = strcspn(line, " \n");

	line[strcspn(line, "\n")] = '\0';
	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
		if (strlen(commands[i].name) != n || strncmp(commands[i].name, line, n) != 0)
			continue;
		commands[i].run(line + n + (line[n] == ' '));
		return;
	}
	printf("%s: no such command\n", line);
}

static void *obey_all(void *unused)
{
	char line[512];

	while (fgets(line, sizeof line, stdin))
		obey(line);
	exit(0);
	return unused;
}

int main(void)
{
	/* With signal() the read of the next command would be interrupted under TSan. */
	const struct sigaction count = {.sa_handler = count_sigchld, .sa_flags = SA_RESTART};

	alarm(LIFE_S);
	sigaction(SIGCHLD, &count, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("ready\n");
	obey_all(NULL);
	return 0;
}
