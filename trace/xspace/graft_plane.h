/* SPDX-License-Identifier: Apache-2.0 */
/* The name and the process id of a plane in a trace of several processes. */
#ifndef TRACE_GRAFT_PLANE_H
#define TRACE_GRAFT_PLANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct names;
struct pb_field;

/*
 * Makes the plane's new name. "/host:CPU" becomes "/host:CPU name [pid]"; planes of the process's
 * own children have such names already. *out is malloc'ed. 0, -ENOMEM or -EBADMSG.
 */
int graft_plane_make_name(const struct pb_field *plane, int64_t pid, char **out);

#define GRAFT_PID_BYTES 96 /* size limit of a plane's process id, as a stat with its metadata */

/*
 * Writes the process id as a stat of the encoded |plane| to |out|, which has GRAFT_PID_BYTES.
 * Returns the number of bytes: 0 if the plane has a process id already, or belongs to none.
 */
size_t graft_plane_encode_pid(const struct pb_field *plane, int64_t pid, uint8_t *out);

/* True if the plane's name is one of |names|. */
bool graft_plane_is_named(const struct pb_field *plane, const struct names *names);

#endif
