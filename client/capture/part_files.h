/* SPDX-License-Identifier: Apache-2.0 */
/* The files that a part of a capture publishes: one, or several where XProf could not read one. */
#ifndef CLIENT_PART_FILES_H
#define CLIENT_PART_FILES_H

#include <stddef.h>
#include <stdint.h>

struct part;

/* What XProf can read: a protobuf message. */
#define PART_FILES_MAX_BYTES INT32_MAX
/* Of --split. */
#define PART_FILES_MIN_BYTES 4096
/* Of each file, where only XProf's limit makes them several: it takes some seven times as much memory as a file has. */
#define PART_FILES_EASY_BYTES 700000000

/*
 * Gives the temporary file its name, |name|, or the next one that is free (NAME_2 and so on; p->name_remark says so); or, where it is
 * larger than the capture wants files to be, writes NAME-p1, NAME-p2 and so on instead, all or none of them. When that
 * cannot be done, one file it is, and p->remark says why. 0, or a negative errno with p->d.
 */
int part_files_publish(struct part *p, const char *name);

/* The paths of what was published. */
size_t part_files_count(const struct part *p);
const char *part_files_get(const struct part *p, size_t i);

#endif
