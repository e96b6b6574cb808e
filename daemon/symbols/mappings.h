/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executable mappings of one process: finds the module and the file offset of an address. The
 * table is loaded from /proc/PID/maps, and then follows the process by the records of perf
 * (PERF_RECORD_MMAP2). There is no record of munmap(), so a mapping stays until another one takes
 * its place.
 *
 * The table keeps a reference to each module that it has ever had, until mappings_deinit(): samples
 * of a library that was unloaded keep their module.
 *
 * Threads: one at a time.
 */
#ifndef DAEMON_MAPPINGS_H
#define DAEMON_MAPPINGS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hash.h"

struct module;
struct modules;

#define MAPPINGS_MAX 65536u

struct mapping {
	uint64_t start; /* address */
	uint64_t end;
	/*
	 * the offset of |start| in the module's file; in code of a JIT compiler, |start| itself, so
	 * that the offset of an instruction is its address
	 */
	uint64_t file_offset;
	struct module *module; /* borrowed from the table; never NULL */
};

/* The fields of a PERF_RECORD_MMAP2 of executable memory. */
struct mapping_record {
	uint64_t start;
	uint64_t n_bytes;
	uint64_t file_offset;
	dev_t device;
	uint64_t inode; /* 0: unknown, or no file */
	const uint8_t *build_id; /* NULL: unknown */
	size_t n_build_id_bytes; /* at most 20 */
	const char *name; /* terminated */
};

struct mappings {
	struct modules *modules; /* borrowed */
	const char *root; /* borrowed; "" or a test's fake root */
	pid_t pid;
	struct mapping *v; /* by start; they do not overlap */
	size_t n;
	size_t n_allocated;
	uint64_t n_left_out; /* mappings that came when the table had MAPPINGS_MAX */
	struct mapping jitdump; /* the last file of jitdump that was mapped; module NULL: none */
	struct module *jit; /* of all executable memory without a file */
	struct module **used; /* the references */
	size_t n_used_allocated;
	struct hash_table used_table;
};

/* Makes an empty table. 0 or -ENOMEM; then there is nothing to free. */
int mappings_init(struct mappings *m, struct modules *modules, const char *root, pid_t pid);
/* Gives all modules back. A table of all zero bytes is fine. */
void mappings_deinit(struct mappings *m);

/*
 * Loads the mappings that the process has now, in place of those in the table: at the beginning,
 * and when the process has called exec.
 * Errors: 0; -ESRCH, -ENOENT: the process is ending or gone; -EACCES: we may not read them;
 * -ENOMEM. Then nothing has changed.
 */
int mappings_load(struct mappings *m);

/*
 * Adds a mapping; older ones lose the part that it overlaps. 0; -EINVAL: it is empty, or reaches
 * beyond the address space; -ENOSPC: the table is full, and mappings_load() may help; -ENOMEM.
 */
int mappings_add(struct mappings *m, const struct mapping_record *record);

/* Returns the mapping of an address, which is valid until the table changes, or NULL. */
const struct mapping *mappings_find(const struct mappings *m, uint64_t address);

#endif
