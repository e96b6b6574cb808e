/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long what a dead program's flight recorder had is held for somebody: five minutes, but not of a program that exited with
 * status 0 or became another one, only while there is a way to it, and until others that died later want the place.
 *
 * Threads: one.
 */
#ifndef DAEMON_HOLD_H
#define DAEMON_HOLD_H

#include <stdint.h>

#include "daemon/serve/session/hold_mark.h"

struct socket_file;
struct target;

struct hold {
	const struct target *target; /* borrowed */
	const struct socket_file *way; /* borrowed; NULL: none */
	struct hold_mark mark;
	int is_owed; /* it was to be written, and could not be: status 0 is no reason */
	int was_another; /* as image_is_another(), at the last look */
	int64_t interval_ns; /* to the next look */
	int64_t until_ns; /* CLOCK_MONOTONIC */
};

/* From |now_ns| on, as below in CLOCK_MONOTONIC. */
void hold_init(struct hold *h, const struct target *t, const struct socket_file *way, int is_owed,
	int64_t now_ns);
void hold_deinit(struct hold *h);
/* A look: whether it is over. */
int hold_is_over(struct hold *h, int64_t now_ns);
/* When the next look is due: soon while nobody knows how the program has ended. */
int64_t hold_get_due(struct hold *h, int64_t now_ns);

#endif
