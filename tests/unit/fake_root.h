/* SPDX-License-Identifier: Apache-2.0 */
/* A temporary folder that stands for "/", for code that reads /proc and /sys. */
#ifndef TESTS_UNIT_FAKE_ROOT_H
#define TESTS_UNIT_FAKE_ROOT_H

/* Its path, without a '/' at the end. */
extern char fake_root[64];

/* A checked fixture of a test case. */
void fake_root_make(void);
void fake_root_remove(void);

/* Creates or replaces the file |path|, for example "/proc/meminfo", and the folders above it. */
void fake_root_write(const char *path, const char *text);
/* The same for a symbolic link. */
void fake_root_link(const char *path, const char *target);
/* The same for an empty folder. */
void fake_root_add_folder(const char *path);

#endif
