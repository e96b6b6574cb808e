/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collectors' thread, |ptap-collect|. On it, plug-ins (<proftap/collector.h>) record what the
 * server requests in the arena's |collect| (lib/wire/arena.h). Each capture that wants devices has
 * a thread of its own, which ends with the capture; plug-ins run only there, so a slow or blocked
 * one holds up no other thread. See docs/internals/collectors.md.
 */
#ifndef COLLECT_COLLECT_H
#define COLLECT_COLLECT_H

struct arena;

/*
 * Starts the thread for |arena|, which has a request, and returns at once; a failure to start is
 * reported in the arena. All signals are blocked in the thread as they are in the caller, the
 * control thread. It is not joined, and uses only memory that stays mapped after the server's end:
 * it ends by itself then, unless a plug-in hangs.
 */
void collect_start(struct arena *arena);

#endif
