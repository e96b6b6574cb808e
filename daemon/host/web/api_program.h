/* SPDX-License-Identifier: Apache-2.0 */
/* The program that a path names. */
#ifndef DAEMON_API_PROGRAM_H
#define DAEMON_API_PROGRAM_H

#include <stdint.h>

struct deferred;
struct program;

/* The program |id|, if the caller may see it: 0 and a copy, or a gRPC status with the request's diag. In the request's thread. */
int api_program_find(struct deferred *d, uint64_t id, struct program *out);

#endif
