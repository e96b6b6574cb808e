/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls that touch nothing but registers: for a child that shares the caller's memory and
 * thread-local storage, where errno, malloc, locks and lazy binding of libc would act on the host.
 * Every call returns the kernel's value: negative errno on failure.
 */
#ifndef SPAWN_RAWSYS_H
#define SPAWN_RAWSYS_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

/* --- functions ----------------------------------------------------------------------------- */

/* gcc before 11 lacks the attribute, but has the option. */
#ifndef __has_attribute
#define __has_attribute(name) 0
#endif
#if __has_attribute(no_stack_protector)
#define SPAWN_NO_STACK_PROTECTOR no_stack_protector
#else
#define SPAWN_NO_STACK_PROTECTOR optimize("no-stack-protector")
#endif

/*
 * All functions that a child runs while it shares the host's memory have these attributes: checks
 * that a compiler adds would use that memory.
 */
#define SPAWN_RAW_INLINE \
	__attribute__((no_sanitize("address", "undefined", "thread"), SPAWN_NO_STACK_PROTECTOR))
#define SPAWN_RAW SPAWN_RAW_INLINE __attribute__((noinline))

/* --- calls --------------------------------------------------------------------------------- */

#if defined(__x86_64__)
static inline SPAWN_RAW_INLINE long raw6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}
#elif defined(__aarch64__)
static inline SPAWN_RAW_INLINE long raw6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}
#else
#error "lib/spawn/rawsys.h: write raw6() for this processor"
#endif

#define raw0(nr) raw6(nr, 0, 0, 0, 0, 0, 0)
#define raw1(nr, a) raw6(nr, (long)(a), 0, 0, 0, 0, 0)
#define raw2(nr, a, b) raw6(nr, (long)(a), (long)(b), 0, 0, 0, 0)
#define raw3(nr, a, b, c) raw6(nr, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define raw4(nr, a, b, c, d) raw6(nr, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define raw5(nr, a, b, c, d, e) raw6(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)

/* --- messages ------------------------------------------------------------------------------ */

/* The kernel's struct msghdr. Fields of musl's are narrower, and its sendmsg() clears the gaps. */
struct raw_message {
	void *name;
	int32_t name_bytes;
	struct iovec *pieces;
	size_t n_pieces;
	void *control;
	size_t control_bytes;
	uint32_t flags;
};

/* Sets each member by itself, because an initializer could call memset(). */
static inline SPAWN_RAW_INLINE void raw_message_set(
	struct raw_message *m, struct iovec *piece, void *control, size_t control_bytes)
{
	m->name = NULL;
	m->name_bytes = 0;
	m->pieces = piece;
	m->n_pieces = 1;
	m->control = control;
	m->control_bytes = control_bytes;
	m->flags = 0;
}

/* The kernel's struct cmsghdr, with which a control message begins. */
struct raw_control {
	size_t n_bytes; /* with this head */
	int32_t level;
	int32_t type;
};

/* --- signals ------------------------------------------------------------------------------- */

/*
 * Blocks all signals, including libc's internal ones, which sigprocmask() leaves out. SIGSYS stays
 * as it is: a sandbox may answer the system call clone with it, and the host's SIGSYS handler then
 * makes the call return an error. A blocked SIGSYS would kill the host. The child blocks SIGSYS,
 * too, by raw_block_all_signals().
 */
static inline void raw_block_signals(uint64_t *before)
{
	uint64_t all_but_sigsys = ~(UINT64_C(1) << (SIGSYS - 1));

	raw4(SYS_rt_sigprocmask, SIG_BLOCK, &all_but_sigsys, before, sizeof *before);
}

static inline SPAWN_RAW_INLINE void raw_block_all_signals(void)
{
	uint64_t all = ~UINT64_C(0);

	raw4(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof all);
}

static inline void raw_restore_signals(const uint64_t *before)
{
	raw4(SYS_rt_sigprocmask, SIG_SETMASK, before, NULL, sizeof *before);
}

#endif
