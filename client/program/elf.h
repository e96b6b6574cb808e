/* SPDX-License-Identifier: Apache-2.0 */
/* Reads from an executable file how it will be loaded. */
#ifndef CLIENT_ELF_H
#define CLIENT_ELF_H

#include <stdbool.h>

struct elf {
	/*
	 * The file is for another processor or word size than this program; the
	 * rest is not set then.
	 */
	bool is_foreign;
	char loader[256]; /* the path of the file's dynamic loader; "": linked statically */
	char sanitizer[64]; /* the address sanitizer's library that the file needs; "": none */
};

/* 0, -ENOEXEC when |fd| is not an ELF file or is truncated, or another negative errno. */
int elf_read(int fd, struct elf *out);

#endif
