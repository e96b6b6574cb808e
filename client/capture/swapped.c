/* SPDX-License-Identifier: Apache-2.0 */
/* Words in the wrong order; see swapped.h. */
#include "client/capture/swapped.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "client/capture/capture.h"
#include "client/connect/dial.h"

/* Below are services of the system, no profiler servers. */
#define FIRST_USUAL_PORT 1024
#define MAX_PORT 65535
#define ANSWER_MS 200

static bool somebody_listens(uint16_t port)
{
	struct address address = {.host = "localhost", .port = port};
	_cleanup_close_ int fd = dial(&address, ANSWER_MS, NULL);

	return fd >= 0;
}

static bool is_likely(const struct address *target, uint64_t ms)
{
	if (ms < 1 || ms > MAX_PORT)
		return false;
	return (target->port < FIRST_USUAL_PORT && ms >= FIRST_USUAL_PORT) ||
	       somebody_listens((uint16_t)ms);
}

void swapped_ask(const struct capture *capture, struct diag *d)
{
	const struct address *target = &capture->targets[0];
	uint64_t ms = capture->options.duration_ms;
	const struct diag why = *d;

	if (capture->n_targets != 1 || !target->is_bare || !target->port ||
		why.code != -ECONNREFUSED || !is_likely(target, ms))
		return;
	diag_set(d, why.code,
		"%.400s; the target comes first: did you mean proftap capture %" PRIu64 " %u?",
		why.text, ms, target->port);
}
