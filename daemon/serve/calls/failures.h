/* SPDX-License-Identifier: Apache-2.0 */
/* The failures of many hosts as one text of bounded length, which tells how many it leaves out. */
#ifndef DAEMON_FAILURES_H
#define DAEMON_FAILURES_H

#include <stddef.h>

#define FAILURES_MAX_BYTES 4096

struct failures {
	char text[FAILURES_MAX_BYTES]; /* "": none; otherwise "ONE; TWO; and 3 more" */
	size_t n_bytes; /* of those that are in it whole */
	unsigned n_left_out;
};

/* All zero is the state before. |text| is one's; all of it is taken, or nothing. */
void failures_add(struct failures *f, const char *text);

#endif
