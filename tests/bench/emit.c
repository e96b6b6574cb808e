/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The target of most benchmarks. A program as users write them: the installed header, the shared
 * library, nothing internal. It ends when its standard input does.
 *
 * usage: emit start GIGABYTES   touches that much memory and starts a server: prints the times of the
 *                               start in ns and the port
 *        emit idle              prints "running", reads a line, starts a server, prints the port
 *        emit pulse             the same, and then a span each half millisecond
 *        emit burst N           prints the port, then emits N spans in each capture, paced so that the
 *                               server keeps up, and prints how many
 *        emit large N           prints the port, then, in the first capture, emits N spans with eight arguments, paced in
 *                               the same way, and prints "emitted"
 *        emit trace N           reads a directory and a number of bytes, then traces itself into that directory, with so
 *                               many bytes for the capture at most: N spans with eight arguments, paced in the same way.
 *                               Prints when it began, when it ended, and when its file was there, in ns of the monotonic clock
 *        emit steady N          the same, by a server that was there before and stays: N spans evenly over two seconds
 *        emit micro N           the same with N spans of a microsecond each, of four names
 */
#include <poll.h>
#include <proftap/proftap.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/bench/samples.h"

/* 8 % of a default ring, then time for the server: 1,000,000 spans take about 400 ms. */
#define BATCH 5000
#define PAUSE_US 1600
/* A span takes 9 slots. After a batch of 72 KiB comes time for the server. */
#define LARGE_BATCH 500
#define LARGE_PAUSE_US 400
#define STEADY_NS 2e9
#define STEADY_BATCH 500
#define MICRO_NS 1000
#define PULSE_PAUSE_US 500

static int fail(const char *what)
{
	fprintf(stderr, "emit: %s: %s\n", what, ptap_last_error());
	return 1;
}

/* Returns true if standard input has ended, at the latest after |wait_ms|. */
static bool is_over(int wait_ms)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	char c;

	return poll(&in, 1, wait_ms) > 0 && read(STDIN_FILENO, &c, 1) <= 0;
}

static void wait_for_end(void)
{
	while (!is_over(-1))
		;
}

static int touch(size_t n_bytes)
{
	char *memory = n_bytes ? mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
			       : NULL;

	if (memory == MAP_FAILED)
		return -1;
	for (size_t i = 0; i < n_bytes; i += 4096)
		memory[i] = 1;
	return 0;
}

static int run_start(const char *gigabytes)
{
	double before;
	double after;

	if (touch((size_t)atoi(gigabytes) << 30))
		return fail("no memory");
	before = now_ns();
	if (ptap_server_start(0))
		return fail("no server");
	after = now_ns();
	printf("%.0f %.0f %d\n", before, after, ptap_server_port());
	wait_for_end();
	return 0;
}

/* Returns true when a server runs. */
static bool serve_when_asked(void)
{
	puts("running");
	if (is_over(-1))
		return false;
	if (ptap_server_start(0)) {
		fail("no server");
		return false;
	}
	printf("%d\n", ptap_server_port());
	return true;
}

static int run_idle(const char *unused)
{
	(void)unused;
	if (!serve_when_asked())
		return 1;
	wait_for_end();
	return 0;
}

static int run_pulse(const char *unused)
{
	(void)unused;
	if (!serve_when_asked())
		return 1;
	while (!is_over(0)) {
		{
			PTAP_SPAN("pulse");
		}
		usleep(PULSE_PAUSE_US);
	}
	return 0;
}

static void emit(int n)
{
	for (int i = 0; i < n; i++) {
		PTAP_SPAN("span");
		__asm__ volatile("" ::: "memory");
	}
}

/* Prints the number of emitted spans, and whether all of them were emitted during a recording. */
static void emit_burst(int n)
{
	int n_emitted = 0;

	while (n_emitted < n && ptap_enabled(1)) {
		int batch = n - n_emitted < BATCH ? n - n_emitted : BATCH;

		emit(batch);
		n_emitted += batch;
		usleep(PAUSE_US);
	}
	printf("emitted %d %s\n", n_emitted, ptap_enabled(1) ? "whole" : "cut");
	while (ptap_enabled(1))
		usleep(1000);
}

static int run_burst(const char *n)
{
	if (ptap_server_start(0))
		return fail("no server");
	printf("%d\n", ptap_server_port());
	while (!is_over(1))
		if (ptap_enabled(1))
			emit_burst(atoi(n));
	return 0;
}

static void emit_large(int i)
{
	PTAP_SPAN_ARGS("large", PTAP_I("a", i), PTAP_I("b", i + 1000000), PTAP_I("c", -i),
		PTAP_F("d", i / 3.0), PTAP_F("e", i / 7.0), PTAP_I("f", i + 2000000),
		PTAP_F("g", i / 11.0), PTAP_F("h", i / 13.0));
}

static void emit_paced(int n)
{
	for (int i = 0; i < n; i++) {
		emit_large(i);
		if (i % LARGE_BATCH == LARGE_BATCH - 1)
			usleep(LARGE_PAUSE_US);
	}
}

static int run_large(const char *n)
{
	if (ptap_server_start(0))
		return fail("no server");
	printf("%d\n", ptap_server_port());
	while (!ptap_enabled(1) && !is_over(1))
		;
	emit_paced(atoi(n));
	puts("emitted");
	wait_for_end();
	return 0;
}

static void spin_until(double end_ns)
{
	while (now_ns() < end_ns)
		;
}

static void emit_steady(int n)
{
	double start = now_ns();

	for (int i = 0; i < n; i += STEADY_BATCH) {
		emit(STEADY_BATCH);
		spin_until(start + STEADY_NS / n * (i + STEADY_BATCH));
	}
}

#define EMIT_MICRO(name, start)                 \
	do {                                    \
		PTAP_SPAN(name);                \
		spin_until((start) + MICRO_NS); \
	} while (0)

static void emit_micro(int n)
{
	for (int i = 0; i < n; i += 4) {
		EMIT_MICRO("parse", now_ns());
		EMIT_MICRO("plan", now_ns());
		EMIT_MICRO("run", now_ns());
		EMIT_MICRO("answer", now_ns());
	}
}

static int trace(void (*emit_all)(int n), int n)
{
	struct ptap_profile_options options = PTAP_PROFILE_OPTIONS_INIT;
	struct ptap_profile_option max_bytes = {"ptap_max_capture_bytes", NULL};
	char line[600];
	char *bytes = fgets(line, sizeof line, stdin) ? strrchr(line, ' ') : NULL;
	double before;
	double after;

	if (!bytes)
		return fail("no directory");
	*bytes++ = '\0';
	bytes[strcspn(bytes, "\n")] = '\0';
	max_bytes.value = bytes;
	options.advanced_configuration = &max_bytes;
	options.n_advanced_configuration = 1;
	if (ptap_trace_start(line, &options))
		return fail("no trace");
	puts("running");
	before = now_ns();
	emit_all(n);
	after = now_ns();
	if (ptap_trace_stop())
		return fail("no file");
	printf("%.0f %.0f %.0f\n", before, after, now_ns());
	wait_for_end();
	return 0;
}

static int run_trace(const char *n)
{
	return trace(emit_paced, atoi(n));
}

static int run_steady(const char *n)
{
	return ptap_server_start(0) ? fail("no server") : trace(emit_steady, atoi(n));
}

static int run_micro(const char *n)
{
	return trace(emit_micro, atoi(n));
}

static const struct mode {
	const char *name;
	int (*run)(const char *argument);
} modes[] = {
	{"burst", run_burst},
	{"idle", run_idle},
	{"large", run_large},
	{"micro", run_micro},
	{"pulse", run_pulse},
	{"start", run_start},
	{"steady", run_steady},
	{"trace", run_trace},
};

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; argc >= 2 && i < sizeof modes / sizeof modes[0]; i++)
		if (strcmp(argv[1], modes[i].name) == 0)
			return modes[i].run(argc > 2 ? argv[2] : "0");
	fputs("usage: emit start GIGABYTES | idle | pulse | burst N | large N | trace N | "
	      "steady N | micro N\n",
		stderr);
	return 2;
}
