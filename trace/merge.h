/* SPDX-License-Identifier: Apache-2.0 */
/* The trace of one process as a part of another's. */
#ifndef TRACE_MERGE_H
#define TRACE_MERGE_H

#include <stdint.h>

struct space;

/*
 * Makes |space| of the process |pid| ready to be appended to a trace that began at |start_unix_ns|: its events on that
 * one's time (what began before is cut at its start), its planes named and numbered per process. Its time comes from its
 * Task Environment. 0, -ENOMEM, or -EBADMSG when it has none.
 */
int merge_prepare(struct space *space, int64_t start_unix_ns, int64_t pid);

#endif
