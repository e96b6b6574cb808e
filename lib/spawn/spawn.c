/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two clones with shared memory and no exit signal: the intermediate is reaped here with __WCLONE, so the
 * host sees no SIGCHLD and nothing in its own wait(); the server becomes a child of init. Signals are
 * blocked meanwhile. The caller is suspended until exec (CLONE_VFORK), and the
 * children run on stacks of their own.
 *
 * Where clone becomes fork (valgrind, qemu-user) a mapping made in the child would not appear here. A
 * first clone that only sets a flag finds that out; then the descriptors are made here and passed.
 */
#include "lib/spawn/spawn.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/spawn/child.h"
#include "lib/spawn/rawsys.h"

#define STACK_BYTES (64u << 10)
#define GUARD_BYTES (16u << 10)

/*
 * clone() by the name that nobody interposes. ThreadSanitizer takes a call of the other for a fork, child and parent
 * being one here: the host's thread would never again see a signal, nor be looked at.
 */
extern int clone_of_libc(int (*f)(void *), void *stack, int flags, void *argument, ...) __asm__(
	"__clone");

/* Private memory: written by a child, seen here only if the child shares it. */
static volatile int probe;

struct job {
	struct spawn *spawn;
	char *stack; /* top of the grandchild's */
	int descriptors_are_made;
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
	struct job *job = p;
	struct spawn *s = job->spawn;

	if (!job->descriptors_are_made) {
		child_mark_descriptors(3, 0);
		/* The host's table is full: in this copy of it, nothing is needed. */
		if (child_make_descriptors(s) == -EMFILE) {
			child_mark_descriptors(0, 1);
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
	struct job *job = p;
	int pid = clone_of_libc(run_server, job->stack, CLONE_VM | CLONE_VFORK, job);

	if (pid < 0) {
		job->spawn->stage = SPAWN_CLONE;
		job->spawn->error = -errno;
	} else {
		job->spawn->pid = pid;
	}
	raw1(SYS_exit, 0);
	return 0;
}

struct entry {
	int (*f)(void *);
	void *argument;
};

static SPAWN_RAW int run_entry(void *p)
{
	struct entry *entry = p;

	raw_block_all_signals();
	return entry->f(entry->argument);
}

/* Runs |f| in a clone and reaps it. ECHILD: a __WALL loop of the host took it, which is fine. */
static int run_clone(int (*f)(void *), char *stack_top, void *argument)
{
	struct entry entry = {f, argument};
	int pid = clone_of_libc(run_entry, stack_top, CLONE_VM | CLONE_VFORK, &entry);

	if (pid < 0)
		return -errno;
	while (wait4(pid, NULL, __WCLONE, NULL) < 0 && errno == EINTR)
		;
	return 0;
}

struct task {
	void (*f)(void *, int);
	void *argument;
};

static SPAWN_RAW int run_task(void *p)
{
	struct task *task = p;

	task->f(task->argument, 1);
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
	struct job job = {s, stacks + 2 * one, 0};
	int r;

	probe = 0;
	r = run_clone(run_probe, stacks + one, NULL);
	if (r == 0 && !probe) {
		job.descriptors_are_made = 1;
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

int spawn_run_apart(void (*f)(void *, int), void *argument)
{
	uint64_t before;
	size_t one = GUARD_BYTES + STACK_BYTES;
	struct task task = {f, argument};
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
		f(argument, 0);
	raw_restore_signals(&before);
	munmap(stacks, 2 * one);
	errno = saved;
	return r;
}
