/* SPDX-License-Identifier: Apache-2.0 */
/* The cache of conversions of runs; see conversions.h. */
#include "daemon/host/web/conversions.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "daemon/host/web/run_files.h"
#include "daemon/kernel/spool_place.h"

/* Conversions of runs with more files are not kept, because each request examines all files. */
#define MAX_FILES 256
/* Files this young may change again within one tick of the file system's clock. */
#define REST_NS NS_PER_S

void conversions_init(struct conversions *c)
{
	memset(c, 0, sizeof *c);
	pthread_mutex_init(&c->mutex, NULL);
}

/* The caller of each function up to the next heading has the mutex. */

static void conversions_drop(struct conversions *c, size_t i)
{
	c->counts.n_bytes -= c->v[i].n_bytes;
	free(c->v[i].key);
	close(c->v[i].fd);
	c->v[i] = c->v[--c->n];
}

static void conversions_drop_oldest(struct conversions *c)
{
	size_t oldest = 0;

	for (size_t i = 1; i < c->n; i++)
		if (c->v[i].n_used < c->v[oldest].n_used)
			oldest = i;
	conversions_drop(c, oldest);
}

static struct conversion *find_conversion(struct conversions *c, const char *key)
{
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->v[i].key, key) == 0)
			return &c->v[i];
	return NULL;
}

static void conversions_note_use(struct conversions *c, struct conversion *conversion)
{
	conversion->used_ms = monotonic_ns() / NS_PER_MS;
	conversion->n_used = ++c->n_used;
}

/* Returns true if the cache has taken |key|. */
static bool conversions_add(struct conversions *c, char *key, int fd, uint64_t n_bytes)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (own < 0)
		return false;
	while (c->n == CONVERSIONS_KEPT || c->counts.n_bytes + n_bytes > CONVERSIONS_BYTES)
		conversions_drop_oldest(c);
	c->v[c->n] = (struct conversion){.key = key, .fd = own, .n_bytes = n_bytes};
	conversions_note_use(c, &c->v[c->n++]);
	c->counts.n_bytes += n_bytes;
	return true;
}

/* --- keys ------------------------------------------------------------------------------------- */

/* 0; -1: the conversion must not be kept. */
static int key_add_file(FILE *key, int dir_fd, const char *name, int64_t now_ns)
{
	struct stat st;

	if (!run_files_stat(dir_fd, name, &st))
		return 0;
	if (run_files_get_time_ns(&st) > now_ns - REST_NS)
		return -1;
	fprintf(key, "/%s %ju %ju %jd %" PRId64, name, (uintmax_t)st.st_dev, (uintmax_t)st.st_ino,
		(intmax_t)st.st_size, run_files_get_time_ns(&st));
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Returns how many of the directory's |names| were read, or -1 if there are too many. */
static int key_read_names(int dir_fd, char *names[static MAX_FILES])
{
	_cleanup_closedir_ DIR *dir = run_files_walk(dir_fd);
	const struct dirent *entry;
	int n = 0;

	while (dir && (entry = readdir(dir))) {
		if (n == MAX_FILES || !(names[n] = strdup(entry->d_name))) {
			while (n > 0)
				free(names[--n]);
			return -1;
		}
		n++;
	}
	return dir ? n : -1;
}

/* The names are sorted, because renaming a file there and back may change the directory's order. */
static int key_add_files(FILE *key, int dir_fd)
{
	const int64_t now_ns = realtime_ns();
	char *names[MAX_FILES];
	int n = key_read_names(dir_fd, names);
	int r = n < 0 ? -1 : 0;

	if (n > 0)
		qsort(names, (size_t)n, sizeof *names, compare_names);
	for (int i = 0; i < n; i++) {
		if (!r)
			r = key_add_file(key, dir_fd, names[i], now_ns);
		free(names[i]);
	}
	return r;
}

char *conversions_make_key(int dir_fd, const char *name, const char *const *argv)
{
	char *text = NULL;
	size_t n;
	FILE *key = open_memstream(&text, &n);
	int r;

	if (!key)
		return NULL;
	/* The '/' ends the name, since no run has one in it. */
	fprintf(key, "%s/", name);
	for (; *argv; argv++)
		fprintf(key, "%s ", *argv);
	r = key_add_files(key, dir_fd);
	if (fclose(key) == 0 && !r)
		return text;
	free(text);
	return NULL;
}

/* --- finding and keeping ---------------------------------------------------------------------- */

int conversions_find(struct conversions *c, const char *key, uint64_t *n_bytes)
{
	struct conversion *found;
	int fd = -1;

	pthread_mutex_lock(&c->mutex);
	found = find_conversion(c, key);
	if (found)
		fd = fcntl(found->fd, F_DUPFD_CLOEXEC, 0);
	if (fd >= 0) {
		conversions_note_use(c, found);
		*n_bytes = found->n_bytes;
		c->counts.n_found++;
	}
	pthread_mutex_unlock(&c->mutex);
	return fd;
}

void conversions_keep(struct conversions *c, char *key, int fd, uint64_t n_bytes)
{
	bool is_kept = false;

	pthread_mutex_lock(&c->mutex);
	c->counts.n_made++;
	/* Another request may have made the same conversion at the same time. */
	if (key && n_bytes <= CONVERSIONS_BYTES && n_bytes <= spool_place_find_room(fd) &&
		!find_conversion(c, key))
		is_kept = conversions_add(c, key, fd, n_bytes);
	pthread_mutex_unlock(&c->mutex);
	if (!is_kept)
		free(key);
}

void conversions_count(struct conversions *c, struct conversion_counts *out)
{
	pthread_mutex_lock(&c->mutex);
	*out = c->counts;
	pthread_mutex_unlock(&c->mutex);
}

/* --- forgetting ------------------------------------------------------------------------------- */

static bool conversion_is_of(const struct conversion *conversion, const char *name)
{
	size_t n = strlen(name);

	return strncmp(conversion->key, name, n) == 0 && conversion->key[n] == '/';
}

void conversions_forget(struct conversions *c, const char *name)
{
	pthread_mutex_lock(&c->mutex);
	for (size_t i = c->n; i-- > 0;)
		if (conversion_is_of(&c->v[i], name))
			conversions_drop(c, i);
	pthread_mutex_unlock(&c->mutex);
}

void conversions_age(struct conversions *c, int64_t now_ms)
{
	pthread_mutex_lock(&c->mutex);
	for (size_t i = c->n; i-- > 0;)
		if (now_ms - c->v[i].used_ms > CONVERSIONS_MS)
			conversions_drop(c, i);
	pthread_mutex_unlock(&c->mutex);
}

void conversions_deinit(struct conversions *c)
{
	while (c->n)
		conversions_drop(c, 0);
	pthread_mutex_destroy(&c->mutex);
}
