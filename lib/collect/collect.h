/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread of the collectors, |ptap-collect|: what the server asks for in the arena's |collect| (lib/wire/arena.h), it has plug-ins
 * bring (<proftap/collector.h>). One for each capture that wants devices, and gone when it is over; whatever a plug-in does, and
 * however long, it does there. See docs/internals/collectors.md.
 */
#ifndef COLLECT_COLLECT_H
#define COLLECT_COLLECT_H

struct arena;

/*
 * Starts it for |arena|, where something is asked for, and returns at once; if it cannot be started that is said there. All
 * signals are blocked in it as they are in the caller, the control thread. It is not joined, and needs nothing but what stays
 * mapped for good when the server is gone: it ends by itself then, unless a plug-in hangs.
 */
void collect_start(struct arena *arena);

#endif
