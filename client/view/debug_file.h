/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The debug information of a program or library on this machine: the functions that were inlined at
 * a place of its code, and lines of the source. A file counts only if it has the wanted build-id.
 * libdw reads it, which is loaded for this. Nothing is ever fetched from a network.
 *
 * Threads: only one thread may use this.
 */
#ifndef CLIENT_DEBUG_FILE_H
#define CLIENT_DEBUG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/model/stacks.h"

struct debug_file;
struct diag;

#define DEBUG_DIR "/usr/lib/debug"

/* Results of debug_file_open(). */
enum {
	DEBUG_FILE_OPEN,
	DEBUG_FILE_MISSING, /* there is no such file */
	DEBUG_FILE_OTHER, /* the file at the path has another build-id, or none */
	DEBUG_FILE_EMPTY, /* the file is there, and there is no debug information */
};

/* A function at a place of code. All texts are valid until the file is closed. */
struct debug_place {
	const char *raw_function; /* the linker's name, or that of the source; NULL: unknown */
	const char *file; /* path of the source; NULL: unknown */
	uint32_t line; /* 0: unknown */
};

/* Loads libdw, once. 0, or -ENOSYS with |d|: a sentence that says what to install. */
int debug_library_open(struct diag *d);

/*
 * Opens |path| if it has the |build_id|, which is in lower-case hexadecimal digits. If that file
 * has no debug information, or is another one, the file for the build-id in DEBUG_DIR is read.
 * The library must have been loaded. Returns a value above, or -ENOMEM. Owner: the caller, of *out.
 */
int debug_file_open(const char *path, const char *build_id, struct debug_file **out);
struct debug_file *debug_file_close(struct debug_file *f); /* NULL ok; returns NULL */

/*
 * True if the program itself is not there. Then the place in its file is a guess, which is right
 * only if the outermost function found is the expected one.
 */
bool debug_file_is_alone(const struct debug_file *f);

/*
 * Lists the functions at the |offset| in the program's file: the innermost inlined one first, the
 * one that was not inlined last. Returns their number, 0 if the place is unknown, or -ENOMEM.
 */
int debug_file_find(
	struct debug_file *f, uint64_t offset, struct debug_place out[STACKS_MAX_INLINED]);

#endif
