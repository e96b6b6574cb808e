/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses the files of a process under /proc. A thread's name is part of "stat" and may hold
 * anything, even spaces, parentheses and line ends.
 */
#ifndef DAEMON_PROC_FILE_H
#define DAEMON_PROC_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* /proc/PID/stat, or that of a task */
struct proc_stat {
	char state; /* 'R', 'S', 'Z', … */
	uint64_t parent; /* pid of the parent */
	uint64_t minor_faults;
	uint64_t major_faults;
	uint64_t cpu_ticks; /* user and system time, in sysconf(_SC_CLK_TCK) */
	/* Totals of the children that the process waited for, and of those that they waited for. */
	uint64_t reaped_minor_faults;
	uint64_t reaped_major_faults;
	uint64_t reaped_cpu_ticks;
	uint64_t n_threads;
	uint64_t start_ticks; /* since boot, in sysconf(_SC_CLK_TCK) */
	/* off by up to some pages for each processor; proc_rss_read() is exact */
	uint64_t rss_pages;
};

/* /proc/PID/io */
struct proc_io {
	uint64_t read_bytes; /* by system calls, from files of any kind */
	uint64_t written_bytes;
	uint64_t disk_read_bytes; /* from storage */
	uint64_t disk_written_bytes;
};

/* /proc/PID/task/TID/schedstat */
struct proc_schedstat {
	uint64_t run_ns;
	uint64_t wait_ns; /* time ready to run, but not running */
	uint64_t n_switches; /* how often it was given a processor */
};

/* Each returns 0, or -EINVAL for a text that is not such a file; then *out is unchanged. */
int proc_stat_parse(const char *text, struct proc_stat *out);
int proc_io_parse(const char *text, struct proc_io *out);
int proc_schedstat_parse(const char *text, struct proc_schedstat *out);

/*
 * Returns the id of a task in its own pid namespace from its "status"; 0: the text does not contain
 * it.
 */
pid_t proc_status_find_inner_id(const char *text);

/* Returns true if a signal or a debugger has stopped the process. false if it is gone. */
bool proc_is_stopped(pid_t pid);

/*
 * Returns true if a process is ending, or SIGKILL is pending, according to the text of its "stat".
 * false if the text is no "stat".
 */
bool proc_stat_is_ending(const char *text);

/*
 * Reads |path|, relative to the directory |dir_fd|, as text of at most |size| - 1 bytes. 0 or a
 * negative errno (-ENOENT, -ESRCH: the process or thread is gone).
 */
int proc_file_read(int dir_fd, const char *path, char *text, size_t size);
/* The same for an open file, from its beginning. */
int proc_file_reread(int fd, char *text, size_t size);

/*
 * Returns the resident pages of the process from its open file "statm": since Linux 6.2, "stat"
 * leaves out the pages counted per processor. Returns the value of |stat| if the file cannot be
 * read, and for a zombie.
 */
uint64_t proc_rss_read(int statm_fd, const struct proc_stat *stat);

/*
 * The proportional share of a process in its memory: shared pages are divided among their
 * processes.
 */

/*
 * Sets *bytes. The kernel walks all page tables of |pid| for it: that takes milliseconds for each
 * GiB, and the program's mmap() waits meanwhile. So call it on request, not each second. 0, or a
 * negative errno: -EACCES for a process of another user, -ESRCH or -ENOENT when it is gone or the
 * kernel has no smaps_rollup, -EINVAL when that has no such number. Any thread may call it.
 */
int pss_read(const char *root, pid_t pid, uint64_t *bytes);

#endif
