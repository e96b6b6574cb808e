/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what threads wait for; see wait_reason.h and proc(5). */
#include "daemon/pipeline/samples/wait_reason.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/kernel/proc_file.h"

static const char *const syscall_names[] = {
#include "daemon/pipeline/samples/syscall_names.h"
};

/* Reads a file of the thread. 0 or a negative errno. */
static int read_file(
	const char *root, pid_t pid, pid_t tid, const char *name, char *text, size_t size)
{
	char path[PATH_MAX];

	snprintf(path, sizeof path, "%s/proc/%d/task/%d/%s", root, (int)pid, (int)tid, name);
	return proc_file_read(AT_FDCWD, path, text, size);
}

/* The kernel tells the number of a system call, which differs between kinds of programs. */
static bool program_is_native(const char *root, pid_t pid)
{
	char path[PATH_MAX];
	unsigned char ident[EI_NIDENT];
	bool is_native;
	int fd;

	snprintf(path, sizeof path, "%s/proc/%d/exe", root, (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	is_native = read(fd, ident, sizeof ident) == (ssize_t)sizeof ident &&
		    ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32);
	close(fd);
	return is_native;
}

/* Sets the name of the system call from the text of "syscall". false: it has none. */
static bool set_syscall(const char *text, struct wait_reason *out)
{
	char *end;
	long number = strtol(text, &end, 10);

	if (end == text || number < 0 ||
		number >= (long)(sizeof syscall_names / sizeof *syscall_names) ||
		!syscall_names[number])
		return false;
	snprintf(out->text, sizeof out->text, "%s", syscall_names[number]);
	return true;
}

static void set_reason(const char *root, pid_t pid, pid_t tid, struct wait_reason *out)
{
	char text[256];

	if (!read_file(root, pid, tid, "syscall", text, sizeof text)) {
		/* The thread has woken since its state was read. */
		if (strncmp(text, "running", 7) == 0) {
			out->is_ready = true;
			return;
		}
		if (program_is_native(root, pid) && set_syscall(text, out))
			return;
	}
	/* "0": the kernel does not tell. */
	if (!read_file(root, pid, tid, "wchan", text, sizeof text) && strcmp(text, "0") != 0)
		snprintf(out->text, sizeof out->text, "%.*s", (int)strcspn(text, "\n"), text);
}

int wait_reason_read(const char *root, pid_t pid, pid_t tid, struct wait_reason *out)
{
	char text[1024];
	struct proc_stat stat;
	int r = read_file(root, pid, tid, "stat", text, sizeof text);

	if (!r)
		r = proc_stat_parse(text, &stat);
	if (r)
		return r;
	*out = (struct wait_reason){.is_ready = stat.state == 'R'};
	if (stat.state == 'T' || stat.state == 't')
		strcpy(out->text, "stopped");
	else if (!out->is_ready)
		set_reason(root, pid, tid, out);
	return 0;
}
