/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ids of lines, each unique in its plane. Trace viewer looks at the lower 32 bits only. In these, ids of threads are below 2^30
 * and ids of async spans above.
 */
#ifndef DAEMON_LINE_ID_H
#define DAEMON_LINE_ID_H

#include <stdint.h>

struct drain;

#define LINE_ID_FIRST_ASYNC (INT64_C(1) << 30)

/*
 * Sets *out to the ids of the lines of |drain|'s logs, in their order: the thread's tid, and for each earlier thread of the same tid
 * 2^22 more, which is beyond all tids. Owner: *out belongs to the caller (free). 0 or -ENOMEM.
 */
int line_id_make(const struct drain *drain, int64_t **out);

#endif
