/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs foreign libraries and programs, which may hang or crash, in a child process with a time
 * limit.
 */
#ifndef CLIENT_CHILD_WORK_H
#define CLIENT_CHILD_WORK_H

#include <stddef.h>

/* The time limit for foreign libraries and programs. */
#define CHILD_WORK_MS 5000

/*
 * Runs |work| in a child. |out| gets the child's standard output and error, cut to |n| bytes,
 * without the last line break. Returns its exit status (0 to 255), -ETIMEDOUT if it was killed
 * because the time was over, -ECHILD if a signal ended it, or the negative errno of starting it.
 * The child is a copy of this process, which must not have started threads yet.
 */
int child_work_run(
	int (*work)(const void *what), const void *what, int timeout_ms, char *out, size_t n);

/*
 * Runs the program argv[0], which is looked for in PATH; |argv| ends with NULL. |out| and the
 * result are those of child_work_run(), and -ENOENT if the program was not found.
 */
int child_work_run_program(const char *const *argv, char *out, size_t n);

#endif
