/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PROFTAP_SERVER=[ADDRESS:]PORT, the way of proftap run into an unchanged program; see preload.h. Without the
 * variable this is one getenv(). Nothing here may stop the program: what goes wrong is one line on its standard
 * error.
 *
 * PROFTAP_SERVER_PID is the process that is meant. Its children inherit all the variables, and do nothing, unless
 * PROFTAP_FOLLOW says that each is to have a server, too; exec keeps the pid, and so starts one again.
 */
#define PTAP_IMPL_BUILDING
#include "lib/inject/preload.h"

#include <dlfcn.h>
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

#define LONGEST_WAIT_NS (5 * NS_PER_S)
/*
 * The parent's recording looks for new children all the time; where it is over, a child would wait
 * in vain.
 */
#define LONGEST_WAIT_OF_CHILD_NS NS_PER_S
#define LOOK_US 200

struct place {
	char address[128]; /* "": the default */
	uint16_t port;
};

/* Whose server was started here; 0: nobody's, or the program has claimed it. A forked child is somebody else. */
static _Atomic int started_for;

int preload_claim(void)
{
	int mine = getpid();

	return atomic_compare_exchange_strong(&started_for, &mine, 0);
}

/* To a pipe that nobody reads any more it would be a signal, which ends the program. */
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
static void say(const char *text, const char *reason)
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

/* PORT, ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH; whether the address is one, starting the server will tell. */
static int parse(const char *text, struct place *out)
{
	const char *colon = strrchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : 0;
	int is_bracketed = n > 2 && text[0] == '[' && text[n - 1] == ']';

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

/* Which process the variables were set for. */
static int is_meant(void)
{
	const char *pid = env_get(ENV_PROFTAP_SERVER_PID);

	return !pid || atoi(pid) == getpid();
}

static int start(const struct place *place)
{
	struct ptap_server_options o = PTAP_SERVER_OPTIONS_INIT;
	int r;

	if (place->address[0])
		o.address = place->address;
	o.port = place->port;
	o.log_dir = env_get(ENV_PROFTAP_LOG_DIR);
	r = ptap_server_start_with(&o);
	/* The program was faster. */
	if (r == PTAP_ERR_ALREADY)
		return -1;
	if (r) {
		say(ptap_last_error(), "; the program runs without a profiler server");
		return -1;
	}
	if (env_is_on(ENV_PROFTAP_DISABLE))
		return -1;
	atomic_store(&started_for, getpid());
	return 0;
}

/* A server on a path that has died is waited for in vain, until the time is over. */
static int may_serve(const struct place *place)
{
	return ptap_server_port() || strncmp(place->address, "unix:", 5) == 0;
}

/* A capture of host_tracer_level 0 leaves the word as it is: its server says that it has begun. */
static int is_recorded(void)
{
	struct guest *guest = guest_get();
	struct arena *arena = atomic_load(&guest->arena);

	return atomic_load(&guest->word) || (arena && atomic_load(&arena->recording_since_ns));
}

/*
 * Until the first capture records, so that it misses nothing. The variable holds when that is of no use any more:
 * CLOCK_MONOTONIC in milliseconds.
 */
static void wait_for_recording(const struct place *place)
{
	const char *until_ms = env_get(ENV_PROFTAP_WAIT);
	int64_t now_ns = monotonic_ns_by_call();
	int64_t end_ns = now_ns + (is_meant() ? LONGEST_WAIT_NS : LONGEST_WAIT_OF_CHILD_NS);
	int64_t asked_ms = until_ms ? strtoll(until_ms, NULL, 10) : 0;

	if (asked_ms < end_ns / NS_PER_MS)
		end_ns = asked_ms * NS_PER_MS;
	for (; now_ns < end_ns && !is_recorded() && may_serve(place);
		now_ns = monotonic_ns_by_call())
		usleep(LOOK_US);
}

/*
 * The loader has put it into the program before that began. Who opens it later (CUDA, in cuInit()) holds the loader's lock over
 * our constructor, and perhaps others; collectors, which the recording waits for, need them.
 */
static int is_preloaded(void)
{
	const char *preloads = secure_getenv("LD_PRELOAD");
	Dl_info own;

	return preloads && dladdr((void *)(size_t)&preload_start, &own) && own.dli_fname[0] &&
	       strstr(preloads, own.dli_fname);
}

/* Whoever started this program's ancestor records all that it starts. */
static int is_tree_recorded(void)
{
	const char *follow = env_get(ENV_PROFTAP_FOLLOW);

	return follow && strcmp(follow, ENV_FOLLOW_RECORDED) == 0;
}

static void start_from_environment(const char *asked, int may_wait)
{
	struct place place;

	if (parse(asked, &place)) {
		say("PROFTAP_SERVER: must be PORT, ADDRESS:PORT or [ADDRESS]:PORT with a port from 0 to "
		    "65535, or unix:PATH",
			"; the program runs without a profiler server");
		return;
	}
	if (is_meant()) {
		if (start(&place) == 0 && may_wait)
			wait_for_recording(&place);
	} else if (env_is_on(ENV_PROFTAP_FOLLOW)) {
		/* What was asked for is its parent's. */
		memset(&place, 0, sizeof place);
		if (start(&place) == 0 && may_wait && is_tree_recorded())
			wait_for_recording(&place);
	}
}

static void start_once(int may_wait)
{
	static _Atomic int tried_for; /* the process; a forked child is another one */
	const char *asked = env_get(ENV_PROFTAP_SERVER);
	int mine = getpid();

	if (asked && atomic_exchange(&tried_for, mine) != mine)
		start_from_environment(asked, may_wait);
}

void preload_start(void)
{
	start_once(0);
}

__attribute__((constructor)) static void begin(void)
{
	start_once(is_preloaded());
}
