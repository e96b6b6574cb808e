/* SPDX-License-Identifier: Apache-2.0 */
/* Small ELF files; see elf_fixture.h. */
#include "tests/unit/elf_fixture.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/fake_root.h"

#define MAX_SECTIONS 16
#define TABLES_OFFSET 0x2100u
#define MAX_BYTES 0x20000u

struct file {
	unsigned char *bytes;
	size_t n;
	Elf64_Shdr sections[MAX_SECTIONS];
	size_t n_sections;
	char names[256];
	size_t n_names_bytes;
};

static void file_append(struct file *f, const void *data, size_t n)
{
	ck_assert_uint_le(f->n + n, MAX_BYTES);
	if (n)
		memcpy(f->bytes + f->n, data, n);
	f->n += n;
}

/* Adds a section whose contents are appended to the file. Returns its index. */
static uint32_t file_add_section(
	struct file *f, const char *name, uint32_t type, const void *data, size_t n, uint32_t link)
{
	f->n = (f->n + 7) & ~(size_t)7;
	f->sections[f->n_sections] = (Elf64_Shdr){
		.sh_name = (Elf64_Word)f->n_names_bytes,
		.sh_type = type,
		.sh_offset = f->n,
		.sh_size = n,
		.sh_link = link,
		.sh_addralign = 4,
	};
	strcpy(f->names + f->n_names_bytes, name);
	f->n_names_bytes += strlen(name) + 1;
	file_append(f, data, n);
	return (uint32_t)f->n_sections++;
}

/* Adds a section at a given place. */
static void file_add_placed(
	struct file *f, const char *name, uint64_t address, uint64_t offset, uint64_t n)
{
	uint32_t i = file_add_section(f, name, SHT_PROGBITS, NULL, 0, 0);

	f->sections[i].sh_addr = address;
	f->sections[i].sh_offset = offset;
	f->sections[i].sh_size = n;
}

static void file_add_symbols(struct file *f, const char *name, uint32_t type,
	const char *names_name, const struct elf_symbol *symbols)
{
	Elf64_Sym table[128] = {{0}};
	char names[4096] = "";
	size_t n_names_bytes = 1;
	size_t n = 1;

	for (const struct elf_symbol *s = symbols; s->name; s++, n++) {
		table[n] = (Elf64_Sym){
			.st_name = (Elf64_Word)n_names_bytes,
			.st_info = s->info,
			.st_shndx = s->section,
			.st_value = s->address,
			.st_size = s->n_bytes,
		};
		strcpy(names + n_names_bytes, s->name);
		n_names_bytes += strlen(s->name) + 1;
	}
	file_add_section(f, name, type, table, n * sizeof *table, (uint32_t)f->n_sections + 1);
	file_add_section(f, names_name, SHT_STRTAB, names, n_names_bytes, 0);
}

/* Returns the offset of the note. */
static uint64_t file_add_note(struct file *f, const char *build_id, bool is_section)
{
	char note[128];
	Elf64_Nhdr head = {4, (Elf64_Word)strlen(build_id), NT_GNU_BUILD_ID};

	memcpy(note, &head, sizeof head);
	memcpy(note + sizeof head, "GNU", 4);
	strcpy(note + sizeof head + 4, build_id);
	file_add_section(f, ".note.gnu.build-id", is_section ? SHT_NOTE : SHT_PROGBITS, note,
		sizeof head + 4 + strlen(build_id), 0);
	return f->sections[f->n_sections - 1].sh_offset;
}

static void file_write_headers(struct file *f, uint64_t note_offset, uint64_t n_note_bytes)
{
	Elf64_Phdr segments[] = {
		{PT_LOAD, PF_R, 0, 0, 0, 0x1000, 0x1000, 0x1000},
		{PT_LOAD, PF_R | PF_X, ELF_CODE_OFFSET, ELF_CODE, ELF_CODE, 0x1000, 0x1000, 0x1000},
		{PT_LOAD, PF_R | PF_W, ELF_DATA_OFFSET, ELF_DATA, ELF_DATA, ELF_DATA_BYTES, 0x2000,
			0x1000},
		{PT_NOTE, PF_R, note_offset, 0, 0, n_note_bytes, n_note_bytes, 4},
	};
	Elf64_Ehdr header = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN,
#if defined(__x86_64__)
		.e_machine = EM_X86_64,
#else
		.e_machine = EM_AARCH64,
#endif
		.e_version = EV_CURRENT,
		.e_phoff = sizeof header,
		.e_ehsize = sizeof header,
		.e_phentsize = sizeof *segments,
		.e_phnum = n_note_bytes ? 4 : 3,
		.e_shentsize = sizeof *f->sections,
	};

	file_add_section(f, ".shstrtab", SHT_STRTAB, NULL, 0, 0);
	f->sections[f->n_sections - 1].sh_size = f->n_names_bytes;
	file_append(f, f->names, f->n_names_bytes);
	f->n = (f->n + 7) & ~(size_t)7;
	header.e_shoff = f->n;
	header.e_shnum = (Elf64_Half)f->n_sections;
	header.e_shstrndx = (Elf64_Half)(f->n_sections - 1);
	file_append(f, f->sections, f->n_sections * sizeof *f->sections);
	memcpy(f->bytes, &header, sizeof header);
	memcpy(f->bytes + sizeof header, segments, sizeof segments);
}

unsigned char *elf_fixture_make(const struct elf_plan *plan, size_t *n_bytes)
{
	struct file f = {.bytes = calloc(1, MAX_BYTES), .n = TABLES_OFFSET};
	uint64_t note_offset = 0;
	bool has_note_segment = plan->build_id && plan->has_note_segment;
	unsigned char *exact;

	ck_assert_ptr_nonnull(f.bytes);
	for (size_t i = ELF_CODE_OFFSET; i < ELF_DATA_OFFSET + ELF_DATA_BYTES; i++)
		f.bytes[i] = (unsigned char)i;
	file_add_section(&f, "", SHT_NULL, NULL, 0, 0);
	file_add_placed(&f, ".text", ELF_CODE, ELF_CODE_OFFSET, 0x800);
	file_add_placed(&f, ".text.other", ELF_OTHER_CODE, ELF_CODE_OFFSET + 0x800, 0x800);
	file_add_placed(&f, ".data", ELF_DATA, ELF_DATA_OFFSET, ELF_DATA_BYTES);
	if (plan->symbols)
		file_add_symbols(&f, ".symtab", SHT_SYMTAB, ".strtab", plan->symbols);
	if (plan->dynamic_symbols)
		file_add_symbols(&f, ".dynsym", SHT_DYNSYM, ".dynstr", plan->dynamic_symbols);
	if (plan->debugdata)
		file_add_section(&f, ".gnu_debugdata", SHT_PROGBITS, plan->debugdata,
			plan->n_debugdata_bytes, 0);
	if (plan->unwind_tables)
		file_add_section(&f, ".eh_frame", SHT_PROGBITS, plan->unwind_tables,
			strlen(plan->unwind_tables) + 1, 0);
	if (plan->build_id)
		note_offset = file_add_note(&f, plan->build_id, !plan->has_note_segment);
	file_write_headers(&f, note_offset, has_note_segment ? 16 + strlen(plan->build_id) : 0);
	/* A sanitizer finds reads behind a block of the exact size. */
	exact = malloc(f.n);
	ck_assert_ptr_nonnull(exact);
	memcpy(exact, f.bytes, f.n);
	free(f.bytes);
	*n_bytes = f.n;
	return exact;
}

void elf_fixture_write(const char *path, const struct elf_plan *plan)
{
	char full[512];
	size_t n;
	unsigned char *bytes = elf_fixture_make(plan, &n);
	int fd;

	/* This makes the folders. An older file keeps its inode. */
	fake_root_write(path, "");
	snprintf(full, sizeof full, "%s%s", fake_root, path);
	fd = open(full, O_WRONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, n), (ssize_t)n);
	close(fd);
	free(bytes);
}
