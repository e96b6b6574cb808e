/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of a process under /proc say, as numbers; text in, numbers out. A thread's name is part of
 * "stat" and may hold anything, spaces, parentheses and line ends included.
 */
#ifndef DAEMON_PROC_FILE_H
#define DAEMON_PROC_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* /proc/PID/stat, or that of a task */
struct proc_stat {
	char state; /* 'R', 'S', 'Z', … */
	uint64_t parent; /* its pid */
	uint64_t minor_faults;
	uint64_t major_faults;
	uint64_t cpu_ticks; /* user and system, in sysconf(_SC_CLK_TCK) */
	/* The same of children that it has waited for, and of theirs. */
	uint64_t reaped_minor_faults;
	uint64_t reaped_major_faults;
	uint64_t reaped_cpu_ticks;
	uint64_t n_threads;
	uint64_t start_ticks; /* since boot, in the same */
	uint64_t rss_pages; /* lags behind by some for each processor; proc_rss_read() does not */
};

/* /proc/PID/io */
struct proc_io {
	uint64_t read_bytes; /* by system calls, from whatever */
	uint64_t written_bytes;
	uint64_t disk_read_bytes; /* from storage */
	uint64_t disk_written_bytes;
};

/* /proc/PID/task/TID/schedstat: of one task */
struct proc_schedstat {
	uint64_t run_ns;
	uint64_t wait_ns; /* ready to run, but not running */
	uint64_t n_switches; /* how often it was given a processor */
};

/* Each: 0, or -EINVAL for a text that is not such a file; then *out is as it was. */
int proc_stat_parse(const char *text, struct proc_stat *out);
int proc_io_parse(const char *text, struct proc_io *out);
int proc_schedstat_parse(const char *text, struct proc_schedstat *out);

/* "status" of a task: its id in its own pid namespace; 0: the text does not tell. */
pid_t proc_status_find_inner_id(const char *text);

/* Whether a signal or a debugger has stopped the process. 0 also of one that is gone. */
int proc_is_stopped(pid_t pid);

/* "stat" of a process: whether it ends, or SIGKILL waits for it. 0 also for what is no "stat". */
int proc_stat_is_ending(const char *text);

/*
 * Reads |path|, relative to the directory |dir_fd|, as text of at most |size| - 1 bytes. 0 or a negative errno
 * (-ENOENT, -ESRCH: the process or thread is gone).
 */
int proc_file_read(int dir_fd, const char *path, char *text, size_t size);
/* The same of an open file, from its beginning. */
int proc_file_reread(int fd, char *text, size_t size);

/*
 * How many pages of the process are resident, out of its open file "statm": since Linux 6.2 "stat" does not add up what each
 * processor has counted. |stat| has what is told where the file cannot be read, and of a zombie.
 */
uint64_t proc_rss_read(int statm_fd, const struct proc_stat *stat);

#endif
