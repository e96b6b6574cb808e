/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checks' access to the machine: files below a root, and functions that try system calls,
 * programs, libraries and ports. Tests replace the root and the functions.
 */
#ifndef CLIENT_SYSTEM_H
#define CLIENT_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "client/doctor/attempt.h"

struct finding;
struct library_question;
struct doctor_target;

struct system {
	const char *root; /* "", or a test's folder in place of "/" */
	uid_t uid; /* the effective user id */
	/*
	 * attempt(), child_work_run_program(), library_ask() and port_ask(), or a test's functions.
	 */
	int (*attempt)(enum attempt what, pid_t pid);
	int (*print)(const char *const *argv, char *out, size_t n);
	int (*ask_library)(const struct library_question *question, char *out, size_t n);
	int (*ask_port)(unsigned port, char *said, size_t n);
	const struct doctor_target *target; /* the target to check; NULL: the machine is checked */
};

/* Sets |sys| to this machine. */
void system_init(struct system *sys);

/*
 * Reads the text of the file |path|, without the last line break, cut to |n| - 1 bytes. 0 or a
 * negative errno.
 */
int system_read(const struct system *sys, const char *path, char *out, size_t n);
/*
 * Reads the decimal number, which may be negative, at the file's beginning. 0, -EINVAL, or another
 * negative errno.
 */
int system_read_number(const struct system *sys, const char *path, int64_t *out);
/*
 * Reads the value of a line "NAME: VALUE", as in /proc/self/status. 0, -ENODATA, or another
 * negative errno.
 */
int system_read_field(
	const struct system *sys, const char *path, const char *name, char *out, size_t n);
bool system_has_file(const struct system *sys, const char *path);

/* Returns true if this process has the capability with that number (<linux/capability.h>). */
bool system_has_capability(const struct system *sys, int capability);

/* Sets a command that only root may run. Other users get it with sudo in front. */
void system_set_command(const struct system *sys, struct finding *f, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Sets the command sysctl -w kernel.NAME=VALUE. If root cannot write /proc/sys here, the reason
 * says to run it outside.
 */
void system_set_sysctl(
	const struct system *sys, struct finding *f, const char *name, const char *value);

#endif
