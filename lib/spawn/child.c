/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between clone and exec; see child.h. The child shares the target's memory, so the arena that it
 * maps appears there; it has a descriptor table of its own, so the descriptors that it opens do
 * not.
 */
#include "lib/spawn/child.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "base/kernel_numbers.h"
#include "lib/spawn/rawsys.h"
#include "lib/spawn/socket_file.h"
#include "lib/spawn/spawn.h"
#include "lib/wire/serve.h"

static SPAWN_RAW int fail_at(struct spawn *s, enum spawn_stage stage, long error)
{
	s->stage = stage;
	s->error = (int)error;
	return (int)error;
}

static SPAWN_RAW long make_listener(struct spawn *s)
{
	int on = 1;
	int family = s->address.ss_family;
	long fd = raw3(SYS_socket, family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return fail_at(s, SPAWN_SOCKET, fd);
	/* SO_REUSEPORT is not set: with it, two servers would share the port in silence. */
	raw5(SYS_setsockopt, fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	s->listener = (int32_t)fd;
	return 0;
}

static SPAWN_RAW long listen_on(struct spawn *s)
{
	/*
	 * This is not |s->address|, which stays as requested for a repeated call. An IPv6 address
	 * is cut here after its first part, which holds the port.
	 */
	struct sockaddr_in bound;
	socklen_t n = sizeof bound;
	long r;

	if (s->address.ss_family == AF_UNIX) {
		r = socket_file_bind(s);
		return r < 0 ? fail_at(s, SPAWN_BIND, r) : 0;
	}
	r = raw3(SYS_bind, s->listener, &s->address, s->address_bytes);
	if (r == 0)
		r = raw2(SYS_listen, s->listener, 1024);
	if (r == 0)
		r = raw3(SYS_getsockname, s->listener, &bound, &n);
	if (r < 0)
		return fail_at(s, SPAWN_BIND, r);
	/* sin_port and sin6_port lie at the same place. */
	s->port = __builtin_bswap16(bound.sin_port);
	return 0;
}

static SPAWN_RAW long make_memfd(void)
{
	unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	long fd = raw2(SYS_memfd_create, "proftap", flags | MFD_NOEXEC_SEAL);

	/* Linux before 6.3 does not know MFD_NOEXEC_SEAL. */
	if (fd == -EINVAL)
		fd = raw2(SYS_memfd_create, "proftap", flags);
	return fd;
}

/* bytes; RLIMIT_AS is not checked for arenas up to this, such as one 1 MiB ring */
#define SMALL_BYTES (4u << 20)
/* The smallest page size: at worst the code sees more free address space than there is. */
#define PAGE_BYTES 4096u

static SPAWN_RAW uint64_t read_limit(int resource)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

	raw4(SYS_prlimit64, 0, resource, NULL, &limit);
	return limit.rlim_cur;
}

/*
 * Bytes of the used address space, from the first number of /proc/self/statm (pages). 0 where there
 * is no /proc.
 */
static SPAWN_RAW uint64_t read_used_bytes(void)
{
	char text[32];
	long fd = raw4(SYS_openat, AT_FDCWD, "/proc/self/statm", O_RDONLY | O_CLOEXEC, 0);
	long n = fd < 0 ? 0 : raw3(SYS_read, fd, text, sizeof text);
	uint64_t pages = 0;

	for (long i = 0; i < n && text[i] >= '0' && text[i] <= '9'; i++)
		pages = pages * 10 + (uint64_t)(text[i] - '0');
	if (fd >= 0)
		raw1(SYS_close, fd);
	return pages * PAGE_BYTES;
}

static SPAWN_RAW int check_limits(uint64_t bytes)
{
	uint64_t space = read_limit(RLIMIT_AS);
	uint64_t used;

	if (read_limit(RLIMIT_FSIZE) < bytes)
		return -EFBIG;
	if (space == RLIM_INFINITY || bytes <= SMALL_BYTES)
		return 0;
	used = read_used_bytes();
	return used > space || bytes > (space - used) / 4 ? -ENOMEM : 0;
}

/*
 * The arena is reserved without access and unlocked: mlockall() by the host would otherwise fill it
 * at once. It is not sealed against future writes: that would also forbid freeing the pages when
 * the server dies.
 */
static SPAWN_RAW long map_arena(struct spawn *s)
{
	long p = raw6(SYS_mmap, 0, (long)s->arena_bytes, PROT_NONE, MAP_SHARED, s->memfd, 0);

	if (p < 0 && p > -4096)
		return p;
	raw2(SYS_munlock, p, s->arena_bytes);
	raw3(SYS_madvise, p, s->arena_bytes, MADV_DONTDUMP);
	raw3(SYS_madvise, p, s->arena_bytes, MADV_NOHUGEPAGE);
	s->arena = (struct arena *)p;
	return 0;
}

SPAWN_RAW int child_make_arena(struct spawn *s)
{
	long fd = make_memfd();
	long r;

	if (fd < 0)
		return fail_at(s, SPAWN_ARENA, fd);
	s->memfd = (int32_t)fd;
	r = check_limits(s->arena_bytes);
	if (r == 0)
		r = raw2(SYS_ftruncate, fd, s->arena_bytes);
	if (r == 0)
		r = raw3(SYS_fcntl, fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	if (r == 0)
		r = map_arena(s);
	return r < 0 ? fail_at(s, SPAWN_ARENA, r) : 0;
}

SPAWN_RAW int child_make_descriptors(struct spawn *s)
{
	long r = 0;

	if (s->address_bytes)
		r = make_listener(s);
	if (r == 0 && s->address_bytes)
		r = listen_on(s);
	if (r == 0)
		r = child_make_arena(s);
	return (int)r;
}

SPAWN_RAW void child_mark_descriptors(int from, bool close_now)
{
	long r = raw3(SYS_close_range, from, ~0U, close_now ? 0 : CLOSE_RANGE_CLOEXEC);

	/*
	 * Linux before 5.9 lacks the call, before 5.11 the flag: go one by one, up to the usual
	 * size of a table.
	 */
	if (r != -ENOSYS && r != -EINVAL)
		return;
	for (int fd = from; fd < 4096; fd++) {
		if (close_now)
			raw1(SYS_close, fd);
		else
			raw3(SYS_fcntl, fd, F_SETFD, FD_CLOEXEC);
	}
}

/*
 * Moves a descriptor above those that the server finds, and not onto |keep|. It may replace one of
 * the host's, because the host's table may be full.
 */
static SPAWN_RAW long move_up(long fd, long keep)
{
	long above = SPAWN_FD_ARENA + 1;

	return fd >= above ? fd : raw3(SYS_dup3, fd, keep == above ? above + 1 : above, O_CLOEXEC);
}

/*
 * Places listener and arena at 3 and 4, by way of two places above, so that neither overwrites the
 * other.
 */
static SPAWN_RAW long place_descriptors(struct spawn *s)
{
	long listener = s->address_bytes ? move_up(s->listener, s->memfd) : 0;
	long memfd = move_up(s->memfd, listener);
	long null;

	if (listener < 0 || memfd < 0)
		return listener < 0 ? listener : memfd;
	/*
	 * Without a listener its number stays unused: a descriptor that the host had there closes
	 * with exec.
	 */
	if (s->address_bytes)
		raw3(SYS_dup3, listener, SPAWN_FD_LISTENER, 0);
	raw3(SYS_dup3, memfd, SPAWN_FD_ARENA, 0);
	/* The close makes room for one more descriptor. */
	raw1(SYS_close, memfd);
	null = raw4(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR, 0);
	/*
	 * In a chroot without /dev, the server's 0 to 2 are copies of the arena: open, and useless.
	 */
	for (int fd = 0; fd < 3; fd++)
		raw3(SYS_dup3, null >= 0 ? null : SPAWN_FD_ARENA, fd, 0);
	/* If the host has closed 0 to 2, the new descriptor may be one of them. */
	if (null > 2)
		raw1(SYS_close, null);
	return 0;
}

/*
 * Sets every signal's disposition to default while all signals are blocked: after the mask is
 * emptied below, a handler of the host would run here, on the host's memory. It ignores each signal
 * first: that drops signals sent to the host's process group before setsid(), which would now kill
 * the server.
 */
static SPAWN_RAW void reset_signals(void)
{
	struct {
		void (*handler)(int);
		unsigned long flags;
		void *restorer;
		uint64_t mask;
	} action;
	uint64_t none = 0;

	action.flags = 0;
	action.restorer = NULL;
	action.mask = 0;
	for (int i = 1; i <= 64; i++) {
		action.handler = SIG_IGN;
		raw4(SYS_rt_sigaction, i, &action, NULL, sizeof action.mask);
		action.handler = SIG_DFL;
		raw4(SYS_rt_sigaction, i, &action, NULL, sizeof action.mask);
	}
	raw4(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none);
}

SPAWN_RAW void child_exec(struct spawn *s)
{
	long r = place_descriptors(s);

	if (r == 0) {
		raw0(SYS_setsid);
		raw1(SYS_chdir, "/");
		reset_signals();
		/*
		 * The host may have forbidden itself to read the time stamp counter; the server
		 * cannot tell the time without it.
		 */
		raw5(SYS_prctl, PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
		r = raw3(SYS_execve, s->path, s->argv, s->envp);
	}
	fail_at(s, SPAWN_EXEC, r);
}
