/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting the server process; see spawn.h.
 *
 * There are two clones with shared memory and no exit signal: the intermediate is reaped here with
 * __WCLONE, so the host sees no SIGCHLD and nothing in its own wait(); the server becomes a child
 * of init. Signals are blocked meanwhile. The caller is suspended until exec (CLONE_VFORK), and the
 * children run on stacks of their own.
 *
 * Where clone becomes fork (valgrind, qemu-user) a mapping made in the child would not appear here.
 * A first clone that only sets a flag detects that; then the descriptors are made here and passed.
 */
#define PTAP_IMPL_BUILDING
#include "lib/spawn/spawn.h"

#include <errno.h>
#include <proftap/proftap.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"
#include "lib/spawn/child.h"
#include "lib/spawn/rawsys.h"

/* --- the environment ----------------------------------------------------------------------- */

static bool is_unwanted_variable(const char *entry)
{
	static const char *const prefixes[] = {"LD_", "PROFTAP", "GRPC_"};
	size_t n = strcspn(entry, "=");

	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (strncmp(entry, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return n >= 6 && strncasecmp(entry + n - 6, "_proxy", 6) == 0;
}

char **spawn_clean_environment(void)
{
	size_t n = 0;
	size_t kept = 0;
	char **clean;

	while (environ && environ[n])
		n++;
	clean = calloc(n + 1, sizeof *clean);
	if (!clean)
		return NULL;
	for (size_t i = 0; i < n && environ[i]; i++)
		if (!is_unwanted_variable(environ[i]))
			clean[kept++] = environ[i];
	return clean;
}

#define OWN_PID_SPACE "/proc/self/ns/pid"
#define PID_SPACE_OF_CHILDREN "/proc/self/ns/pid_for_children"
#define PID_SPACE_BYTES 64 /* "pid:[4026531836]" */

bool pid_space_is_shared_with_children(void)
{
	char own[PID_SPACE_BYTES];
	char children[PID_SPACE_BYTES];
	struct stat st;
	ssize_t n = readlink(OWN_PID_SPACE, own, sizeof own);

	/*
	 * Linux before 4.12 has no such link. While the children's namespace has no PID 1,
	 * readlink() fails.
	 */
	if (n <= 0 || lstat(PID_SPACE_OF_CHILDREN, &st))
		return true;
	return readlink(PID_SPACE_OF_CHILDREN, children, sizeof children) == n &&
	       memcmp(own, children, (size_t)n) == 0;
}

/* --- clones -------------------------------------------------------------------------------- */

#define STACK_BYTES (64u << 10)
#define GUARD_BYTES (16u << 10)

/*
 * clone() of glibc, by the name that nobody interposes. ThreadSanitizer takes a call of the other
 * name for a fork. Here child and parent share their memory, so the host's thread would never again
 * receive a signal, nor be checked by ThreadSanitizer. A shared musl does not export this name.
 */
extern int clone_of_glibc(int (*f)(void *), void *stack, int flags, void *argument, ...) __asm__(
	"__clone") __attribute__((weak));

static SPAWN_RAW int clone_on_stack(int (*f)(void *), void *stack, int flags, void *argument)
{
	return clone_of_glibc ? clone_of_glibc(f, stack, flags, argument)
			      : clone(f, stack, flags, argument);
}

/* Private memory: the caller sees a child's write only if the child shares the memory. */
static volatile int probe;

struct spawn_job {
	struct spawn *spawn;
	char *stack; /* top of the grandchild's stack */
	bool descriptors_are_made;
};

struct spawn *spawn_new(void)
{
	void *p = mmap(NULL, sizeof(struct spawn), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

struct spawn *spawn_free(struct spawn *s)
{
	if (s)
		munmap(s, sizeof *s);
	return NULL;
}

static SPAWN_RAW int run_probe(void *unused)
{
	(void)unused;
	probe = 1;
	raw1(SYS_exit, 0);
	return 0;
}

static SPAWN_RAW int run_server(void *p)
{
	struct spawn_job *job = p;
	struct spawn *s = job->spawn;

	if (!job->descriptors_are_made) {
		child_mark_descriptors(3, false);
		/*
		 * The host's descriptor table is full. This copy of it needs none of its
		 * descriptors.
		 */
		if (child_make_descriptors(s) == -EMFILE) {
			child_mark_descriptors(0, true);
			s->error = 0;
			child_make_descriptors(s);
		}
	}
	if (s->error == 0)
		child_exec(s);
	raw1(SYS_exit, 127);
	return 0;
}

static SPAWN_RAW int run_intermediate(void *p)
{
	struct spawn_job *job = p;
	int pid = clone_on_stack(run_server, job->stack, CLONE_VM | CLONE_VFORK, job);

	if (pid < 0) {
		job->spawn->stage = SPAWN_CLONE;
		job->spawn->error = -errno;
	} else {
		job->spawn->pid = pid;
	}
	raw1(SYS_exit, 0);
	return 0;
}

struct clone_entry {
	int (*f)(void *);
	void *argument;
};

static SPAWN_RAW int run_entry(void *p)
{
	struct clone_entry *entry = p;

	raw_block_all_signals();
	return entry->f(entry->argument);
}

/*
 * Runs |f| in a clone and reaps it. ECHILD means that a __WALL loop of the host reaped it, which
 * does no harm.
 */
static int run_clone(int (*f)(void *), char *stack_top, void *argument)
{
	struct clone_entry entry = {f, argument};
	int pid = clone_on_stack(run_entry, stack_top, CLONE_VM | CLONE_VFORK, &entry);

	if (pid < 0)
		return -errno;
	while (wait4(pid, NULL, __WCLONE, NULL) < 0 && errno == EINTR)
		;
	return 0;
}

struct clone_task {
	void (*f)(void *, bool);
	void *argument;
};

static SPAWN_RAW int run_task(void *p)
{
	struct clone_task *task = p;

	task->f(task->argument, true);
	raw1(SYS_exit, 0);
	return 0;
}

static char *map_stacks(void)
{
	size_t one = GUARD_BYTES + STACK_BYTES;
	char *p = mmap(NULL, 2 * one, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	if (mprotect(p + GUARD_BYTES, STACK_BYTES, PROT_READ | PROT_WRITE) ||
		mprotect(p + one + GUARD_BYTES, STACK_BYTES, PROT_READ | PROT_WRITE)) {
		munmap(p, 2 * one);
		return NULL;
	}
	return p;
}

static void run_in_shared_memory(struct spawn *s, char *stacks)
{
	size_t one = GUARD_BYTES + STACK_BYTES;
	struct spawn_job job = {s, stacks + 2 * one, false};
	int r;

	probe = 0;
	r = run_clone(run_probe, stacks + one, NULL);
	if (r == 0 && !probe) {
		job.descriptors_are_made = true;
		child_make_descriptors(s);
	}
	if (r == 0 && s->error == 0)
		r = run_clone(run_intermediate, stacks + one, &job);
	if (r < 0) {
		s->stage = SPAWN_CLONE;
		s->error = r;
	}
	if (job.descriptors_are_made) {
		if (s->listener >= 0)
			close(s->listener);
		close(s->memfd);
	}
}

int spawn_run(struct spawn *s)
{
	uint64_t before;
	int saved = errno;
	char *stacks = map_stacks();

	s->error = 0;
	s->listener = s->memfd = -1;
	if (!stacks) {
		s->stage = SPAWN_CLONE;
		return s->error = -ENOMEM;
	}
	raw_block_signals(&before);
	run_in_shared_memory(s, stacks);
	raw_restore_signals(&before);
	munmap(stacks, 2 * (GUARD_BYTES + STACK_BYTES));
	if (s->error && s->arena) {
		munmap(s->arena, s->arena_bytes);
		s->arena = NULL;
	}
	errno = saved;
	return s->error;
}

int spawn_run_apart(void (*f)(void *, bool), void *argument)
{
	uint64_t before;
	size_t one = GUARD_BYTES + STACK_BYTES;
	struct clone_task task = {f, argument};
	int saved = errno;
	char *stacks = map_stacks();
	int r;

	if (!stacks)
		return -ENOMEM;
	raw_block_signals(&before);
	probe = 0;
	r = run_clone(run_probe, stacks + one, NULL);
	if (r == 0 && probe)
		r = run_clone(run_task, stacks + one, &task);
	else if (r == 0)
		f(argument, false);
	raw_restore_signals(&before);
	munmap(stacks, 2 * one);
	errno = saved;
	return r;
}

/* --- failures ------------------------------------------------------------------------------ */

static int explain_clone(const struct spawn *s, struct diag *d)
{
	if (s->error == -EPERM || s->error == -ENOSYS)
		return diag_set(d, s->error,
			"proftapd: cannot start a process: %s; is that forbidden here "
			"(seccomp)? Start the server before the sandbox",
			errno_words(s->error));
	return diag_set(d, s->error,
		"proftapd: cannot start a process: %s; raise the limit on processes",
		errno_words(s->error));
}

static int explain_path(const struct spawn *s, const char *address, struct diag *d)
{
	if (s->error == -EADDRINUSE)
		return diag_set(d, s->error,
			"%s: in use: a server listens there; choose another path", address);
	if (s->error == -EEXIST)
		return diag_set(d, -EADDRINUSE,
			"%s: in use: there is something else, or another user's socket; remove it or "
			"choose another path",
			address);
	return diag_set(d, s->error, "%s: cannot listen there: %s", address, errno_words(s->error));
}

static int explain_bind(const struct spawn *s, const struct ptap_server_options *o, struct diag *d)
{
	const char *address = o->address ? o->address : "127.0.0.1";

	if (s->address.ss_family == AF_UNIX)
		return explain_path(s, address, d);
	if (s->error == -EADDRINUSE)
		return diag_set(d, s->error,
			"port %u: in use on %s; choose another, or 0 for any free one", o->port,
			address);
	return diag_set(d, s->error, "%s:%u: cannot listen there: %s", address, o->port,
		errno_words(s->error));
}

static int explain_arena(const struct spawn *s, struct diag *d)
{
	if (s->error == -EFBIG)
		return diag_set(d, s->error,
			"proftap: RLIMIT_FSIZE (ulimit -f) is too low for %llu KiB of shared "
			"memory; raise it",
			(unsigned long long)(s->arena_bytes >> 10));
	return diag_set(d, s->error, "proftap: cannot map %llu MiB of shared memory: %s",
		(unsigned long long)(s->arena_bytes >> 20), errno_words(s->error));
}

static int explain_exec(const struct spawn *s, const char *path, struct diag *d)
{
	if (s->error == -EPERM || s->error == -EACCES)
		return diag_set(d, s->error,
			"%s: cannot be executed: %s; is that forbidden here (seccomp, "
			"AppArmor)? Start the server before the sandbox",
			path, errno_words(s->error));
	return diag_set(d, s->error, "%s: cannot be executed: %s", path, errno_words(s->error));
}

int spawn_explain(const struct spawn *s, const char *path, const struct ptap_server_options *o,
	struct diag *d)
{
	switch (s->stage) {
	case SPAWN_CLONE:
		return explain_clone(s, d);
	case SPAWN_SOCKET:
		return diag_set(d, s->error, "proftap server: cannot make a socket: %s",
			errno_words(s->error));
	case SPAWN_BIND:
		return explain_bind(s, o, d);
	case SPAWN_ARENA:
		return explain_arena(s, d);
	case SPAWN_EXEC:
		return explain_exec(s, path, d);
	}
	return s->error;
}
