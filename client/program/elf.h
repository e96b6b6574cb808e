/* SPDX-License-Identifier: Apache-2.0 */
/* What an executable file says about how it will be loaded. */
#ifndef CLIENT_ELF_H
#define CLIENT_ELF_H

#include <stdbool.h>

struct elf {
	bool is_foreign; /* of another processor or word size than we; the rest is not filled then */
	char loader[256]; /* path of its dynamic loader, "": linked statically */
	char sanitizer[64]; /* the address sanitizer's library that it needs, "": none */
};

/* 0, -ENOEXEC when |fd| is not an ELF file or is cut off, or another negative errno. */
int elf_read(int fd, struct elf *out);

#endif
