/* SPDX-License-Identifier: Apache-2.0 */
/* Makes small ELF files for tests, in memory. */
#ifndef TESTS_UNIT_ELF_FIXTURE_H
#define TESTS_UNIT_ELF_FIXTURE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The file has three segments, each with another distance between offsets and addresses: headers
 * (offset 0, address 0), code (0x1000, 0x3000, 0x1000 bytes) and data (0x2000, 0x7000, 0x100 bytes).
 * The code has two sections of 0x800 bytes each. Each of their bytes is the low byte of its offset.
 */
#define ELF_CODE_OFFSET 0x1000u
#define ELF_CODE 0x3000u
#define ELF_OTHER_CODE 0x3800u
#define ELF_CODE_END 0x4000u
#define ELF_DATA_OFFSET 0x2000u
#define ELF_DATA 0x7000u
#define ELF_DATA_BYTES 0x100u

enum {
	ELF_SECTION_CODE = 1,
	ELF_SECTION_OTHER_CODE = 2,
	ELF_SECTION_DATA = 3,
};

struct elf_symbol {
	const char *name; /* NULL ends a table */
	uint64_t address;
	uint64_t n_bytes;
	unsigned char info; /* ELF64_ST_INFO(STB_…, STT_…) */
	uint16_t section;
};

struct elf_plan {
	const struct elf_symbol *symbols; /* .symtab; NULL: none */
	const struct elf_symbol *dynamic_symbols; /* .dynsym; NULL: none */
	const char *build_id; /* NULL: none */
	bool has_note_segment; /* the build-id is found by a segment, not by a section */
	const void *debugdata; /* .gnu_debugdata; NULL: none */
	size_t n_debugdata_bytes;
	const char *unwind_tables; /* the text in .eh_frame; NULL: none */
};

#define ELF_GLOBAL ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)
#define ELF_WEAK ELF64_ST_INFO(STB_WEAK, STT_FUNC)
#define ELF_LOCAL ELF64_ST_INFO(STB_LOCAL, STT_FUNC)

/* Returns the file, of this machine, which the caller frees. */
unsigned char *elf_fixture_make(const struct elf_plan *plan, size_t *n_bytes);

/* Writes the file to |path| below the fake root. */
void elf_fixture_write(const char *path, const struct elf_plan *plan);

#endif
