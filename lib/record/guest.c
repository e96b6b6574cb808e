/* SPDX-License-Identifier: Apache-2.0 */
/* The library's state; see guest.h. */
#include "lib/record/guest.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/kernel_numbers.h"

__attribute__((aligned(GUEST_PAGE_BYTES))) union guest_page guest_page;

/*
 * The page with the type that the public header declares. One object with two types is undefined
 * behaviour, and link-time optimization sees both.
 *
 * Protected: the library always uses its own copy. The linker refuses a program that would need a
 * copy of the page (a COPY relocation), which would otherwise silently read a page that never
 * changes.
 */
extern __attribute__((alias("guest_page"), visibility("protected")))
uint32_t ptap_impl_level_page[1024];

_Static_assert(sizeof(union guest_page) == GUEST_PAGE_BYTES, "no other data on the page");

/* It survives fork on purpose; see guest_next_word(). */
static uint32_t last_capture;

void (*guest_join)(void);

uint32_t guest_next_word(uint32_t level)
{
	last_capture++;
	/*
	 * No word may mean "not recording" or equal GUEST_WORD_FOLLOW or RING_WORD_DEVICES; these
	 * two differ only in the level.
	 */
	if (last_capture >= GUEST_WORD_FOLLOW >> 2)
		last_capture = 1;
	return last_capture << 2 | (level & 3u);
}

bool guest_may_read_ticks(void)
{
#ifdef PR_GET_TSC
	int mode = 0;

	if (prctl(PR_GET_TSC, &mode, 0, 0, 0) == 0 && mode != PR_TSC_ENABLE)
		return false;
#endif
	return TICKS_ARE_READABLE;
}

uint32_t guest_choose_clock(uint32_t clock)
{
	return clock != ARENA_CLOCK_TICKS && !guest_may_read_ticks() ? GUEST_CLOCK_BY_CALL : clock;
}

uint64_t guest_read_clock(uint32_t clock)
{
	return (uint64_t)(clock == GUEST_CLOCK_BY_CALL ? monotonic_ns_by_call() : monotonic_ns());
}

int guest_wipe_on_fork(void)
{
	if (madvise(&guest_page, sizeof guest_page, MADV_WIPEONFORK))
		return -errno;
	return 0;
}

void guest_lock(_Atomic uint32_t *lock)
{
	/* If the kernel cannot do this, the server's start reports it. */
	guest_wipe_on_fork();
	lock_take(lock);
}
