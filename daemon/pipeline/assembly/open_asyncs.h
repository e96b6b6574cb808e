/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the async spans that are open in a process: the begins in the rings of its threads that no
 * end followed. The rings are read from the arena, while the threads run or after their death.
 *
 * Rings overwrite their oldest records, and records of ended threads are not in rings any more. So
 * all marks are known only from some time on (complete_ticks). A begin before that time may have
 * ended since, and a begin whose record was overwritten is not found.
 */
#ifndef DAEMON_OPEN_ASYNCS_H
#define DAEMON_OPEN_ASYNCS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/wire/record.h"

struct target;

struct open_async {
	uint64_t start; /* ticks */
	uint64_t id;
	const struct slot *slots; /* of the begin: its name if that is dynamic, its id, arguments */
	uint32_t n_slots;
	uint32_t string_id; /* of its name */
	uint32_t ring; /* number of the ring that has the begin */
};

struct open_asyncs {
	struct open_async *v; /* the oldest first */
	size_t n;
	size_t n_allocated;
	uint64_t complete_ticks; /* all marks since then are known; 0: all of this recording */
	struct slot **copies; /* copies of rings, to which |slots| point */
	size_t n_copies;
	size_t n_copies_allocated;
};

/*
 * Searches the newest slots of |t|'s rings: |max_slots| in all, or somewhat fewer, of which each
 * ring has an equal share. |now_ticks| is the present, or the time at which the process ended. Call
 * open_asyncs_deinit() in every case. 0 or -ENOMEM.
 */
int open_asyncs_find(
	struct open_asyncs *a, const struct target *t, uint64_t now_ticks, size_t max_slots);
void open_asyncs_deinit(struct open_asyncs *a);

#endif
