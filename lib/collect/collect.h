/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collectors' thread, |ptap-collect|. It runs plug-ins (<proftap/collector.h>), which record
 * what the server requested in arena.collect (lib/wire/arena.h). Each capture that wants devices
 * has such a thread, which ends with the capture. Plug-ins run only there, so a slow or blocked
 * plug-in holds up no other thread. See docs/internals/collectors.md.
 */
#ifndef COLLECT_COLLECT_H
#define COLLECT_COLLECT_H

struct arena;

/*
 * Starts the thread for |arena|, which has a request, and returns at once; a failure to start is
 * reported in the arena. All signals are blocked in the thread, since they are blocked in the
 * caller, the control thread. Nobody joins it. After the server's end it ends by itself, unless a
 * plug-in hangs; it uses only memory that stays mapped then.
 */
void collect_start(struct arena *arena);

#endif
