/* SPDX-License-Identifier: Apache-2.0 */
/* Retries; see retry.h. */
#include "client/retry.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/diag.h"
#include "client/capture.h"
#include "client/clock.h"
#include "client/exit.h"
#include "client/interrupt.h"

#define FIRST_PAUSE_MS 500
#define LONGEST_PAUSE_MS 8000

static bool is_worth_another(int code)
{
	return (code == EXIT_BUSY || code == EXIT_NOBODY || code == EXIT_EMPTY) &&
	       interrupt_get_count() == 0;
}

/* Returns early when interrupted. */
static void pause_ms(int64_t ms)
{
	int64_t end_ms = clock_monotonic_ms() + ms;
	int64_t left_ms = ms;

	while (left_ms > 0 && interrupt_get_count() == 0) {
		interrupt_poll(NULL, left_ms);
		left_ms = end_ms - clock_monotonic_ms();
	}
}

int retry_capture(struct capture *capture, int64_t attempts, struct diag *d)
{
	int64_t pause = FIRST_PAUSE_MS;

	for (int64_t attempt = 1;; attempt++) {
		int code = capture_run(capture, d);

		if (attempt >= attempts || !is_worth_another(code))
			return code;
		fprintf(stderr, "%s (attempt %" PRId64 " of %" PRId64 ")\n", d->text, attempt,
			attempts);
		pause_ms(pause);
		if (interrupt_get_count() > 0) {
			diag_set(
				d, -EINTR, "%s: interrupted: nothing was written", capture->target);
			return EXIT_INTERRUPTED;
		}
		pause = pause * 2 < LONGEST_PAUSE_MS ? pause * 2 : LONGEST_PAUSE_MS;
	}
}
