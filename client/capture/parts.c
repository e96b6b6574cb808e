/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a capture; see parts.h. */
#include "client/capture/parts.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/diag.h"
#include "client/capture/capture.h"
#include "client/capture/part_report.h"
#include "client/capture/retry.h"
#include "client/process/clock.h"
#include "client/process/exit.h"
#include "client/process/progress.h"

/* The most threads for connecting, which waits for name servers and for hosts that are down. */
#define MAX_THREADS 64
/* The time until the agreed start, for the requests to arrive and for servers to get ready. */
#define LEAD_MS 250
#define LEAD_PER_TARGET_MS 20
#define TURN_MS 100
/* With several targets, each turn waits this long for one of them and polls the others. */
#define TURN_OF_MANY_MS 10
/* A socket, its copy and a file for each target, and some for the rest of the process. */
#define FDS_PER_TARGET 3
#define FDS_MORE 64

/* Raises the soft limit, which is often lower than the number of files that the kernel allows. */
static void allow_files(size_t n)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= n)
		return;
	limit.rlim_cur = n < limit.rlim_max ? n : limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

int parts_init(struct parts *parts, struct client_capture *capture)
{
	*parts = (struct parts){.capture = capture};
	parts->v = calloc(capture->n_targets, sizeof *parts->v);
	if (!parts->v)
		return -ENOMEM;
	parts->n = capture->n_targets;
	for (size_t i = 0; i < parts->n; i++)
		part_init(&parts->v[i], capture, i, &parts->taken);
	allow_files(parts->n * FDS_PER_TARGET + FDS_MORE);
	return 0;
}

void parts_deinit(struct parts *parts)
{
	/*
	 * The first part made the run's directory and removes it if it is empty,
	 * so it is freed last.
	 */
	for (size_t i = parts->n; i > 0; i--)
		part_deinit(&parts->v[i - 1]);
	free(parts->v);
	names_deinit(&parts->taken);
}

int parts_open(struct parts *parts)
{
	const char *run = parts->capture->run;

	for (size_t i = 0; i < parts->n; i++) {
		int code = part_open(&parts->v[i], run);

		if (code != EXIT_DONE)
			return code;
		run = parts->v[0].run_dir.run;
	}
	return EXIT_DONE;
}

/* --- connecting ---------------------------------------------------------------------------- */

/* The queue of parts that are still to be connected; several threads take parts from it. */
struct part_queue {
	struct parts *parts;
	_Atomic size_t next;
};

static void *connect_some(void *argument)
{
	struct part_queue *queue = argument;
	size_t i;

	while ((i = atomic_fetch_add(&queue->next, 1)) < queue->parts->n)
		part_connect(&queue->parts->v[i]);
	return NULL;
}

void parts_connect(struct parts *parts)
{
	struct part_queue queue = {.parts = parts};
	pthread_t threads[MAX_THREADS];
	size_t n = 0;

	while (n < MAX_THREADS && n + 1 < parts->n &&
		pthread_create(&threads[n], NULL, connect_some, &queue) == 0)
		n++;
	connect_some(&queue);
	while (n > 0)
		pthread_join(threads[--n], NULL);
}

/* --- starting ------------------------------------------------------------------------------ */

static int64_t agree_on_start(const struct parts *parts)
{
	const struct profile_options *o = &parts->capture->options;
	int64_t lead_ms = LEAD_MS + LEAD_PER_TARGET_MS * (int64_t)parts->n;

	if (parts->n == 1)
		return 0;
	if (o->start_timestamp_ns)
		return (int64_t)o->start_timestamp_ns;
	if (lead_ms < (int64_t)o->delay_ms)
		lead_ms = (int64_t)o->delay_ms;
	return realtime_ns() + lead_ms * NS_PER_MS;
}

/* A part that failed to start is not polled, so it is marked as over and reported here. */
static void end_failed(struct part *p)
{
	p->is_over = p->code != EXIT_DONE;
	if (p->is_over)
		part_report_make(p);
}

void parts_start(struct parts *parts)
{
	parts->start_unix_ns = agree_on_start(parts);
	for (size_t i = 0; i < parts->n; i++) {
		struct part *p = &parts->v[i];

		if (p->code == EXIT_DONE)
			part_start(p, parts->start_unix_ns);
		end_failed(p);
	}
}

/* --- waiting ------------------------------------------------------------------------------- */

static size_t count_over(const struct parts *parts)
{
	size_t n = 0;

	for (size_t i = 0; i < parts->n; i++)
		n += parts->v[i].is_over;
	return n;
}

static void show_progress(const struct parts *parts)
{
	struct progress_line progress = {.n_targets = parts->n, .n_over = count_over(parts)};
	const struct part *p = NULL;
	char target[32];

	for (size_t i = parts->n; i > 0; i--) {
		recording_call_add_progress(&parts->v[i - 1].recording, &progress);
		if (!parts->v[i - 1].is_over)
			p = &parts->v[i - 1];
	}
	if (!p || parts->capture->has_program)
		return;
	snprintf(target, sizeof target, "%zu targets", parts->n);
	progress.target = parts->n > 1 ? target : p->address.text;
	progress.elapsed_ms = clock_monotonic_ms() - p->recording.started_ms;
	progress.delay_ms = p->request.delay_ms;
	progress.duration_ms = p->request.duration_ms;
	progress.timeout_ms = p->recording.limit_ms;
	progress.is_stopping = p->recording.stopped_ms != 0;
	progress_draw(&progress);
}

/* Waits for the first part that is not over, and polls the others. Returns whether all are over. */
static bool take_turn(struct parts *parts)
{
	int64_t wait_ms = parts->n > 1 ? TURN_OF_MANY_MS : TURN_MS;
	bool is_over = true;

	for (size_t i = 0; i < parts->n; i++) {
		struct part *p = &parts->v[i];

		if (p->is_over || part_poll(p, wait_ms))
			continue;
		is_over = false;
		wait_ms = 0;
	}
	return is_over;
}

static bool has_file(const struct parts *parts)
{
	for (size_t i = 0; i < parts->n; i++)
		if (parts->v[i].file)
			return true;
	return false;
}

/*
 * A busy target sometimes refuses as late as the agreed start, when others record already. Then
 * all recordings are given up and tried again.
 */
static bool needs_another_try(const struct parts *parts)
{
	return parts->n > 1 && parts->capture->can_retry && parts_find_refused(parts) &&
	       !has_file(parts);
}

bool parts_wait(struct parts *parts)
{
	int64_t drawn_ms = clock_monotonic_ms();

	while (!take_turn(parts)) {
		if (needs_another_try(parts))
			return false;
		if (clock_monotonic_ms() - drawn_ms < TURN_MS)
			continue;
		drawn_ms = clock_monotonic_ms();
		show_progress(parts);
	}
	return true;
}

/* --- the outcome --------------------------------------------------------------------------- */

struct part *parts_find_refused(const struct parts *parts)
{
	for (size_t i = 0; i < parts->n; i++)
		if (retry_can_help(parts->v[i].code, &parts->v[i].d))
			return &parts->v[i];
	return NULL;
}

size_t parts_count_done(const struct parts *parts)
{
	size_t n = 0;

	for (size_t i = 0; i < parts->n; i++)
		n += parts->v[i].code == EXIT_DONE;
	return n;
}

int parts_get_code(const struct parts *parts)
{
	size_t n_done = parts_count_done(parts);

	if (n_done > 0)
		return n_done == parts->n ? EXIT_DONE : EXIT_PARTIAL;
	for (size_t i = 1; i < parts->n; i++)
		if (parts->v[i].code != parts->v[0].code)
			return EXIT_FAILED;
	return parts->v[0].code;
}

/* --- two names of one target --------------------------------------------------------------- */

static int compare_targets(const void *a, const void *b)
{
	const struct part *const *x = a;
	const struct part *const *y = b;
	int order = strcmp((*x)->clock.target, (*y)->clock.target);

	if (order)
		return order;
	return *x < *y ? -1 : *x > *y;
}

static bool is_twin(const struct part *first, const struct part *second)
{
	return first->clock.target[0] && second->code == EXIT_DONE && first->code == EXIT_DONE &&
	       strcmp(first->clock.target, second->clock.target) == 0;
}

static struct part *refuse_twin(const struct part *first, struct part *second)
{
	diag_set(&second->d, -EINVAL,
		"%.200s: the same target as %.200s; a target is captured once at a time",
		second->address.text, first->address.text);
	second->code = EXIT_USAGE;
	return second;
}

struct part *parts_find_twin(struct parts *parts)
{
	struct part **sorted = parts->n > 1 ? calloc(parts->n, sizeof *sorted) : NULL;
	struct part *twin = NULL;

	if (!sorted)
		return NULL;
	for (size_t i = 0; i < parts->n; i++)
		sorted[i] = &parts->v[i];
	qsort(sorted, parts->n, sizeof *sorted, compare_targets);
	for (size_t i = 1; i < parts->n && !twin; i++)
		if (is_twin(sorted[i - 1], sorted[i]))
			twin = refuse_twin(sorted[i - 1], sorted[i]);
	free(sorted);
	return twin;
}
