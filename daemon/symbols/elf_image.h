/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ELF file in memory: its build-id, its segments and sections, and its bytes by file offset or
 * by virtual address.
 *
 * The memory is usually a mapping of a file, which another program may change or cut at any time.
 * So no byte is read from it directly. The kernel copies it (process_vm_readv() on this process):
 * then a page that is gone is an error instead of a SIGBUS, and no value changes after its check.
 *
 * Threads: any number of threads may read an image that is open.
 */
#ifndef DAEMON_ELF_IMAGE_H
#define DAEMON_ELF_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_BUILD_ID_MAX_BYTES 32 /* a longer one counts as none */
#define ELF_BUILD_ID_TEXT_BYTES (2 * ELF_BUILD_ID_MAX_BYTES + 1)

struct elf_image {
	const void *bytes; /* borrowed; only elf_image_copy() reads it */
	uint64_t n_bytes;
	/*
	 * The file is for another processor or word size than this program. The headers of a 32-bit
	 * file are widened to the 64-bit form.
	 */
	bool is_foreign;
	Elf64_Ehdr header;
	Elf64_Phdr *segments; /* of type PT_LOAD, in the order of the file; none wraps around */
	size_t n_segments;
	Elf64_Shdr *sections; /* NULL: the file has none, or the table is damaged */
	size_t n_sections;
	size_t name_section; /* the index of the section that holds the names of sections */
	uint8_t build_id[ELF_BUILD_ID_MAX_BYTES];
	size_t n_build_id_bytes; /* 0: the file has none */
};

/*
 * Reads the headers of the |n_bytes| at |bytes|, which must stay mapped until elf_image_close().
 * Errors: 0; -ENOEXEC: this is not a little-endian ELF file, or its headers are damaged or cut;
 * -ENOMEM; or the reason why the kernel does not copy the bytes (-EFAULT, -EPERM). After an error
 * there is nothing to close.
 */
int elf_image_open(struct elf_image *e, const void *bytes, uint64_t n_bytes);
/* Frees the headers; an image of all zero bytes is fine. The memory at |bytes| stays. */
void elf_image_close(struct elf_image *e);

/* Returns the heap memory that the headers take. */
size_t elf_image_count_bytes(const struct elf_image *e);

/*
 * Copies the |n| bytes of the file at |offset|. 0; -EFAULT: the file does not have all of them (any
 * more); or another negative errno.
 */
int elf_image_copy(const struct elf_image *e, uint64_t offset, void *to, size_t n);
/* The same for a virtual address. -EFAULT also if the bytes are not within one segment's file. */
int elf_image_read(const struct elf_image *e, uint64_t address, void *to, size_t n);

/*
 * Converts a file offset to the virtual address (as in the file, without a load bias) by the
 * segment that holds it. If two segments hold it, the executable one counts, because callers ask
 * for the places of code. false: no segment holds it. The start of a mapping need not be in a
 * segment (it is rounded down to a page), so convert the place of an instruction.
 */
bool elf_image_find_address(const struct elf_image *e, uint64_t offset, uint64_t *address);
/* The opposite. false also for memory that the file has no bytes for, such as .bss. */
bool elf_image_find_offset(const struct elf_image *e, uint64_t address, uint64_t *offset);

/* Writes the build-id in lower-case hex digits; "": the file has none. */
void elf_image_format_build_id(const struct elf_image *e, char out[ELF_BUILD_ID_TEXT_BYTES]);

/*
 * Returns the first section with this type (SHT_NULL: any type) and this name (NULL: any name), or
 * NULL if there is none. It is borrowed from the image.
 */
const Elf64_Shdr *elf_image_find_section(
	const struct elf_image *e, uint32_t type, const char *name);

/*
 * Makes a small ELF file for libdw (elf_memory()): the headers, .eh_frame_hdr and .eh_frame. All
 * other sections are there without contents (SHT_NOBITS). It is ordinary memory that nobody
 * changes, so libdw, which trusts what it has checked once, can unwind by it safely.
 * Owner: the caller frees *out.
 * Errors: 0; -ENOENT: the file has no .eh_frame; -ENOEXEC: the file is foreign; -EFBIG: the tables
 * have more than 128 MiB; -ENOMEM; or what elf_image_copy() returns.
 */
int elf_image_copy_unwind_tables(const struct elf_image *e, void **out, size_t *n_out);

#endif
