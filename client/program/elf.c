/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the parts of ELF that determine the effect of LD_PRELOAD; see elf.h. Offsets come from the
 * file and are not trusted.
 */
#include "client/program/elf.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define MAX_SEGMENTS 64
#define MAX_DYNAMIC 512

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#endif

struct elf_file {
	int fd;
	ElfW(Phdr) segments[MAX_SEGMENTS];
	unsigned int n_segments;
};

/* 0, -ENOEXEC when the file has fewer bytes, or another negative errno. */
static int read_at(int fd, void *out, size_t n, uint64_t offset)
{
	ssize_t r = pread(fd, out, n, (off_t)offset);

	if (r < 0)
		return -errno;
	return (size_t)r == n ? 0 : -ENOEXEC;
}

/* Reads a text of unknown length, cut at the end of the file. */
static void read_text(int fd, char *out, size_t size, uint64_t offset)
{
	ssize_t n = pread(fd, out, size - 1, (off_t)offset);

	out[n > 0 ? n : 0] = '\0';
}

static int read_header(int fd, ElfW(Ehdr) * header, struct elf *out)
{
	unsigned char ident[EI_NIDENT];
	int r = read_at(fd, ident, sizeof ident, 0);

	if (r)
		return r;
	if (memcmp(ident, ELFMAG, SELFMAG) != 0)
		return -ENOEXEC;
	r = read_at(fd, header, sizeof *header, 0);
	out->is_foreign = ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
			  ident[EI_DATA] != ELFDATA2LSB || (!r && header->e_machine != OWN_MACHINE);
	return out->is_foreign ? 0 : r;
}

static int read_segments(struct elf_file *f, const ElfW(Ehdr) * header)
{
	if (header->e_phentsize != sizeof f->segments[0] || header->e_phnum > MAX_SEGMENTS)
		return -ENOEXEC;
	f->n_segments = header->e_phnum;
	return read_at(f->fd, f->segments, f->n_segments * sizeof f->segments[0], header->e_phoff);
}

static const ElfW(Phdr) * find_segment(const struct elf_file *f, uint32_t type)
{
	for (unsigned int i = 0; i < f->n_segments; i++)
		if (f->segments[i].p_type == type)
			return &f->segments[i];
	return NULL;
}

/* Returns the file offset of |address|, an address in memory; 0: the file does not have it. */
static uint64_t find_offset(const struct elf_file *f, uint64_t address)
{
	for (unsigned int i = 0; i < f->n_segments; i++) {
		const ElfW(Phdr) *s = &f->segments[i];

		if (s->p_type == PT_LOAD && address >= s->p_vaddr &&
			address - s->p_vaddr < s->p_filesz)
			return s->p_offset + (address - s->p_vaddr);
	}
	return 0;
}

static uint64_t find_strings(const struct elf_file *f, const ElfW(Dyn) * dynamic, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (dynamic[i].d_tag == DT_STRTAB)
			return find_offset(f, dynamic[i].d_un.d_ptr);
	return 0;
}

static void find_sanitizer(const struct elf_file *f, struct elf *out)
{
	const ElfW(Phdr) *s = find_segment(f, PT_DYNAMIC);
	ElfW(Dyn) dynamic[MAX_DYNAMIC];
	size_t n = s ? s->p_filesz / sizeof dynamic[0] : 0;
	uint64_t strings;

	if (n > MAX_DYNAMIC)
		n = MAX_DYNAMIC;
	if (n == 0 || read_at(f->fd, dynamic, n * sizeof dynamic[0], s->p_offset))
		return;
	strings = find_strings(f, dynamic, n);
	for (size_t i = 0; strings && i < n && dynamic[i].d_tag != DT_NULL; i++) {
		if (dynamic[i].d_tag != DT_NEEDED)
			continue;
		read_text(f->fd, out->sanitizer, sizeof out->sanitizer,
			strings + dynamic[i].d_un.d_val);
		if (strncmp(out->sanitizer, "libasan.so", 10) == 0)
			return;
	}
	out->sanitizer[0] = '\0';
}

int elf_read(int fd, struct elf *out)
{
	struct elf_file f = {.fd = fd};
	const ElfW(Phdr) * loader;
	ElfW(Ehdr) header;
	int r;

	memset(out, 0, sizeof *out);
	r = read_header(fd, &header, out);
	if (r == 0 && !out->is_foreign)
		r = read_segments(&f, &header);
	if (r || out->is_foreign)
		return r;
	loader = find_segment(&f, PT_INTERP);
	if (loader)
		read_text(fd, out->loader,
			loader->p_filesz < sizeof out->loader ? loader->p_filesz + 1
							      : sizeof out->loader,
			loader->p_offset);
	find_sanitizer(&f, out);
	return 0;
}
