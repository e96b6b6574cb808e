/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PROFTAP_SERVER=[ADDRESS:]PORT, by which proftap run starts a server in an unchanged program; see
 * preload.h. If the variable is not set, the cost is one getenv(). Nothing here may stop the
 * program: a failure only prints one line to its standard error.
 *
 * PROFTAP_SERVER_PID names the process that the variables are for. Its children inherit them, and
 * do nothing, unless PROFTAP_FOLLOW gives each a server, too; exec keeps the pid, and so starts a
 * server again.
 */
#define PTAP_IMPL_BUILDING
#include "lib/inject/preload.h"

#include <errno.h>
#include <proftap/proftap.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/env.h"
#include "lib/record/guest.h"
#include "lib/record/loader.h"

#define LONGEST_WAIT_NS (5 * NS_PER_S)
/*
 * The parent's recording checks for new children only until it ends. A child that starts after
 * that waits in vain, so its wait is shorter.
 */
#define LONGEST_WAIT_OF_CHILD_NS NS_PER_S
#define POLL_US 200

struct server_place {
	char address[128]; /* "": the default address */
	uint16_t port;
};

/*
 * The pid of the process whose server was started here; 0: none, or the program has claimed it. A
 * forked child has another pid.
 */
static _Atomic int server_pid;

bool preload_claim(void)
{
	int mine = getpid();

	return atomic_compare_exchange_strong(&server_pid, &mine, 0);
}

/* Blocks SIGPIPE: the signal of a pipe without a reader would end the program. */
static void write_to_stderr(const char *text, size_t n)
{
	const struct timespec at_once = {0, 0};
	sigset_t broken;
	sigset_t before;
	sigset_t pending;

	sigemptyset(&broken);
	sigaddset(&broken, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &broken, &before);
	if (write(STDERR_FILENO, text, n) < 0 && errno == EPIPE && !sigismember(&pending, SIGPIPE))
		sigtimedwait(&broken, NULL, &at_once);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* One write, so that the lines of several processes do not mix. */
static void print_failure(const char *text, const char *reason)
{
	char line[640];
	int n = snprintf(line, sizeof line, "proftap: %s%s\n", text, reason);

	write_to_stderr(line, n < (int)sizeof line ? (size_t)n : sizeof line - 1);
}

static int parse_port(const char *text, uint16_t *port)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (text[0] < '0' || text[0] > '9' || *end || value > 65535)
		return -EINVAL;
	*port = (uint16_t)value;
	return 0;
}

/*
 * Parses PORT, ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH. The start of the server checks the
 * address itself.
 */
static int parse_place(const char *text, struct server_place *out)
{
	const char *colon = strrchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : 0;
	bool is_bracketed = n > 2 && text[0] == '[' && text[n - 1] == ']';

	memset(out, 0, sizeof *out);
	if (strncmp(text, "unix:", 5) == 0)
		return (size_t)snprintf(out->address, sizeof out->address, "%s", text) <
				       sizeof out->address
			       ? 0
			       : -EINVAL;
	if (!colon)
		return parse_port(text, &out->port);
	if (is_bracketed) {
		text++;
		n -= 2;
	}
	if (n == 0 || n >= sizeof out->address || (!is_bracketed && memchr(text, ':', n)))
		return -EINVAL;
	memcpy(out->address, text, n);
	return parse_port(colon + 1, &out->port);
}

/* Returns true if the variables are for this process. */
static bool is_for_this_process(void)
{
	const char *pid = env_get(ENV_PROFTAP_SERVER_PID);

	return !pid || atoi(pid) == getpid();
}

static int start_server(const struct server_place *place)
{
	struct ptap_server_options o = PTAP_SERVER_OPTIONS_INIT;
	int r;

	if (place->address[0])
		o.address = place->address;
	o.port = place->port;
	o.log_dir = env_get(ENV_PROFTAP_LOG_DIR);
	r = ptap_server_start_with(&o);
	/* The program has started a server itself before. */
	if (r == PTAP_ERR_ALREADY)
		return -1;
	if (r) {
		print_failure(ptap_last_error(), "; the program runs without a profiler server");
		return -1;
	}
	if (env_is_on(ENV_PROFTAP_DISABLE))
		return -1;
	atomic_store(&server_pid, getpid());
	return 0;
}

/*
 * A server on a path has no port, so nobody notices its death here: the wait takes its full time.
 */
static bool may_serve(const struct server_place *place)
{
	return ptap_server_port() || strncmp(place->address, "unix:", 5) == 0;
}

/*
 * A capture of host_tracer_level 0 does not change guest->word; the arena's recording_since_ns
 * shows that the capture has begun.
 */
static bool is_recorded(void)
{
	struct guest *guest = guest_get();
	struct arena *arena = atomic_load(&guest->arena);

	return atomic_load(&guest->word) || (arena && atomic_load(&arena->recording_since_ns));
}

/*
 * Waits until the first capture records, so that it misses nothing. PROFTAP_WAIT holds the end of
 * the wait: CLOCK_MONOTONIC in milliseconds.
 */
static void wait_for_recording(const struct server_place *place)
{
	const char *until_ms = env_get(ENV_PROFTAP_WAIT);
	int64_t now_ns = monotonic_ns_by_call();
	int64_t end_ns =
		now_ns + (is_for_this_process() ? LONGEST_WAIT_NS : LONGEST_WAIT_OF_CHILD_NS);
	int64_t asked_ms = until_ms ? strtoll(until_ms, NULL, 10) : 0;

	if (asked_ms < end_ns / NS_PER_MS)
		end_ns = asked_ms * NS_PER_MS;
	for (; now_ns < end_ns && !is_recorded() && may_serve(place);
		now_ns = monotonic_ns_by_call())
		usleep(POLL_US);
}

/* Returns true if PROFTAP_FOLLOW says that this program's recording includes its descendants. */
static bool is_tree_recorded(void)
{
	const char *follow = env_get(ENV_PROFTAP_FOLLOW);

	return follow && strcmp(follow, ENV_FOLLOW_RECORDED) == 0;
}

static void start_from_environment(const char *asked, bool may_wait)
{
	struct server_place place;

	if (parse_place(asked, &place)) {
		print_failure(
			"PROFTAP_SERVER: must be PORT, ADDRESS:PORT or [ADDRESS]:PORT with a port from 0 to "
			"65535, or unix:PATH",
			"; the program runs without a profiler server");
		return;
	}
	if (is_for_this_process()) {
		if (start_server(&place) == 0 && may_wait)
			wait_for_recording(&place);
	} else if (env_is_on(ENV_PROFTAP_FOLLOW)) {
		/* The address in the variables belongs to the parent's server. */
		memset(&place, 0, sizeof place);
		if (start_server(&place) == 0 && may_wait && is_tree_recorded())
			wait_for_recording(&place);
	}
}

/*
 * Starts the server that the environment asks for, unless that was tried before in this process. A
 * failure only prints a line to standard error. |may_wait|: PROFTAP_WAIT waits for a recording. Any
 * thread.
 */
static void start_once(bool may_wait)
{
	static _Atomic int tried_for; /* the pid; a forked child has another one */
	const char *asked = env_get(ENV_PROFTAP_SERVER);
	int mine = getpid();

	if (asked && atomic_exchange(&tried_for, mine) != mine)
		start_from_environment(asked, may_wait);
}

int InitializeInjection(void)
{
	/* This does not wait for a recording: the driver may hold locks that a collector needs. */
	start_once(false);
	return 1;
}

__attribute__((constructor)) static void start_at_load(void)
{
	/*
	 * If this library was opened later, its opener may hold locks. The recording waits for
	 * collectors, which need these locks.
	 */
	start_once(loader_was_early());
}
