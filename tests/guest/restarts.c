/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts and stops its server, or traces that it records itself, in the middle of spans of another
 * thread. Each span has a number. For each trace it writes a line "FIRST LAST" to the file
 * "ranges": the first span that began after the start, and the last one that ended before the stop.
 * The traces are in "logs/NUMBER". For servers it writes its use of resources after a tenth of them
 * and after the last: a line "DESCRIPTORS RESIDENT_KIB RESERVED_KIB MAPPINGS" in the file "figures".
 * usage: restarts servers N
 *        restarts traces N
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/guest/guest.h"

#define SPANS_EACH 20
#define PAUSE_US 20
#define MAX_DESCRIPTORS 256

static _Atomic long n_begun;
static _Atomic long n_ended;
static _Atomic int quit;

static void *work(void *unused)
{
	while (!quit) {
		PTAP_SPAN("around");
		{
			PTAP_SPAN_ARGS("numbered", PTAP_I("n", n_begun));
			n_begun++;
		}
		n_ended++;
		usleep(PAUSE_US);
	}
	return unused;
}

static void await_spans(void)
{
	long goal = n_ended + SPANS_EACH;

	while (n_ended < goal)
		usleep(PAUSE_US);
}

#ifdef PTAP_DISABLE
static void restart_servers(int n)
{
	while (n--)
		await_spans();
}

static void record_traces(int n)
{
	while (n--)
		await_spans();
}
#else
static int count_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < MAX_DESCRIPTORS; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static int count_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	int n = 0;
	int c;

	while (maps && (c = getc(maps)) != EOF)
		n += c == '\n';
	if (maps)
		fclose(maps);
	return n;
}

static void note_figures(FILE *figures)
{
	FILE *statm = fopen("/proc/self/statm", "re");
	long page_kib = sysconf(_SC_PAGESIZE) / 1024;
	long n_reserved = -1;
	long n_resident = -1;
	bool is_read = statm && fscanf(statm, "%ld %ld", &n_reserved, &n_resident) == 2;

	if (statm)
		fclose(statm);
	if (is_read)
		fprintf(figures, "%d %ld %ld %d\n", count_descriptors(), n_resident * page_kib,
			n_reserved * page_kib, count_mappings());
}

static void restart_servers(int n)
{
	FILE *figures = fopen("figures", "we");

	for (int i = 0; i < n && figures; i++) {
		GUEST_STOP();
		GUEST_START();
		if (!ptap_server_port()) {
			printf("start %d: %s\n", i, ptap_last_error());
			break;
		}
		if (i == n / 10 || i == n - 1)
			note_figures(figures);
	}
	if (!figures || fclose(figures))
		printf("no file for figures\n");
}

static int record_trace(int i, FILE *ranges)
{
	char path[32];
	long first;
	long last;

	snprintf(path, sizeof path, "logs/%d", i);
	if (ptap_trace_start(path, NULL))
		return 1;
	/* The span under way may have begun before the start. */
	first = n_begun + 1;
	await_spans();
	last = n_ended - 1;
	return ptap_trace_stop() || fprintf(ranges, "%ld %ld\n", first, last) < 0;
}

static void record_traces(int n)
{
	FILE *ranges = fopen("ranges", "we");
	int failed = !ranges || mkdir("logs", 0700);

	for (int i = 0; i < n && !failed; i++)
		failed = record_trace(i, ranges);
	if (failed || fclose(ranges))
		printf("%s\n", ptap_last_error());
}
#endif

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc < 3)
		return 2;
	GUEST_START();
	pthread_create(&thread, NULL, work, NULL);
	if (strcmp(argv[1], "servers") == 0)
		restart_servers(atoi(argv[2]));
	else
		record_traces(atoi(argv[2]));
	quit = 1;
	pthread_join(thread, NULL);
	printf("done\n");
	return 0;
}
