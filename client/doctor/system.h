/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine as a check sees it: files below a root, which tests replace, and what has to be tried, through functions
 * that they replace, too.
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
struct patient;

struct system {
	const char *root; /* "", or a folder that stands for "/" */
	uid_t uid; /* the effective one */
	/* attempt(), printed_get(), library_ask(), port_ask(), or a test's. */
	int (*attempt)(enum attempt what, pid_t pid);
	int (*print)(const char *const *argv, char *out, size_t n);
	int (*ask_library)(const struct library_question *question, char *out, size_t n);
	int (*ask_port)(unsigned port, char *said, size_t n);
	const struct patient *patient; /* NULL: it is about the machine */
};

/* This one. */
void system_init(struct system *sys);

/* The text of the file |path|, without its last line break, cut at |n| - 1 bytes. 0 or a negative errno. */
int system_read(const struct system *sys, const char *path, char *out, size_t n);
/* The decimal number, maybe below 0, that the file begins with. 0, -EINVAL, or why it cannot be read. */
int system_read_number(const struct system *sys, const char *path, int64_t *out);
/* What follows "NAME:" and blanks in a file of such lines, such as /proc/self/status. 0, -ENODATA, or as above. */
int system_read_field(
	const struct system *sys, const char *path, const char *name, char *out, size_t n);
bool system_has_file(const struct system *sys, const char *path);

/* Whether this process has the capability of that number (<linux/capability.h>). */
bool system_has_capability(const struct system *sys, int capability);

/* A command that only root may give. */
void system_set_command(const struct system *sys, struct finding *f, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* sysctl -w "kernel.NAME=VALUE"; where /proc/sys is not to be written, that it is to be given outside. */
void system_set_sysctl(
	const struct system *sys, struct finding *f, const char *name, const char *value);

#endif
