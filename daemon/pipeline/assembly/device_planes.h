/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds to a space the planes of the devices that a process used. If the assembly has a
 * spool, the events go there.
 */
#ifndef DAEMON_DEVICE_PLANES_H
#define DAEMON_DEVICE_PLANES_H

#include <stdint.h>

struct assemble_input;
struct assembly;
struct plane;
struct space;

/*
 * |host| is the process's own plane, which has the names of its spans. Losses become stats
 * of |host| and warnings; |*n_dropped| is the number of records that were dropped. 0,
 * -ENOMEM or -ECANCELED.
 */
int device_planes_add(struct assembly *as, const struct assemble_input *in, struct plane *host,
	struct space *space, uint64_t *n_dropped);

#endif
