/* SPDX-License-Identifier: Apache-2.0 */
/* What was not recorded, by reason: as stats of the plane and as warnings for people. */
#ifndef DAEMON_LOSSES_H
#define DAEMON_LOSSES_H

#include <stdint.h>

struct drain;
struct plane;
struct space;

/* |n_invalid|: entries that made no sense. 0 or -ENOMEM. */
int losses_add(
	const struct drain *drain, uint64_t n_invalid, struct plane *plane, struct space *space);

#endif
