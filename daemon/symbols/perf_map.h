/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names that a JIT compiler gives to its code, by the two conventions of perf:
 *
 * - /tmp/perf-PID.map in the process's root; PID is that of its own namespace. It is text with
 *   lines of "START SIZE NAME", both in hex. A later line replaces the earlier ones that it
 *   overlaps.
 * - jitdump, a binary file that the process maps executable to make it known. Its records have
 *   times, so it knows the name of an address at a time.
 *
 * A process can write anything into these files, so the memory is limited: at most 64 MiB of text
 * and 2^20 names are kept of each.
 *
 * Threads: one at a time.
 */
#ifndef DAEMON_PERF_MAP_H
#define DAEMON_PERF_MAP_H

#include <stdint.h>
#include <sys/types.h>

struct mapping;
struct perf_map;

/* Makes an empty map. |root| ("" or a test's fake root) is borrowed. NULL: out of memory. */
struct perf_map *perf_map_new(const char *root, pid_t pid);
/* NULL ok; returns NULL. */
struct perf_map *perf_map_free(struct perf_map *p);

/*
 * Reads what is new in both files since the last call. If a file was replaced or rewritten, it is
 * read again from its beginning; if it is gone, its names stay. |jitdump| is the mapping of the
 * jitdump file (mappings.h: mappings.jitdump), or NULL.
 * Errors: 0, also if there is no file; -EPERM: the text belongs to another user than the process;
 * -ENOMEM; or another negative errno. What could be read is there. 64 MiB take some 0.2 s.
 */
int perf_map_load(struct perf_map *p, const struct mapping *jitdump);

/*
 * Finds the name of the code at |address| at the time |at_ns| (our CLOCK_MONOTONIC); the text has
 * no times. Sets *offset to the distance from the start of the code. Returns printable text that
 * is borrowed until the next perf_map_load(), or NULL if the address has no name. The first call
 * after perf_map_load() sorts all names: 10 ms for 10,000 of them, 2 s for 2^20.
 */
const char *perf_map_find(struct perf_map *p, uint64_t address, int64_t at_ns, uint64_t *offset);

/* Returns how many bytes of both files were left out because of the limits. */
uint64_t perf_map_get_left_out(const struct perf_map *p);

#endif
