/* SPDX-License-Identifier: Apache-2.0 */
/* Retries; see retry.h. */
#include "client/capture/retry.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/diag.h"
#include "client/capture/capture.h"
#include "client/process/clock.h"
#include "client/process/exit.h"
#include "client/process/interrupt.h"

#define FIRST_PAUSE_MS 500
#define LONGEST_PAUSE_MS 8000
/* With --wait the user wants the recording to begin soon after the target is ready. */
#define LONGEST_PAUSE_OF_WAIT_MS 1000

struct tries {
	const struct retry *retry;
	int64_t attempt; /* the number of this try, from 1 */
	int64_t end_ms; /* CLOCK_MONOTONIC; the end of waiting */
	int64_t pause_ms;
};

/*
 * Another try does not help if something else listens on the port (-EPROTO, -EACCES), the host's
 * name is not known (-ENXIO), or the tunnel broke (-EPIPE).
 */
bool retry_can_help(int code, const struct diag *d)
{
	if (code == EXIT_BUSY || (code == EXIT_FAILED && d->code == -EAGAIN))
		return true;
	return code == EXIT_NOBODY && d->code != -EPROTO && d->code != -EACCES &&
	       d->code != -ENXIO && d->code != -EPIPE;
}

static bool has_attempts(const struct tries *t)
{
	return t->attempt < t->retry->attempts;
}

static bool has_time(const struct tries *t)
{
	return clock_monotonic_ms() < t->end_ms;
}

/* Returns true if another try makes sense, given that attempts or time are left. */
static bool is_worth_another(const struct tries *t, int code, const struct diag *d)
{
	if (interrupt_get_count() > 0)
		return false;
	return code == EXIT_EMPTY ? has_attempts(t) : retry_can_help(code, d);
}

/* Announces the next try: each time if attempts are counted, once if the client only waits. */
static void say_retry(const struct tries *t, const struct diag *d)
{
	if (has_attempts(t))
		fprintf(stderr, "%s (attempt %" PRId64 " of %" PRId64 ")\n", d->text, t->attempt,
			t->retry->attempts);
	else if (t->attempt == t->retry->attempts)
		fprintf(stderr, "%s (waiting)\n", d->text);
}

/* If the time is over, adds to |d| how long the client has waited. */
static void say_waited(const struct tries *t, int code, struct diag *d)
{
	const struct diag why = *d;

	if (t->retry->wait_s > 0 && !has_time(t) && retry_can_help(code, d))
		diag_set(d, why.code, "%.440s; waited for %" PRId64 " s", why.text,
			t->retry->wait_s);
}

/* An interrupt ends the sleep early. */
static void sleep_ms(int64_t ms)
{
	int64_t end_ms = clock_monotonic_ms() + ms;
	int64_t left_ms = ms;

	while (left_ms > 0 && interrupt_get_count() == 0) {
		interrupt_poll(NULL, left_ms);
		left_ms = end_ms - clock_monotonic_ms();
	}
}

static void pause_between(struct tries *t)
{
	int64_t longest_ms = has_attempts(t) ? LONGEST_PAUSE_MS : LONGEST_PAUSE_OF_WAIT_MS;
	int64_t left_ms = t->end_ms - clock_monotonic_ms();
	int64_t ms = t->pause_ms < longest_ms ? t->pause_ms : longest_ms;

	/* The last pause is shortened, so that the last try is at the end of the time. */
	if (!has_attempts(t) && ms > left_ms)
		ms = left_ms;
	sleep_ms(ms);
	t->pause_ms *= 2;
	if (t->pause_ms > LONGEST_PAUSE_MS)
		t->pause_ms = LONGEST_PAUSE_MS;
}

int retry_capture(struct client_capture *capture, const struct retry *retry, struct diag *d)
{
	struct tries t = {
		.retry = retry,
		.attempt = 1,
		.end_ms = clock_monotonic_ms() + retry->wait_s * 1000,
		.pause_ms = FIRST_PAUSE_MS,
	};

	capture->is_waited_for = retry->wait_s > 0;
	for (;; t.attempt++) {
		int code;

		capture->can_retry = has_attempts(&t) || has_time(&t);
		code = client_capture_run(capture, d);
		if (capture->is_reported || !capture->can_retry || !is_worth_another(&t, code, d)) {
			say_waited(&t, code, d);
			return code;
		}
		say_retry(&t, d);
		pause_between(&t);
		if (interrupt_get_count() > 0) {
			diag_set(
				d, -EINTR, "%s: interrupted: nothing was written", capture->target);
			return EXIT_INTERRUPTED;
		}
	}
}
