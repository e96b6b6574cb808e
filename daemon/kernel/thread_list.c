/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of threads; see thread_list.h, proc_pid_stat(5), proc_pid_wchan(5) and proc_pid_syscall(5).
 */
#include "daemon/kernel/thread_list.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/grow.h"
#include "base/printable.h"
#include "daemon/kernel/proc_file.h"

#define TEXT_BYTES 4096
/* Further threads are not listed. */
#define MAX_THREADS 8192

#define ROW(name)                 \
	{                         \
		SYS_##name, #name \
	}

static const struct {
	int number;
	const char *name;
} syscalls[] = {
	ROW(accept),
	ROW(accept4),
	ROW(clock_nanosleep),
	ROW(close),
	ROW(connect),
	ROW(epoll_pwait),
#ifdef SYS_epoll_wait
	ROW(epoll_wait),
#endif
	ROW(fallocate),
	ROW(fcntl),
	ROW(fdatasync),
	ROW(flock),
	ROW(fsync),
	ROW(futex),
	ROW(io_getevents),
#ifdef SYS_io_uring_enter
	ROW(io_uring_enter),
#endif
	ROW(ioctl),
	ROW(madvise),
	ROW(mmap),
	ROW(msgrcv),
	ROW(munmap),
	ROW(nanosleep),
	ROW(openat),
#ifdef SYS_pause
	ROW(pause),
#endif
#ifdef SYS_poll
	ROW(poll),
#endif
	ROW(ppoll),
	ROW(pread64),
	ROW(pselect6),
	ROW(pwrite64),
	ROW(read),
	ROW(readv),
	ROW(recvfrom),
	ROW(recvmsg),
	ROW(restart_syscall),
	ROW(rt_sigsuspend),
	ROW(rt_sigtimedwait),
#ifdef SYS_select
	ROW(select),
#endif
	ROW(semop),
	ROW(semtimedop),
	ROW(sendmsg),
	ROW(sendto),
	ROW(wait4),
	ROW(waitid),
	ROW(write),
	ROW(writev),
};

const char *thread_list_name_syscall(int number)
{
	for (size_t i = 0; i < sizeof syscalls / sizeof *syscalls; i++)
		if (syscalls[i].number == number)
			return syscalls[i].name;
	return "";
}

/*
 * Reads the file |name| of the task |tid| in the directory |tasks|, as text; "" if it cannot be
 * read.
 */
static const char *task_read_text(int tasks, pid_t tid, const char *name, char text[TEXT_BYTES])
{
	char path[64];

	snprintf(path, sizeof path, "%d/%s", (int)tid, name);
	if (proc_file_read(tasks, path, text, TEXT_BYTES))
		text[0] = '\0';
	return text;
}

/* 0, or -1: the thread is gone. */
static int task_read_stat(int tasks, struct listed_thread *t)
{
	char text[TEXT_BYTES];
	const char *name = strchr(task_read_text(tasks, t->tid, "stat", text), '(');
	char *end = strrchr(text, ')');

	if (!name || !end || end <= name || end[1] != ' ' || !end[2])
		return -1;
	t->state = end[2];
	snprintf(t->name, sizeof t->name, "%.*s", (int)(end - name - 1), name + 1);
	printable_clean(t->name);
	return 0;
}

/* The kernel writes "0" if the thread does not sleep, or we have no permission to read it. */
static void task_read_wait(int tasks, struct listed_thread *t)
{
	char text[TEXT_BYTES];
	char *end;

	task_read_text(tasks, t->tid, "wchan", text);
	if (text[0] && strcmp(text, "0") != 0)
		snprintf(t->wait_channel, sizeof t->wait_channel, "%.63s", text);
	printable_clean(t->wait_channel);
	t->syscall = (int)strtol(task_read_text(tasks, t->tid, "syscall", text), &end, 10);
	if (end == text || t->syscall < 0)
		t->syscall = -1;
}

/* 0, or -1: the thread has just ended. */
static int task_read(int tasks, pid_t tid, bool has_inner, struct listed_thread *t)
{
	char text[TEXT_BYTES];

	*t = (struct listed_thread){.tid = tid, .inner_tid = tid, .syscall = -1};
	if (task_read_stat(tasks, t))
		return -1;
	task_read_wait(tasks, t);
	if (has_inner)
		t->inner_tid =
			proc_status_find_inner_id(task_read_text(tasks, tid, "status", text));
	return t->inner_tid ? 0 : -1;
}

static int tasks_read(DIR *dir, bool has_inner, struct listed_thread **out, size_t *n_out)
{
	struct listed_thread *v = NULL;
	size_t n_allocated = 0;
	size_t n = 0;
	struct dirent *entry;

	while (n < MAX_THREADS && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		if (grow(&v, &n_allocated, n + 1)) {
			free(v);
			return -ENOMEM;
		}
		n += !task_read(dirfd(dir), atoi(entry->d_name), has_inner, &v[n]);
	}
	*out = v;
	*n_out = n;
	return n ? 0 : -ENOENT;
}

int thread_list_read(
	const char *root, pid_t pid, bool has_inner, struct listed_thread **out, size_t *n_out)
{
	char path[512];
	DIR *dir;
	int r;

	*out = NULL;
	*n_out = 0;
	snprintf(path, sizeof path, "%s/proc/%d/task", root, (int)pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	r = tasks_read(dir, has_inner, out, n_out);
	closedir(dir);
	return r;
}
