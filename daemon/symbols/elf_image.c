/* SPDX-License-Identifier: Apache-2.0 */
/* ELF files; see elf_image.h and elf(5). Every number in them is untrusted. */
#include "daemon/symbols/elf_image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/cleanup.h"

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#endif

#define MAX_SEGMENTS 1024 /* The kernel refuses a program with more than 64 KiB of them. */
#define MAX_SECTIONS (1u << 16)
#define MAX_NOTE_BYTES 4096
#define MAX_NAME_BYTES 32 /* of a section that is searched for */
#define MAX_UNWIND_BYTES (UINT64_C(128) << 20)

/* --- bytes ------------------------------------------------------------------------------------ */

int elf_image_copy(const struct elf_image *e, uint64_t offset, void *to, size_t n)
{
	const struct iovec local = {to, n};
	struct iovec remote = {NULL, n};
	ssize_t n_copied;

	if (offset > e->n_bytes || n > e->n_bytes - offset)
		return -EFAULT;
	remote.iov_base = (char *)e->bytes + offset;
	n_copied = n ? process_vm_readv(getpid(), &local, 1, &remote, 1, 0) : 0;
	if (n_copied < 0)
		return -errno;
	return (size_t)n_copied == n ? 0 : -EFAULT;
}

int elf_image_read(const struct elf_image *e, uint64_t address, void *to, size_t n)
{
	for (size_t i = 0; i < e->n_segments; i++) {
		const Elf64_Phdr *s = &e->segments[i];
		uint64_t at = address - s->p_vaddr;

		if (address >= s->p_vaddr && at < s->p_filesz && n <= s->p_filesz - at)
			return elf_image_copy(e, s->p_offset + at, to, n);
	}
	return -EFAULT;
}

/* Copies |n| elements into an array that the caller frees. */
static int copy_array(
	const struct elf_image *e, uint64_t offset, size_t n, size_t element_bytes, void *out)
{
	void *array = calloc(n ? n : 1, element_bytes);
	int r = array ? elf_image_copy(e, offset, array, n * element_bytes) : -ENOMEM;

	if (r) {
		free(array);
		array = NULL;
	}
	memcpy(out, &array, sizeof array);
	return r;
}

/* --- headers ---------------------------------------------------------------------------------- */

static bool is_32_bit(const struct elf_image *e)
{
	return e->header.e_ident[EI_CLASS] == ELFCLASS32;
}

static void widen_header(const Elf32_Ehdr *from, Elf64_Ehdr *to)
{
	*to = (Elf64_Ehdr){
		.e_type = from->e_type,
		.e_machine = from->e_machine,
		.e_version = from->e_version,
		.e_entry = from->e_entry,
		.e_phoff = from->e_phoff,
		.e_shoff = from->e_shoff,
		.e_flags = from->e_flags,
		.e_ehsize = from->e_ehsize,
		.e_phentsize = from->e_phentsize,
		.e_phnum = from->e_phnum,
		.e_shentsize = from->e_shentsize,
		.e_shnum = from->e_shnum,
		.e_shstrndx = from->e_shstrndx,
	};
	memcpy(to->e_ident, from->e_ident, sizeof to->e_ident);
}

static void widen_segments(const Elf32_Phdr *from, Elf64_Phdr *to, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (Elf64_Phdr){
			.p_type = from[i].p_type,
			.p_flags = from[i].p_flags,
			.p_offset = from[i].p_offset,
			.p_vaddr = from[i].p_vaddr,
			.p_paddr = from[i].p_paddr,
			.p_filesz = from[i].p_filesz,
			.p_memsz = from[i].p_memsz,
			.p_align = from[i].p_align,
		};
}

static void widen_sections(const Elf32_Shdr *from, Elf64_Shdr *to, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (Elf64_Shdr){
			.sh_name = from[i].sh_name,
			.sh_type = from[i].sh_type,
			.sh_flags = from[i].sh_flags,
			.sh_addr = from[i].sh_addr,
			.sh_offset = from[i].sh_offset,
			.sh_size = from[i].sh_size,
			.sh_link = from[i].sh_link,
			.sh_info = from[i].sh_info,
			.sh_addralign = from[i].sh_addralign,
			.sh_entsize = from[i].sh_entsize,
		};
}

static int image_read_header(struct elf_image *e)
{
	const unsigned char *ident = e->header.e_ident;
	Elf32_Ehdr narrow;
	int r = elf_image_copy(e, 0, e->header.e_ident, EI_NIDENT);

	if (r || memcmp(ident, ELFMAG, SELFMAG) != 0 || ident[EI_DATA] != ELFDATA2LSB)
		return r && r != -EFAULT ? r : -ENOEXEC;
	if (is_32_bit(e)) {
		r = elf_image_copy(e, 0, &narrow, sizeof narrow);
		if (!r)
			widen_header(&narrow, &e->header);
	} else if (ident[EI_CLASS] == ELFCLASS64) {
		r = elf_image_copy(e, 0, &e->header, sizeof e->header);
	} else {
		return -ENOEXEC;
	}
	e->is_foreign = is_32_bit(e) || e->header.e_machine != OWN_MACHINE;
	/* The file may have changed since its first bytes were copied. */
	return r || ident[EI_DATA] != ELFDATA2LSB ? -ENOEXEC : 0;
}

/* Reads |n| program headers of any type into an array that the caller frees. */
static int read_segments(const struct elf_image *e, size_t n, Elf64_Phdr **out)
{
	_cleanup_free_ Elf32_Phdr *narrow = NULL;
	int r;

	*out = NULL;
	if (!is_32_bit(e))
		return e->header.e_phentsize != sizeof **out
			       ? -ENOEXEC
			       : copy_array(e, e->header.e_phoff, n, sizeof **out, out);
	if (e->header.e_phentsize != sizeof *narrow)
		return -ENOEXEC;
	r = copy_array(e, e->header.e_phoff, n, sizeof *narrow, &narrow);
	*out = r ? NULL : calloc(n ? n : 1, sizeof **out);
	if (*out)
		widen_segments(narrow, *out, n);
	return r || *out ? r : -ENOMEM;
}

/* The same for section headers. */
static int read_sections(const struct elf_image *e, size_t n, Elf64_Shdr **out)
{
	_cleanup_free_ Elf32_Shdr *narrow = NULL;
	int r;

	*out = NULL;
	if (!is_32_bit(e))
		return e->header.e_shentsize != sizeof **out
			       ? -ENOEXEC
			       : copy_array(e, e->header.e_shoff, n, sizeof **out, out);
	if (e->header.e_shentsize != sizeof *narrow)
		return -ENOEXEC;
	r = copy_array(e, e->header.e_shoff, n, sizeof *narrow, &narrow);
	*out = r ? NULL : calloc(n ? n : 1, sizeof **out);
	if (*out)
		widen_sections(narrow, *out, n);
	return r || *out ? r : -ENOMEM;
}

/* A count that does not fit into the header is in the first section header. */
static int image_count_sections(struct elf_image *e, size_t *n)
{
	_cleanup_free_ Elf64_Shdr *first = NULL;
	int r;

	*n = e->header.e_shnum;
	e->name_section = e->header.e_shstrndx;
	if (!e->header.e_shoff || (*n && e->name_section != SHN_XINDEX))
		return 0;
	r = read_sections(e, 1, &first);
	if (r)
		return r;
	if (!*n)
		*n = first->sh_size < MAX_SECTIONS ? first->sh_size : MAX_SECTIONS + 1;
	if (e->name_section == SHN_XINDEX)
		e->name_section = first->sh_link;
	return 0;
}

/* A file whose section headers are damaged can do without them, as the kernel does. */
static int image_load_sections(struct elf_image *e)
{
	size_t n = 0;
	int r = image_count_sections(e, &n);

	if (!r && e->header.e_shoff && n && n <= MAX_SECTIONS)
		r = read_sections(e, n, &e->sections);
	e->n_sections = e->sections ? n : 0;
	return r == -ENOMEM ? r : 0;
}

/* --- build-id --------------------------------------------------------------------------------- */

static uint64_t round_up(uint64_t n, uint64_t alignment)
{
	return (n + alignment - 1) / alignment * alignment;
}

/* Searches |n| bytes of notes; a longer build-id than there is room for counts as none. */
static void image_search_notes(struct elf_image *e, const char *notes, size_t n, size_t alignment)
{
	Elf64_Nhdr note; /* has the same layout in 32-bit files */

	for (uint64_t at = 0; at < n && n - at >= sizeof note && !e->n_build_id_bytes;) {
		uint64_t name_at = at + sizeof note;
		uint64_t id_at;

		memcpy(&note, notes + at, sizeof note);
		id_at = at + round_up(sizeof note + (uint64_t)note.n_namesz, alignment);
		at = id_at + round_up(note.n_descsz, alignment);
		if (id_at > n || note.n_descsz > n - id_at)
			return;
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof ELF_NOTE_GNU ||
			memcmp(notes + name_at, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) != 0 ||
			note.n_descsz > sizeof e->build_id)
			continue;
		memcpy(e->build_id, notes + id_at, note.n_descsz);
		e->n_build_id_bytes = note.n_descsz;
	}
}

static void image_read_notes(struct elf_image *e, uint64_t offset, uint64_t n, uint64_t alignment)
{
	char notes[MAX_NOTE_BYTES];
	size_t n_read = n < sizeof notes ? (size_t)n : sizeof notes;

	if (!e->n_build_id_bytes && !elf_image_copy(e, offset, notes, n_read))
		image_search_notes(e, notes, n_read, alignment == 8 ? 8 : 4);
}

void elf_image_format_build_id(const struct elf_image *e, char out[ELF_BUILD_ID_TEXT_BYTES])
{
	out[0] = '\0';
	for (size_t i = 0; i < e->n_build_id_bytes; i++)
		snprintf(out + 2 * i, 3, "%02x", e->build_id[i]);
}

/* --- opening ---------------------------------------------------------------------------------- */

/* Returns false for a segment that wraps around the end of the file's or the memory's addresses. */
static bool segment_is_possible(const Elf64_Phdr *s)
{
	return s->p_filesz <= UINT64_MAX - s->p_offset && s->p_filesz <= UINT64_MAX - s->p_vaddr &&
	       s->p_memsz <= UINT64_MAX - s->p_vaddr;
}

static int image_load_segments(struct elf_image *e)
{
	size_t n = e->header.e_phoff ? e->header.e_phnum : 0;
	int r = n <= MAX_SEGMENTS ? 0 : -ENOEXEC;

	if (!r && n)
		r = read_segments(e, n, &e->segments);
	if (r)
		return r == -ENOMEM ? r : -ENOEXEC;
	for (size_t i = 0; i < n; i++) {
		const Elf64_Phdr *s = &e->segments[i];

		if (s->p_type == PT_NOTE)
			image_read_notes(e, s->p_offset, s->p_filesz, s->p_align);
		else if (s->p_type == PT_LOAD && segment_is_possible(s))
			e->segments[e->n_segments++] = *s;
	}
	return 0;
}

int elf_image_open(struct elf_image *e, const void *bytes, uint64_t n_bytes)
{
	int r;

	*e = (struct elf_image){.bytes = bytes, .n_bytes = n_bytes};
	r = image_read_header(e);
	if (!r)
		r = image_load_segments(e);
	if (!r)
		r = image_load_sections(e);
	if (r) {
		elf_image_close(e);
		return r;
	}
	for (size_t i = 0; i < e->n_sections; i++)
		if (e->sections[i].sh_type == SHT_NOTE)
			image_read_notes(e, e->sections[i].sh_offset, e->sections[i].sh_size,
				e->sections[i].sh_addralign);
	return 0;
}

void elf_image_close(struct elf_image *e)
{
	free(e->segments);
	free(e->sections);
	*e = (struct elf_image){.bytes = NULL};
}

size_t elf_image_count_bytes(const struct elf_image *e)
{
	return e->n_segments * sizeof *e->segments + e->n_sections * sizeof *e->sections;
}

/* --- places ----------------------------------------------------------------------------------- */

bool elf_image_find_address(const struct elf_image *e, uint64_t offset, uint64_t *address)
{
	const Elf64_Phdr *found = NULL;

	for (size_t i = 0; i < e->n_segments; i++) {
		const Elf64_Phdr *s = &e->segments[i];

		if (offset >= s->p_offset && offset - s->p_offset < s->p_filesz &&
			(!found || (s->p_flags & PF_X && !(found->p_flags & PF_X))))
			found = s;
	}
	if (found)
		*address = found->p_vaddr + (offset - found->p_offset);
	return found;
}

bool elf_image_find_offset(const struct elf_image *e, uint64_t address, uint64_t *offset)
{
	for (size_t i = 0; i < e->n_segments; i++) {
		const Elf64_Phdr *s = &e->segments[i];

		if (address < s->p_vaddr || address - s->p_vaddr >= s->p_filesz)
			continue;
		*offset = s->p_offset + (address - s->p_vaddr);
		return true;
	}
	return false;
}

static bool section_has_name(const struct elf_image *e, const Elf64_Shdr *s, const char *name)
{
	char text[MAX_NAME_BYTES];
	size_t n = strlen(name) + 1;
	const Elf64_Shdr *names;

	if (e->name_section >= e->n_sections || n > sizeof text)
		return false;
	names = &e->sections[e->name_section];
	return s->sh_name < names->sh_size && n <= names->sh_size - s->sh_name &&
	       !elf_image_copy(e, names->sh_offset + s->sh_name, text, n) &&
	       memcmp(text, name, n) == 0;
}

const Elf64_Shdr *elf_image_find_section(const struct elf_image *e, uint32_t type, const char *name)
{
	for (size_t i = 0; i < e->n_sections; i++) {
		const Elf64_Shdr *s = &e->sections[i];

		if ((type == SHT_NULL || s->sh_type == type) &&
			(!name || section_has_name(e, s, name)))
			return s;
	}
	return NULL;
}

/* --- unwind tables ---------------------------------------------------------------------------- */

#define PART_ALIGNMENT 64u

/* The file that is made: the header, the segments, the sections, then the parts with contents. */
struct excerpt {
	const struct elf_image *image;
	const Elf64_Shdr *parts[3]; /* sections of the image; NULL: not there */
	Elf64_Ehdr header;
	size_t n_bytes;
};

static bool excerpt_has(const struct excerpt *x, const Elf64_Shdr *section)
{
	for (size_t i = 0; i < sizeof x->parts / sizeof *x->parts; i++)
		if (x->parts[i] == section)
			return true;
	return false;
}

static int excerpt_lay_out(struct excerpt *x)
{
	const struct elf_image *e = x->image;
	uint64_t n;

	x->header = e->header;
	x->header.e_phoff = sizeof x->header;
	x->header.e_phnum = (Elf64_Half)e->n_segments;
	x->header.e_shoff = x->header.e_phoff + e->n_segments * sizeof *e->segments;
	n = round_up(x->header.e_shoff + e->n_sections * sizeof *e->sections, PART_ALIGNMENT);
	for (size_t i = 0; i < sizeof x->parts / sizeof *x->parts; i++) {
		if (!x->parts[i])
			continue;
		if (x->parts[i]->sh_size > MAX_UNWIND_BYTES)
			return -EFBIG;
		n += round_up(x->parts[i]->sh_size, PART_ALIGNMENT);
	}
	if (n > MAX_UNWIND_BYTES)
		return -EFBIG;
	x->n_bytes = (size_t)n;
	return 0;
}

static int excerpt_write(const struct excerpt *x, char *out)
{
	const struct elf_image *e = x->image;
	Elf64_Shdr *sections = (Elf64_Shdr *)(out + x->header.e_shoff);
	uint64_t at =
		round_up(x->header.e_shoff + e->n_sections * sizeof *sections, PART_ALIGNMENT);
	int r = 0;

	memcpy(out, &x->header, sizeof x->header);
	if (e->n_segments)
		memcpy(out + x->header.e_phoff, e->segments, e->n_segments * sizeof *e->segments);
	memcpy(sections, e->sections, e->n_sections * sizeof *sections);
	for (size_t i = 0; i < e->n_sections && !r; i++) {
		if (!excerpt_has(x, &e->sections[i])) {
			/* Section 0 keeps its type: it may hold the number of sections. */
			sections[i].sh_type = i ? SHT_NOBITS : sections[i].sh_type;
			continue;
		}
		sections[i].sh_offset = at;
		r = elf_image_copy(e, e->sections[i].sh_offset, out + at, sections[i].sh_size);
		at += round_up(sections[i].sh_size, PART_ALIGNMENT);
	}
	return r;
}

int elf_image_copy_unwind_tables(const struct elf_image *e, void **out, size_t *n_out)
{
	struct excerpt x = {.image = e};
	char *bytes;
	int r;

	if (e->is_foreign)
		return -ENOEXEC;
	x.parts[0] = elf_image_find_section(e, SHT_NULL, ".eh_frame");
	if (!x.parts[0] || x.parts[0]->sh_type == SHT_NOBITS)
		return -ENOENT;
	x.parts[1] = elf_image_find_section(e, SHT_PROGBITS, ".eh_frame_hdr");
	x.parts[2] = &e->sections[e->name_section];
	r = excerpt_lay_out(&x);
	if (r)
		return r;
	bytes = calloc(1, x.n_bytes);
	if (!bytes)
		return -ENOMEM;
	r = excerpt_write(&x, bytes);
	if (r) {
		free(bytes);
		return r;
	}
	*out = bytes;
	*n_out = x.n_bytes;
	return 0;
}
