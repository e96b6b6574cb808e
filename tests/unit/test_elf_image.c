/* SPDX-License-Identifier: Apache-2.0 */
/* Tests reading ELF files: made ones, damaged ones, and the kernel's vdso. */
#include "daemon/symbols/elf_image.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/elf_fixture.h"
#include "tests/unit/unit.h"

static unsigned char *bytes;
static size_t n_bytes;
static struct elf_image image;

static void open_plan(const struct elf_plan *plan)
{
	bytes = elf_fixture_make(plan, &n_bytes);
	ck_assert_int_eq(elf_image_open(&image, bytes, n_bytes), 0);
}

static void tear_down(void)
{
	elf_image_close(&image);
	free(bytes);
}

static void expect_build_id(const char *id)
{
	ck_assert_uint_eq(image.n_build_id_bytes, strlen(id));
	ck_assert_mem_eq(image.build_id, id, strlen(id));
}

START_TEST(finds_the_build_id_by_a_segment)
{
	open_plan(&(struct elf_plan){.build_id = "12345678901234567890", .has_note_segment = true});
	expect_build_id("12345678901234567890");
}
END_TEST

START_TEST(finds_the_build_id_by_a_section)
{
	open_plan(&(struct elf_plan){.build_id = "12345678"});
	expect_build_id("12345678");
}
END_TEST

START_TEST(ignores_a_build_id_that_is_too_long)
{
	open_plan(&(struct elf_plan){.build_id = "123456789012345678901234567890123"});
	ck_assert_uint_eq(image.n_build_id_bytes, 0);
}
END_TEST

START_TEST(finds_the_build_id_behind_another_note)
{
	unsigned char *note;
	Elf64_Nhdr other = {4, 4, NT_GNU_ABI_TAG};

	open_plan(&(struct elf_plan){.build_id = "............1234567890123456"});
	elf_image_close(&image);
	note = memmem(bytes, n_bytes, "............1234567890123456", 28) - 16;
	/* The notes are 16 + 4 bytes of one, then 16 bytes and the build-id of the other. */
	memmove(note + 20, note, 16);
	memcpy(note, &other, sizeof other);
	note[20] = 4;
	note[24] = 8;
	ck_assert_int_eq(elf_image_open(&image, bytes, n_bytes), 0);
	expect_build_id("90123456");
}
END_TEST

static void expect_address(uint64_t offset, uint64_t expected)
{
	uint64_t address = 0;
	uint64_t back = 0;

	ck_assert(elf_image_find_address(&image, offset, &address));
	ck_assert_uint_eq(address, expected);
	ck_assert(elf_image_find_offset(&image, address, &back));
	ck_assert_uint_eq(back, offset);
}

START_TEST(converts_places_by_the_segment_that_holds_them)
{
	uint64_t unused;

	open_plan(&(struct elf_plan){NULL});
	expect_address(0x10, 0x10);
	expect_address(ELF_CODE_OFFSET, ELF_CODE);
	expect_address(ELF_CODE_OFFSET + 0xfff, ELF_CODE + 0xfff);
	expect_address(ELF_DATA_OFFSET, ELF_DATA);
	ck_assert(!elf_image_find_address(&image, ELF_DATA_OFFSET + ELF_DATA_BYTES, &unused));
	ck_assert(!elf_image_find_address(&image, UINT64_MAX, &unused));
	ck_assert(!elf_image_find_offset(&image, ELF_CODE - 1, &unused));
	ck_assert(!elf_image_find_offset(&image, ELF_DATA + ELF_DATA_BYTES, &unused));
}
END_TEST

START_TEST(prefers_the_executable_segment_of_an_offset)
{
	uint64_t address;

	open_plan(&(struct elf_plan){NULL});
	image.segments[0].p_filesz = 0x2000;
	ck_assert(elf_image_find_address(&image, ELF_CODE_OFFSET + 8, &address));
	ck_assert_uint_eq(address, ELF_CODE + 8);
}
END_TEST

START_TEST(reads_within_one_segment)
{
	unsigned char read[16];

	open_plan(&(struct elf_plan){NULL});
	ck_assert_int_eq(elf_image_read(&image, ELF_DATA + 0x20, read, 16), 0);
	ck_assert_mem_eq(read, bytes + ELF_DATA_OFFSET + 0x20, 16);
	ck_assert_int_eq(elf_image_read(&image, ELF_DATA + ELF_DATA_BYTES - 16, read, 16), 0);
	ck_assert_int_eq(elf_image_read(&image, ELF_DATA + ELF_DATA_BYTES - 15, read, 16), -EFAULT);
	ck_assert_int_eq(elf_image_read(&image, ELF_CODE - 8, read, 16), -EFAULT);
	ck_assert_int_eq(elf_image_read(&image, UINT64_MAX, read, 16), -EFAULT);
}
END_TEST

START_TEST(copies_nothing_from_beyond_the_file)
{
	unsigned char read[16];

	open_plan(&(struct elf_plan){NULL});
	ck_assert_int_eq(elf_image_copy(&image, n_bytes - 16, read, 16), 0);
	ck_assert_mem_eq(read, bytes + n_bytes - 16, 16);
	ck_assert_int_eq(elf_image_copy(&image, n_bytes - 15, read, 16), -EFAULT);
	ck_assert_int_eq(elf_image_copy(&image, UINT64_MAX - 7, read, 16), -EFAULT);
	ck_assert_int_eq(elf_image_copy(&image, n_bytes, read, 0), 0);
}
END_TEST

/* A mapping of a file that is cut is a SIGBUS for whoever reads it directly. */
START_TEST(a_file_that_is_cut_is_an_error_and_no_signal)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);
	unsigned char read[16];
	void *mapped;
	void *tables;
	size_t n;

	bytes = elf_fixture_make(&(struct elf_plan){.unwind_tables = "tables"}, &n_bytes);
	ck_assert_int_eq(write(fd, bytes, n_bytes), (ssize_t)n_bytes);
	mapped = mmap(NULL, n_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne(mapped, MAP_FAILED);
	ck_assert_int_eq(elf_image_open(&image, mapped, n_bytes), 0);
	ck_assert_int_eq(ftruncate(fd, ELF_CODE_OFFSET + 8), 0);
	ck_assert_int_eq(elf_image_read(&image, ELF_CODE, read, 8), 0);
	ck_assert_int_eq(elf_image_read(&image, ELF_DATA, read, 16), -EFAULT);
	ck_assert_int_eq(elf_image_copy(&image, ELF_DATA_OFFSET - 8, read, 16), -EFAULT);
	ck_assert_ptr_null(elf_image_find_section(&image, SHT_NULL, ".text"));
	ck_assert_int_eq(elf_image_copy_unwind_tables(&image, &tables, &n), -ENOENT);
	elf_image_close(&image);
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	ck_assert_int_eq(elf_image_open(&image, mapped, n_bytes), -ENOEXEC);
	munmap(mapped, n_bytes);
	close(fd);
}
END_TEST

START_TEST(finds_sections_by_type_and_name)
{
	static const struct elf_symbol symbols[] = {{NULL, 0, 0, 0, 0}};

	open_plan(&(struct elf_plan){.symbols = symbols});
	ck_assert_ptr_eq(elf_image_find_section(&image, SHT_NULL, ".text"), &image.sections[1]);
	ck_assert_ptr_eq(elf_image_find_section(&image, SHT_SYMTAB, NULL), &image.sections[4]);
	ck_assert_ptr_eq(
		elf_image_find_section(&image, SHT_PROGBITS, ".text.other"), &image.sections[2]);
	ck_assert_ptr_null(elf_image_find_section(&image, SHT_SYMTAB, ".text"));
	ck_assert_ptr_null(elf_image_find_section(&image, SHT_NULL, ".tex"));
	ck_assert_ptr_null(elf_image_find_section(&image, SHT_DYNSYM, NULL));
}
END_TEST

START_TEST(refuses_what_is_no_elf_file)
{
	static const char *const texts[] = {"", "\x7f",
		"\x7f"
		"ELF",
		"#!/bin/sh\nexec true\n",
		"\x7f"
		"ELF\2\2\1 big-endian, with room for the header, 64 bytes or more ........",
		"\x7f"
		"ELF\3\1\1 of no known class, with room for the header, 64 bytes .........."};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		ck_assert_msg(elf_image_open(&image, texts[i], strlen(texts[i])) == -ENOEXEC,
			"text %zu", i);
}
END_TEST

/* The end of the file has the sections; without them it still has segments. */
START_TEST(a_file_cut_anywhere_is_refused_or_lacks_sections)
{
	bytes = elf_fixture_make(&(struct elf_plan){.build_id = "12345678"}, &n_bytes);
	for (size_t n = 0; n < n_bytes; n++) {
		int r = elf_image_open(&image, bytes, n);

		ck_assert_int_eq(r, n < sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr) ? -ENOEXEC : 0);
		if (!r)
			ck_assert_uint_eq(image.n_sections, 0);
		elf_image_close(&image);
	}
}
END_TEST

START_TEST(refuses_more_segments_than_a_program_may_have)
{
	Elf64_Ehdr *header;
	unsigned char *larger;

	bytes = elf_fixture_make(&(struct elf_plan){NULL}, &n_bytes);
	larger = calloc(2, 1 << 20);
	memcpy(larger, bytes, n_bytes);
	header = (Elf64_Ehdr *)larger;
	header->e_phnum = 1024;
	ck_assert_int_eq(elf_image_open(&image, larger, 2 << 20), 0);
	elf_image_close(&image);
	header->e_phnum = 1025;
	ck_assert_int_eq(elf_image_open(&image, larger, 2 << 20), -ENOEXEC);
	free(larger);
}
END_TEST

START_TEST(a_file_of_another_machine_is_foreign)
{
	void *tables;
	size_t n;

	bytes = elf_fixture_make(
		&(struct elf_plan){.build_id = "12345678", .unwind_tables = "tables"}, &n_bytes);
	((Elf64_Ehdr *)bytes)->e_machine = EM_RISCV;
	ck_assert_int_eq(elf_image_open(&image, bytes, n_bytes), 0);
	ck_assert(image.is_foreign);
	expect_build_id("12345678");
	ck_assert_int_eq(elf_image_copy_unwind_tables(&image, &tables, &n), -ENOEXEC);
}
END_TEST

struct narrow_file {
	Elf32_Ehdr header;
	Elf32_Phdr segments[2];
	Elf32_Nhdr note;
	char name[4];
	char id[8];
	char code[16];
};

START_TEST(a_32_bit_file_is_foreign_and_has_a_build_id)
{
	const struct narrow_file file = {
		.header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
			.e_machine = EM_386,
			.e_phoff = offsetof(struct narrow_file, segments),
			.e_phentsize = sizeof(Elf32_Phdr),
			.e_phnum = 2},
		.segments = {{PT_NOTE, offsetof(struct narrow_file, note), 0, 0, 24, 24, PF_R, 4},
			{PT_LOAD, offsetof(struct narrow_file, code), 0x8048000, 0x8048000, 16, 16,
				PF_R | PF_X, 4}},
		.note = {4, 8, NT_GNU_BUILD_ID},
		.name = "GNU",
		.id = {'1', '2', '3', '4', '5', '6', '7', '8'},
		.code = "code",
	};
	char read[16];

	ck_assert_int_eq(elf_image_open(&image, &file, sizeof file), 0);
	ck_assert(image.is_foreign);
	expect_build_id("12345678");
	expect_address(offsetof(struct narrow_file, code) + 4, 0x8048004);
	ck_assert_int_eq(elf_image_read(&image, 0x8048000, read, 16), 0);
	ck_assert_str_eq(read, "code");
}
END_TEST

START_TEST(reads_the_vdso)
{
	const void *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);
	uint64_t address;

	ck_assert_ptr_nonnull(vdso);
	ck_assert_int_eq(elf_image_open(&image, vdso, 4096), 0);
	ck_assert(!image.is_foreign);
	ck_assert_uint_gt(image.n_build_id_bytes, 0);
	ck_assert(elf_image_find_address(&image, image.header.e_entry, &address));
}
END_TEST

START_TEST(copies_the_unwind_tables_into_a_small_file)
{
	static const struct elf_symbol symbols[] = {
		{"f", ELF_CODE, 16, ELF_GLOBAL, ELF_SECTION_CODE}, {NULL, 0, 0, 0, 0}};
	struct elf_image small;
	const Elf64_Shdr *section;
	char text[7];
	void *tables;
	size_t n;

	open_plan(&(struct elf_plan){.symbols = symbols, .unwind_tables = "tables"});
	ck_assert_int_eq(elf_image_copy_unwind_tables(&image, &tables, &n), 0);
	ck_assert_uint_lt(n, 0x1000);
	ck_assert_int_eq(elf_image_open(&small, tables, n), 0);
	ck_assert_uint_eq(small.n_segments, image.n_segments);
	ck_assert_mem_eq(small.segments, image.segments, 3 * sizeof *small.segments);
	ck_assert_uint_eq(small.n_sections, image.n_sections);
	section = elf_image_find_section(&small, SHT_PROGBITS, ".eh_frame");
	ck_assert_ptr_nonnull(section);
	ck_assert_int_eq(elf_image_copy(&small, section->sh_offset, text, 7), 0);
	ck_assert_str_eq(text, "tables");
	ck_assert_ptr_nonnull(elf_image_find_section(&small, SHT_NOBITS, ".symtab"));
	ck_assert_ptr_nonnull(elf_image_find_section(&small, SHT_NOBITS, ".text"));
	elf_image_close(&small);
	free(tables);
}
END_TEST

START_TEST(a_file_without_unwind_tables_has_no_small_file)
{
	void *tables;
	size_t n;

	open_plan(&(struct elf_plan){NULL});
	ck_assert_int_eq(elf_image_copy_unwind_tables(&image, &tables, &n), -ENOENT);
}
END_TEST

START_TEST(unwind_tables_have_a_limit)
{
	Elf64_Shdr *section;
	void *tables;
	size_t n;

	open_plan(&(struct elf_plan){.unwind_tables = "tables"});
	section = (Elf64_Shdr *)elf_image_find_section(&image, SHT_NULL, ".eh_frame");
	section->sh_size = UINT64_MAX - 8;
	ck_assert_int_eq(elf_image_copy_unwind_tables(&image, &tables, &n), -EFBIG);
	section->sh_size = UINT64_C(128) << 20;
	ck_assert_int_eq(elf_image_copy_unwind_tables(&image, &tables, &n), -EFBIG);
	section->sh_size = n_bytes;
	ck_assert_int_eq(elf_image_copy_unwind_tables(&image, &tables, &n), -EFAULT);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(finds_the_build_id_by_a_segment),
	UNIT_TEST(finds_the_build_id_by_a_section),
	UNIT_TEST(ignores_a_build_id_that_is_too_long),
	UNIT_TEST(finds_the_build_id_behind_another_note),
	UNIT_TEST(converts_places_by_the_segment_that_holds_them),
	UNIT_TEST(prefers_the_executable_segment_of_an_offset),
	UNIT_TEST(reads_within_one_segment),
	UNIT_TEST(copies_nothing_from_beyond_the_file),
	UNIT_TEST(a_file_that_is_cut_is_an_error_and_no_signal),
	UNIT_TEST(finds_sections_by_type_and_name),
	UNIT_TEST(refuses_what_is_no_elf_file),
	UNIT_TEST(a_file_cut_anywhere_is_refused_or_lacks_sections),
	UNIT_TEST(refuses_more_segments_than_a_program_may_have),
	UNIT_TEST(a_file_of_another_machine_is_foreign),
	UNIT_TEST(a_32_bit_file_is_foreign_and_has_a_build_id),
	UNIT_TEST(reads_the_vdso),
	UNIT_TEST(copies_the_unwind_tables_into_a_small_file),
	UNIT_TEST(a_file_without_unwind_tables_has_no_small_file),
	UNIT_TEST(unwind_tables_have_a_limit),
	{NULL},
};

UNIT_MAIN("elf_image", .tear_down = tear_down, .tests = tests)
