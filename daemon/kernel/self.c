/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of this process; see self.h. */
#include "daemon/kernel/self.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/log.h"

/*
 * This process starts with the target's score. Adds 500, so that the kernel kills this process
 * first.
 */
void self_offer_to_oom_killer(void)
{
	char text[16] = "";
	int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
	int adj;

	if (fd < 0)
		return;
	if (pread(fd, text, sizeof text - 1, 0) > 0) {
		adj = atoi(text) + 500;
		snprintf(text, sizeof text, "%d", adj < 1000 ? adj : 1000);
		if (pwrite(fd, text, strlen(text), 0) < 0)
			log_debug(LOG_TARGET, "oom_score_adj: %s", errno_words(errno));
	}
	close(fd);
}

static void limit_raise(int what)
{
	struct rlimit r;

	if (getrlimit((__rlimit_resource_t)what, &r) == 0) {
		r.rlim_cur = r.rlim_max;
		setrlimit((__rlimit_resource_t)what, &r);
	}
}

void self_raise_limits(void)
{
	limit_raise(RLIMIT_NOFILE);
	limit_raise(RLIMIT_AS);
}

void self_ignore_signals(void)
{
	signal(SIGXFSZ, SIG_IGN);
}

void self_ask_for_low_latency(void)
{
	struct {
		uint32_t size;
		uint32_t policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t slice_ns;
		uint64_t deadline;
		uint64_t period;
	} attr = {.size = sizeof attr, .policy = SCHED_OTHER, .nice = -5, .slice_ns = 100000};

	if (syscall(SYS_sched_setattr, 0, &attr, 0)) {
		attr.nice = 0;
		syscall(SYS_sched_setattr, 0, &attr, 0);
	}
}

/*
 * Drops only pages that were never written: relocated and written pages are private memory and
 * would be lost.
 */
static void segment_drop_pages(const struct dl_phdr_info *info, const ElfW(Phdr) * segment)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start = (info->dlpi_addr + segment->p_vaddr + page - 1) & ~(page - 1);
	uintptr_t end = (info->dlpi_addr + segment->p_vaddr + segment->p_memsz) & ~(page - 1);

	if (segment->p_type == PT_LOAD && !(segment->p_flags & PF_W) && end > start)
		madvise((void *)start, end - start, MADV_DONTNEED);
}

static int program_drop_pages(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	(void)context;
	for (int i = 0; i < info->dlpi_phnum; i++)
		segment_drop_pages(info, &info->dlpi_phdr[i]);
	return 1; /* stop after the first one, which is the program itself */
}

/*
 * Without this, the pages that gRPC's constructors touched would be half of an idle server's
 * memory.
 */
void self_trim(void)
{
	dl_iterate_phdr(program_drop_pages, NULL);
}
