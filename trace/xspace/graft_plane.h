/* SPDX-License-Identifier: Apache-2.0 */
/* What a plane is called in a trace of several processes. */
#ifndef TRACE_GRAFT_PLANE_H
#define TRACE_GRAFT_PLANE_H

#include <stddef.h>
#include <stdint.h>

struct names;
struct pb_field;

/*
 * Of the encoded |plane| of the process |pid|: "/host:CPU" becomes "/host:CPU name [pid]"; planes of its own children have
 * such names already. Owner: *out is malloc'ed. 0, -ENOMEM or -EBADMSG.
 */
int graft_plane_name(const struct pb_field *plane, int64_t pid, char **out);

#define GRAFT_PID_BYTES 96

/*
 * The fields that say in the encoded |plane| that it is of the process |pid|, to |out| of GRAFT_PID_BYTES. Returns how many bytes: 0 for a plane that says whose it is,
 * and for one that tells of the recording and is of no process.
 */
size_t graft_plane_put_pid(const struct pb_field *plane, int64_t pid, uint8_t *out);

/* 1: its name is one of |names|. */
int graft_plane_is_named(const struct pb_field *plane, const struct names *names);

#endif
