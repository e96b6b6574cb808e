/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz harness of proftap run's reading of the program that it starts, which may be any file. The
 * texts that it finds are terminated.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client/program/elf.h"
#include "tests/fuzz/fuzz.h"

static int file = -1;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct elf elf;

	if (file < 0)
		file = memfd_create("elf", MFD_CLOEXEC);
	if (ftruncate(file, 0) || pwrite(file, data, n_bytes, 0) != (ssize_t)n_bytes)
		abort();
	if (elf_read(file, &elf) > 0)
		abort();
	if (strnlen(elf.loader, sizeof elf.loader) == sizeof elf.loader ||
		strnlen(elf.sanitizer, sizeof elf.sanitizer) == sizeof elf.sanitizer)
		abort();
	return 0;
}
