/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the results of conversions of runs; see conversions.h. */
#include "daemon/host/web/conversions.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "daemon/host/web/run_files.h"
#include "daemon/kernel/spool_place.h"

/* Of a run; of more, that are looked at for each request, nothing is kept. */
#define MAX_FILES 256
/* Two changes in one tick of the file system's clock would look like one. */
#define REST_NS NS_PER_S

void conversions_init(struct conversions *c)
{
	memset(c, 0, sizeof *c);
	pthread_mutex_init(&c->mutex, NULL);
}

/* Under the mutex, as all below up to the next heading. */

static void drop(struct conversions *c, size_t i)
{
	c->counts.n_bytes -= c->v[i].n_bytes;
	free(c->v[i].key);
	close(c->v[i].fd);
	c->v[i] = c->v[--c->n];
}

static void drop_oldest(struct conversions *c)
{
	size_t oldest = 0;

	for (size_t i = 1; i < c->n; i++)
		if (c->v[i].n_used < c->v[oldest].n_used)
			oldest = i;
	drop(c, oldest);
}

static struct conversion *find(struct conversions *c, const char *key)
{
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->v[i].key, key) == 0)
			return &c->v[i];
	return NULL;
}

static void note_use(struct conversions *c, struct conversion *conversion)
{
	conversion->used_ms = monotonic_ns() / NS_PER_MS;
	conversion->n_used = ++c->n_used;
}

/* 1: |key| is the cache's now. */
static int add(struct conversions *c, char *key, int fd, uint64_t n_bytes)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (own < 0)
		return 0;
	while (c->n == CONVERSIONS_KEPT || c->counts.n_bytes + n_bytes > CONVERSIONS_BYTES)
		drop_oldest(c);
	c->v[c->n] = (struct conversion){.key = key, .fd = own, .n_bytes = n_bytes};
	note_use(c, &c->v[c->n++]);
	c->counts.n_bytes += n_bytes;
	return 1;
}

/* Keys. */

/* 0, or -1: not to be kept. */
static int add_file(FILE *key, int dir_fd, const char *name, int64_t now_ns)
{
	struct stat st;

	if (!run_files_look_at(dir_fd, name, &st))
		return 0;
	if (run_files_get_time_ns(&st) > now_ns - REST_NS)
		return -1;
	fprintf(key, "/%s %ju %ju %jd %" PRId64, name, (uintmax_t)st.st_dev, (uintmax_t)st.st_ino,
		(intmax_t)st.st_size, run_files_get_time_ns(&st));
	return 0;
}

static int add_files(FILE *key, int dir_fd)
{
	_cleanup_closedir_ DIR *dir = run_files_walk(dir_fd);
	const int64_t now_ns = realtime_ns();
	const struct dirent *entry;
	unsigned n = 0;
	int r = dir ? 0 : -1;

	while (!r && (entry = readdir(dir)))
		r = n++ == MAX_FILES ? -1 : add_file(key, dir_fd, entry->d_name, now_ns);
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
	/* No run's name has a '/'. */
	fprintf(key, "%s/", name);
	for (; *argv; argv++)
		fprintf(key, "%s ", *argv);
	r = add_files(key, dir_fd);
	if (fclose(key) == 0 && !r)
		return text;
	free(text);
	return NULL;
}

/* Finding and keeping. */

int conversions_find(struct conversions *c, const char *key, uint64_t *n_bytes)
{
	struct conversion *found;
	int fd = -1;

	pthread_mutex_lock(&c->mutex);
	found = find(c, key);
	if (found)
		fd = fcntl(found->fd, F_DUPFD_CLOEXEC, 0);
	if (fd >= 0) {
		note_use(c, found);
		*n_bytes = found->n_bytes;
		c->counts.n_found++;
	}
	pthread_mutex_unlock(&c->mutex);
	return fd;
}

void conversions_keep(struct conversions *c, char *key, int fd, uint64_t n_bytes)
{
	int is_kept = 0;

	pthread_mutex_lock(&c->mutex);
	c->counts.n_made++;
	/* Another caller may have asked at the same time, and have made it, too. */
	if (key && n_bytes <= CONVERSIONS_BYTES && n_bytes <= spool_place_find_room(fd) &&
		!find(c, key))
		is_kept = add(c, key, fd, n_bytes);
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

/* Forgetting. */

static int is_of(const struct conversion *conversion, const char *name)
{
	size_t n = strlen(name);

	return strncmp(conversion->key, name, n) == 0 && conversion->key[n] == '/';
}

void conversions_forget(struct conversions *c, const char *name)
{
	pthread_mutex_lock(&c->mutex);
	for (size_t i = c->n; i-- > 0;)
		if (is_of(&c->v[i], name))
			drop(c, i);
	pthread_mutex_unlock(&c->mutex);
}

void conversions_age(struct conversions *c, int64_t now_ms)
{
	pthread_mutex_lock(&c->mutex);
	for (size_t i = c->n; i-- > 0;)
		if (now_ms - c->v[i].used_ms > CONVERSIONS_MS)
			drop(c, i);
	pthread_mutex_unlock(&c->mutex);
}

void conversions_deinit(struct conversions *c)
{
	while (c->n)
		drop(c, 0);
	pthread_mutex_destroy(&c->mutex);
}
