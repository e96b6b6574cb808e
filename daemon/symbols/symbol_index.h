/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of an ELF file, sorted by address. Each takes 12 bytes; its name stays in the file
 * and is copied when it is asked for.
 *
 * The functions are those of .symtab. A file without one is indexed by .symtab of its separate
 * debug file, or else by .dynsym and .gnu_debugdata (a small ELF file, compressed by xz; it needs
 * liblzma.so.5 at run time).
 *
 * A function without a size reaches to the next function, or to the end of its section. Among
 * several names of one address, a global name is preferred to a weak one, and that to a local one;
 * then the shortest, then the first in the file.
 *
 * Threads: any number of threads may search an index that is built.
 */
#ifndef DAEMON_SYMBOL_INDEX_H
#define DAEMON_SYMBOL_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/symbols/elf_image.h"

#define SYMBOL_NAME_MAX_BYTES (64u << 10) /* with the '\0'; a longer one counts as none */

struct indexed_function {
	uint32_t start; /* from symbol_index.base */
	uint32_t n_bytes;
	/* an offset in symbol_index.names[0], or with the highest bit set in names[1] */
	uint32_t name;
};

/* A string table of an image that outlives the index. */
struct symbol_names {
	const struct elf_image *image;
	uint64_t offset; /* in the file */
	uint64_t n_bytes;
};

struct symbol_index {
	struct indexed_function *functions; /* by start */
	size_t n_functions;
	uint64_t base; /* the lowest address of code; functions 4 GiB above it are left out */
	struct symbol_names names[2];
	/* .gnu_debugdata */
	void *debugdata;
	size_t n_debugdata_bytes;
	struct elf_image debugdata_image;
};

/*
 * Indexes |image|; |debug| is its separate debug file, or NULL. Both must stay open, and
 * |x| must stay where it is, until symbol_index_deinit().
 * Errors: 0, also if there are no functions; -ENOEXEC: the file is foreign; -ENOMEM; or what
 * elf_image_copy() returns. After an error there is nothing to free.
 */
int symbol_index_init(
	struct symbol_index *x, const struct elf_image *image, const struct elf_image *debug);
void symbol_index_deinit(struct symbol_index *x);

/* Returns the heap memory that the index takes. */
size_t symbol_index_count_bytes(const struct symbol_index *x);

/*
 * Finds the innermost function at the virtual |address|. Copies its name into |name| (|size| > 0
 * bytes), cut to fit and terminated, and sets *offset to the distance from its start. Returns the
 * length of the whole name, or 0 if no function is known there; then |name| is "".
 */
size_t symbol_index_find(
	const struct symbol_index *x, uint64_t address, char *name, size_t size, uint64_t *offset);

#endif
