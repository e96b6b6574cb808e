/* SPDX-License-Identifier: Apache-2.0 */
/* The planes of the devices that a process used, in a space, or where it is too long for memory in the spool. */
#ifndef DAEMON_DEVICE_PLANES_H
#define DAEMON_DEVICE_PLANES_H

struct assemble_input;
struct assembly;
struct plane;
struct space;

/* |host|: the process's own, which has the names of its spans. 0, -ENOMEM or -ECANCELED. */
int device_planes_add(struct assembly *as, const struct assemble_input *in, struct plane *host,
	struct space *space);

#endif
