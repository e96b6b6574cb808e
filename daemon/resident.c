/* SPDX-License-Identifier: Apache-2.0 */
/* Being small while idle; see resident.h. Half of an idle server would be gRPC's constructors. */
#include "daemon/resident.h"

#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Only what was never written: relocated and written pages are private memory and would be lost. */
static void drop_segment(const struct dl_phdr_info *info, const ElfW(Phdr) * segment)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start = (info->dlpi_addr + segment->p_vaddr + page - 1) & ~(page - 1);
	uintptr_t end = (info->dlpi_addr + segment->p_vaddr + segment->p_memsz) & ~(page - 1);

	if (segment->p_type == PT_LOAD && !(segment->p_flags & PF_W) && end > start)
		madvise((void *)start, end - start, MADV_DONTNEED);
}

static int drop_program(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	(void)context;
	for (int i = 0; i < info->dlpi_phnum; i++)
		drop_segment(info, &info->dlpi_phdr[i]);
	return 1; /* the first one is the program itself */
}

void resident_trim(void)
{
	dl_iterate_phdr(drop_program, NULL);
}
