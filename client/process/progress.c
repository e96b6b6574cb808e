/* SPDX-License-Identifier: Apache-2.0 */
/* The progress line; see progress.h. */
#include "client/process/progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "trace/quantity.h"

static bool is_drawn;

static double to_seconds(int64_t ms)
{
	return (double)(ms > 0 ? ms : 0) / 1000;
}

/* The server's first HTTP/2 frames (SETTINGS), which precede the data, have fewer bytes. */
#define GREETING_BYTES 1024
/* Smaller amounts are read, or written to a disk, sooner than the progress line is redrawn. */
#define MIN_WORK_BYTES ((uint64_t)16 << 20)

static void draw_size(uint64_t bytes)
{
	fputs(quantity_bytes(bytes).text, stderr);
}

static void draw_received(const struct progress_line *p)
{
	draw_size((uint64_t)p->received_bytes);
	if (p->announced_bytes) {
		fputs(" of ", stderr);
		draw_size(p->announced_bytes);
	}
}

static void draw_wait(const struct progress_line *p)
{
	if (p->n_over > 0)
		fprintf(stderr, "%zu of %zu done, ", p->n_over, p->n_targets);
	if (p->received_bytes < GREETING_BYTES) {
		fputs("collecting…", stderr);
	} else {
		fputs("waiting for the data: ", stderr);
		draw_received(p);
	}
	fprintf(stderr, ", gives up in %.0f s", to_seconds(p->timeout_ms - p->elapsed_ms));
}

static void draw_recording(const struct progress_line *p)
{
	fprintf(stderr, "recording %.1f / %.1f s", to_seconds(p->elapsed_ms - p->delay_ms),
		to_seconds(p->duration_ms));
	if (p->recorded_bytes) {
		fputs(", ", stderr);
		draw_size(p->recorded_bytes);
	}
}

static void draw_phase(const struct progress_line *p)
{
	if (p->is_stopping) {
		fputs("ended early, waiting for the data: ", stderr);
		draw_received(p);
		fputs(" (Ctrl-C again gives up)", stderr);
	} else if (p->elapsed_ms < p->delay_ms) {
		fprintf(stderr, "starts in %.1f s", to_seconds(p->delay_ms - p->elapsed_ms));
	} else if (p->elapsed_ms < p->delay_ms + p->duration_ms) {
		draw_recording(p);
	} else {
		draw_wait(p);
	}
}

void progress_draw(const struct progress_line *p)
{
	if (!isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r\033[K%s: ", p->target);
	draw_phase(p);
	fflush(stderr);
	is_drawn = true;
}

void progress_draw_work(const char *target, const char *doing, uint64_t n_bytes)
{
	if (!isatty(STDERR_FILENO) || n_bytes < MIN_WORK_BYTES)
		return;
	fprintf(stderr, "\r\033[K%s: ", target);
	draw_size(n_bytes);
	fprintf(stderr, " are here, %s…", doing);
	fflush(stderr);
	is_drawn = true;
}

void progress_clear(void)
{
	if (!is_drawn)
		return;
	fprintf(stderr, "\r\033[K");
	fflush(stderr);
	is_drawn = false;
}
