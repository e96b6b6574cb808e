/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz harness of the body of POST /api/v1/captures. A refused body has a message. An accepted one
 * names its targets or a kind of program, and a duration, and its options can be written as JSON
 * again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/diag.h"
#include "daemon/host/web/web_capture.h"
#include "tests/fuzz/fuzz.h"

static void check_that(bool is_so)
{
	if (!is_so)
		abort();
}

static void check_options(const struct web_capture *q)
{
	json_t *options = json_loads(q->options_text, JSON_REJECT_DUPLICATES, NULL);

	check_that(json_is_object(options));
	json_decref(options);
	check_that(q->options.host_tracer_level <= 3 && q->options.session_id[0] == '\0');
	check_that(q->options.delay_ms <= WEB_CAPTURE_MAX_DURATION_MS);
	for (size_t i = 0; i < q->n_warnings; i++)
		check_that(q->warnings[i][0] != '\0');
}

static void check(const struct web_capture *q)
{
	check_that((q->next[0] != '\0') == (q->n_targets == 0));
	check_that(q->n_targets <= WEB_CAPTURE_MAX_TARGETS);
	for (size_t i = 0; i < q->n_targets; i++) {
		size_t n = strnlen(q->targets[i], WEB_CAPTURE_TARGET_BYTES);

		check_that(n > 0 && n < WEB_CAPTURE_TARGET_BYTES);
	}
	check_that(strnlen(q->next, sizeof q->next) < sizeof q->next);
	check_that(strnlen(q->run, sizeof q->run) < sizeof q->run && !strchr(q->run, '/'));
	check_that(q->duration_ms >= 1 && q->duration_ms <= WEB_CAPTURE_MAX_DURATION_MS);
	check_that(q->wait_ms >= 1000 && q->wait_ms <= WEB_CAPTURE_MAX_WAIT_MS);
	check_options(q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct web_capture q;
	struct diag d = DIAG_INIT;
	int r = web_capture_parse(&q, (const char *)data, n_bytes, &d);

	if (r == 0)
		check(&q);
	else
		check_that(r == -ENOMEM || (r == -EINVAL && d.text[0]));
	web_capture_deinit(&q);
	return 0;
}
