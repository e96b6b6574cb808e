/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a target's process, below /proc/PID; system->patient is who it is. */
#ifndef CLIENT_PATIENT_FILES_H
#define CLIENT_PATIENT_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct finding;
struct system;

/* False: it is elsewhere, or not known; then |f| says so. */
bool patient_is_there(const struct system *sys, struct finding *f);

/* "/proc/PID/FILE", below the system's root, in |path|, which is returned. */
const char *patient_path(const struct system *sys, const char *file, char path[static PATH_MAX]);
/* The root of the file system that it sees, in |root|, which is returned. */
const char *patient_root(const struct system *sys, char root[static PATH_MAX]);
/* Of /proc/PID/status; as system_read_field(). */
int patient_read_status(const struct system *sys, const char *name, char *out, size_t n);
/* The value of a variable of its environment, as it was when the program was started. 0, -ENODATA: it is not set, or why it cannot be read. */
int patient_read_environment(const struct system *sys, const char *name, char *out, size_t n);
/* Whether its namespace of |kind| ("mnt") is another one than this process's, as far as that may be known. */
bool patient_has_other_namespace(const struct system *sys, const char *kind);

#endif
