/* SPDX-License-Identifier: Apache-2.0 */
/* Failures in words; see failures.h. */
#include "daemon/serve/calls/failures.h"

#include <stdio.h>
#include <string.h>

/* "; and 4294967295 more" */
#define REST_BYTES 24

void failures_add(struct failures *f, const char *text)
{
	const char *between = f->n_bytes ? "; " : "";

	if (f->n_left_out ||
		f->n_bytes + strlen(between) + strlen(text) + REST_BYTES > sizeof f->text) {
		f->n_left_out++;
		snprintf(f->text + f->n_bytes, REST_BYTES, "%sand %u more", between, f->n_left_out);
		return;
	}
	f->n_bytes += (size_t)sprintf(f->text + f->n_bytes, "%s%s", between, text);
}
