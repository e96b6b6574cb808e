/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder: a program whose requests are fast, except a few. Its flight recorder always runs. When
 * a request takes too long, the program requests a file with the events until then:
 *
 *	recorder LOG_DIR [SECONDS]              writes a run for each slow request; prints the port
 *	proftap report LOG_DIR
 *	proftap snapshot PORT --last 100        writes the last 100 ms on request
 *
 * If a signal kills the program, its last moments are written to LOG_DIR, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <proftap/proftap.h>

/* The limit of a request's duration. A flush in every 100th request exceeds it. */
#define LIMIT_MS 20
#define FAST_US 500
#define FLUSH_MS 30
#define FLUSH_EACH 100
/* The pause after a run; more runs would show the same again. */
#define PAUSE_S 1

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void flush(void)
{
	PTAP_SPAN("flush");
	usleep(FLUSH_MS * 1000);
}

static void answer(int number)
{
	PTAP_SPAN_ARGS("request", PTAP_I("number", number));
	usleep(FAST_US);
	if (number % FLUSH_EACH == FLUSH_EACH - 1)
		flush();
}

/* The snapshot is taken after the request, so that all its spans are in the rings. */
static void explain(int number, double took_ms)
{
	char why[64];

	snprintf(why, sizeof(why), "request %d took %.1f ms", number, took_ms);
	if (ptap_snapshot(why) != 0)
		fprintf(stderr, "recorder: %s: %s\n", why, ptap_last_error());
	else
		printf("recorder: %s\n", why);
	fflush(stdout);
}

static void serve(double seconds)
{
	const double end_ms = now_ms() + seconds * 1e3;
	double quiet_until_ms = 0;

	for (int number = 0; now_ms() < end_ms; number++) {
		const double start_ms = now_ms();

		answer(number);
		if (now_ms() - start_ms < LIMIT_MS || start_ms < quiet_until_ms)
			continue;
		explain(number, now_ms() - start_ms);
		quiet_until_ms = now_ms() + PAUSE_S * 1e3;
	}
}

int main(int argc, char **argv)
{
	struct ptap_server_options o = PTAP_SERVER_OPTIONS_INIT;

	if (argc < 2 || argc > 3 || argv[1][0] == '-') {
		fprintf(stderr, "usage: recorder LOG_DIR [SECONDS]\n");
		return 2;
	}
	o.recorder = 1;
	o.log_dir = argv[1];
	if (ptap_server_start_with(&o) != 0) {
		fprintf(stderr, "recorder: %s\n", ptap_last_error());
		return 1;
	}
	printf("recorder: pid %d, port %d\n", (int)getpid(), ptap_server_port());
	fflush(stdout);
	serve(argc > 2 ? atof(argv[2]) : 1e6);
	return 0;
}
