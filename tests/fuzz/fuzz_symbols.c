/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz harness of the ELF files that a program has mapped: headers, build-id, the index of
 * functions and its names, and the small file for unwinding, which must be an ELF file again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/symbols/elf_image.h"
#include "daemon/symbols/symbol_index.h"
#include "tests/fuzz/fuzz.h"

#define MAX_LOOKUPS 64

static void check_places(const struct elf_image *e)
{
	uint64_t address;
	uint64_t offset;
	char byte;

	for (size_t i = 0; i < e->n_segments; i++) {
		const Elf64_Phdr *s = &e->segments[i];

		if (elf_image_find_address(e, s->p_offset, &address) &&
			!elf_image_find_offset(e, address, &offset))
			abort();
		if (!elf_image_find_offset(e, s->p_vaddr, &offset) && s->p_filesz)
			abort();
		if (elf_image_read(e, s->p_vaddr + s->p_filesz - 1, &byte, 1) > 0)
			abort();
	}
}

static void check_name(const struct symbol_index *x, uint64_t address)
{
	char name[32];
	uint64_t offset = UINT64_MAX;
	size_t n = symbol_index_find(x, address, name, sizeof name, &offset);

	if (strlen(name) != (n < sizeof name ? n : sizeof name - 1) ||
		(n ? offset > UINT32_MAX || address - x->base < offset : offset != UINT64_MAX))
		abort();
}

static void check_index(const struct elf_image *e, const struct elf_image *debug)
{
	struct symbol_index x;
	int r = symbol_index_init(&x, e, debug);

	if (r > 0 || (e->is_foreign && r != -ENOEXEC))
		abort();
	for (size_t i = 0; !r && i < x.n_functions && i < MAX_LOOKUPS; i++) {
		const struct indexed_function *f = &x.functions[i];

		if (i && f->start < f[-1].start)
			abort();
		check_name(&x, x.base + f->start);
		check_name(&x, x.base + f->start + f->n_bytes);
	}
	if (!r) {
		check_name(&x, 0);
		check_name(&x, UINT64_MAX);
		symbol_index_deinit(&x);
	}
}

static void check_unwind_tables(const struct elf_image *e)
{
	struct elf_image small;
	void *tables;
	size_t n;

	if (elf_image_copy_unwind_tables(e, &tables, &n))
		return;
	if (elf_image_open(&small, tables, n) || small.n_sections != e->n_sections ||
		small.n_segments != e->n_segments ||
		!elf_image_find_section(&small, SHT_NULL, ".eh_frame"))
		abort();
	elf_image_close(&small);
	free(tables);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct elf_image e;
	int r = elf_image_open(&e, data, n_bytes);

	if (r > 0)
		abort();
	if (r)
		return 0;
	if (e.n_build_id_bytes > sizeof e.build_id)
		abort();
	check_places(&e);
	check_index(&e, NULL);
	check_index(&e, &e);
	check_unwind_tables(&e);
	elf_image_close(&e);
	return 0;
}
