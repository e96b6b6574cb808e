/* SPDX-License-Identifier: Apache-2.0 */
/* The files that a part of a capture publishes, their names, and their other formats. */
#ifndef CLIENT_PART_FILES_H
#define CLIENT_PART_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address;
struct diag;
struct part;
struct run_dir;

/* The largest protobuf message, and so the largest file that XProf can read. */
#define PART_FILES_MAX_BYTES INT32_MAX
/* The least value of --split. */
#define PART_FILES_MIN_BYTES 4096
/*
 * The size of each file if only XProf's limit is the reason for splitting: XProf needs some seven
 * times as much memory as a file has bytes.
 */
#define PART_FILES_EASY_BYTES 700000000

/*
 * Renames the temporary file to |name|. If that is taken, chooses the next free name of NAME_2 and
 * so on, and p->name_remark says so. A file that is larger than the capture's limit is split into
 * NAME-p1, NAME-p2 and so on, all or none of them. If splitting fails, the whole file is published,
 * and p->remark has the reason. 0, or a negative errno with p->d.
 */
int part_files_publish(struct part *p, const char *name);

/* The paths of the published files. */
size_t part_files_count(const struct part *p);
const char *part_files_get(const struct part *p, size_t i);

/*
 * The name of a capture's file, without .xplane.pb: the user's choice, or HOSTNAME_PORT, or
 * HOSTNAME_NAME_PID for a target behind a unix socket or a host daemon.
 */
struct file_name {
	const char *chosen; /* the user's choice or NULL */
	const struct address *address;
	const char *name; /* used if the trace has no program's name; NULL or "": not known */
	int pid; /* the pid that goes with |name| */
};

/*
 * Returns true if the program's name is part of the file's name: the target is behind a unix socket
 * or a host daemon.
 */
bool file_name_is_of_program(const struct address *address);

/*
 * Checks that no file with the name exists. Called before the recording; returns 0 if the name is
 * not known yet. 0 or -EEXIST with |d|.
 */
int file_name_check_free(const struct file_name *f, const struct run_dir *run_dir, struct diag *d);

#define PART_NAME_BYTES 300

/*
 * Formats the name of the part's file, with characters that file names may have. Reads the answer's
 * mapping, so call it before clock_stamp_write(), after which the mapping is invalid.
 */
void part_name_format(const struct part *p, char out[static PART_NAME_BYTES]);

/*
 * Writes |name| as NAME_N, where N is the first number from |suffix| on that makes a name which no
 * other part's file has, and returns N. For N = 1 it is |name| alone. Two hosts may have the same
 * hostname; then the second file gets a suffix.
 */
int part_name_add_suffix(
	const struct part *p, const char *name, int suffix, char out[static PART_NAME_BYTES]);

/* --- other formats ---------------------------------------------------------------------------- */

/*
 * Writes each of the capture's formats beside each of the part's files. p->converted gets the
 * paths; failures go to p->conversion_warnings only, because the traces exist. Interrupts beyond
 * the first p->n_interrupts end the conversion: an incomplete file is removed, and the rest is
 * skipped.
 */
void part_formats_write(struct part *p);

#endif
