/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A conversion is a report, or a trace in another format, that proftap made of a run (tool.h). This
 * cache keeps conversions for later requests, as files without names, on a disk if there is one.
 * The key of a conversion contains the names, inodes, sizes and times of the run's files. The least
 * recently used conversion is dropped when there are too many or they are too large. A conversion
 * that nobody has requested for CONVERSIONS_MS is dropped, too.
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
	int64_t used_ms; /* CLOCK_MONOTONIC, at the last use */
	uint64_t n_used; /* number of the last use, among the uses of all conversions */
};

struct conversion_counts {
	uint64_t n_found; /* answers from the cache */
	uint64_t n_made; /* answers that had to be made */
	uint64_t n_bytes; /* size of the kept conversions */
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
 * Returns the key, malloc'ed, of the conversion by |argv|, which ends with NULL, of the run |name|
 * in |dir_fd|. NULL: the conversion must not be kept, because a file was written just now and may
 * change without a new time, because the run has too many files, or because memory ran out.
 */
char *conversions_make_key(int dir_fd, const char *name, const char *const *argv);

/* Returns a descriptor of the kept conversion, which the caller owns, and its size; -1: none. */
int conversions_find(struct conversions *c, const char *key, uint64_t *n_bytes);
/*
 * Keeps a new conversion, the whole file |fd|, which stays the caller's. Takes |key|. With a |key|
 * of NULL it only counts the conversion.
 */
void conversions_keep(struct conversions *c, char *key, int fd, uint64_t n_bytes);

void conversions_count(struct conversions *c, struct conversion_counts *out);

/* Drops the conversions of a deleted run. */
void conversions_forget(struct conversions *c, const char *name);
/* Drops unused conversions. Call it from time to time. |now_ms|: CLOCK_MONOTONIC. */
void conversions_age(struct conversions *c, int64_t now_ms);

#endif
