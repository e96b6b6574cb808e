/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports and traces in other formats that proftap made of runs (tool.h), for who asks for the same again: files without names, on a disk
 * where there is one. Each is of one state of its run's files: their names, inodes, sizes and times. The least used goes where there
 * are too many, or where they are too large; what nobody asks for goes after a while.
 *
 * Threads: any.
 */
#ifndef DAEMON_CONVERSIONS_H
#define DAEMON_CONVERSIONS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define CONVERSIONS_KEPT 16u
#define CONVERSIONS_BYTES (UINT64_C(512) << 20)
#define CONVERSIONS_MS (10 * 60 * 1000)

struct conversion {
	char *key; /* malloc'ed */
	int fd;
	uint64_t n_bytes;
	int64_t used_ms; /* CLOCK_MONOTONIC; the last time */
	uint64_t n_used; /* likewise, in uses of all */
};

struct conversion_counts {
	uint64_t n_found; /* answers that were there */
	uint64_t n_made; /* and that had to be made */
	uint64_t n_bytes; /* of those that are kept */
};

struct conversions {
	pthread_mutex_t mutex;
	struct conversion v[CONVERSIONS_KEPT];
	size_t n;
	uint64_t n_used;
	struct conversion_counts counts;
};

void conversions_init(struct conversions *c);
void conversions_deinit(struct conversions *c);

/*
 * What |argv|, which ends with NULL, makes of the run |name| in |dir_fd|, in this state of its files. malloc'ed. NULL: it is not to be kept, as
 * a file has just been written and may change without its time; or there are too many; or memory ran out.
 */
char *conversions_make_key(int dir_fd, const char *name, const char *const *argv);

/* The caller's descriptor of what was made, and its size; -1: nothing was. */
int conversions_find(struct conversions *c, const char *key, uint64_t *n_bytes);
/* It has been made, as the whole file |fd|, which stays the caller's. Takes |key|; with NULL it is counted only. */
void conversions_keep(struct conversions *c, char *key, int fd, uint64_t n_bytes);

void conversions_count(struct conversions *c, struct conversion_counts *out);

/* The run is deleted. */
void conversions_forget(struct conversions *c, const char *name);
/* From time to time; |now_ms|: CLOCK_MONOTONIC. */
void conversions_age(struct conversions *c, int64_t now_ms);

#endif
