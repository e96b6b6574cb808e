/* SPDX-License-Identifier: Apache-2.0 */
/* What a plane is called in a trace of several processes. */
#ifndef TRACE_GRAFT_PLANE_H
#define TRACE_GRAFT_PLANE_H

#include <stdint.h>

struct names;
struct pb_field;

/*
 * Of the encoded |plane| of the process |pid|: "/host:CPU" becomes "/host:CPU name [pid]"; planes of its own children have
 * such names already. Owner: *out is malloc'ed. 0, -ENOMEM or -EBADMSG.
 */
int graft_plane_name(const struct pb_field *plane, int64_t pid, char **out);

/* 1: its name is one of |names|. */
int graft_plane_is_named(const struct pb_field *plane, const struct names *names);

#endif
