/* SPDX-License-Identifier: Apache-2.0 */
/* The planes of the devices that a process used, in a space, or where it is too long for memory in the spool. */
#ifndef DAEMON_DEVICE_PLANES_H
#define DAEMON_DEVICE_PLANES_H

#include <stdint.h>

struct assemble_input;
struct assembly;
struct plane;
struct space;

/*
 * |host|: the process's own, which has the names of its spans. What is missing becomes stats of it and warnings; |*n_dropped| is how
 * many records that should be in the trace are not. 0, -ENOMEM or -ECANCELED.
 */
int device_planes_add(struct assembly *as, const struct assemble_input *in, struct plane *host,
	struct space *space, uint64_t *n_dropped);

#endif
