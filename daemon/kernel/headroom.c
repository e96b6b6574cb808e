/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Headroom; see headroom.h. A page that does not fit into the cgroup ends in an OOM kill, never in an
 * error: so the limit is read first.
 */
#include "daemon/kernel/headroom.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

static void fclosep(FILE **f)
{
	if (*f)
		fclose(*f);
}

static int read_number(const char *path, uint64_t *out)
{
	_cleanup_(fclosep) FILE *f = fopen(path, "r");

	return f && fscanf(f, "%" SCNu64, out) == 1;
}

static uint64_t available_bytes(const char *root)
{
	char path[512];
	char line[128];
	uint64_t kib;
	_cleanup_(fclosep) FILE *f = NULL;

	snprintf(path, sizeof path, "%s/proc/meminfo", root);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1)
			return kib << 10;
	return UINT64_MAX;
}

static uint64_t left_in(const char *dir, const char *limit_name, const char *usage_name)
{
	char path[1200];
	uint64_t limit;
	uint64_t usage;

	snprintf(path, sizeof path, "%s/%s", dir, limit_name);
	if (!read_number(path, &limit))
		return UINT64_MAX; /* "max", or not there */
	snprintf(path, sizeof path, "%s/%s", dir, usage_name);
	if (!read_number(path, &usage))
		return UINT64_MAX;
	return usage < limit ? limit - usage : 0;
}

/* The cgroup at |path| below |mount| and all above it. */
static uint64_t left_up_to_root(const char *mount, char *path, const char *limit, const char *usage)
{
	uint64_t least = UINT64_MAX;

	for (;;) {
		char dir[1024];
		char *slash;
		uint64_t left;

		snprintf(dir, sizeof dir, "%s%s", mount, path);
		left = left_in(dir, limit, usage);
		if (left < least)
			least = left;
		slash = strrchr(path, '/');
		if (!slash)
			return least;
		*slash = '\0';
	}
}

static uint64_t cgroup_bytes(const char *root)
{
	char name[512];
	char line[1024];
	uint64_t least = UINT64_MAX;
	_cleanup_(fclosep) FILE *f = NULL;

	snprintf(name, sizeof name, "%s/proc/self/cgroup", root);
	f = fopen(name, "r");
	while (f && fgets(line, sizeof line, f)) {
		char mount[600];
		char *path = strchr(line, ':');
		uint64_t left = UINT64_MAX;

		path = path ? strchr(path + 1, ':') : NULL;
		if (!path)
			continue;
		path[strcspn(path, "\n")] = '\0';
		if (strncmp(line, "0::", 3) == 0) {
			snprintf(mount, sizeof mount, "%s/sys/fs/cgroup", root);
			left = left_up_to_root(mount, path + 1, "memory.max", "memory.current");
		} else if (strstr(line, ":memory:")) {
			snprintf(mount, sizeof mount, "%s/sys/fs/cgroup/memory", root);
			left = left_up_to_root(
				mount, path + 1, "memory.limit_in_bytes", "memory.usage_in_bytes");
		}
		if (left < least)
			least = left;
	}
	return least;
}

uint64_t headroom_read_bytes(const char *root)
{
	uint64_t machine = available_bytes(root);
	uint64_t cgroup = cgroup_bytes(root);

	return machine < cgroup ? machine : cgroup;
}

uint64_t headroom_read(struct headroom *h, const char *root, int64_t now_ns)
{
	h->bytes = headroom_read_bytes(root);
	h->read_ns = now_ns;
	return h->bytes;
}

uint64_t headroom_take(struct headroom *h, const char *root, int64_t now_ns)
{
	int is_kept = h->read_ns && now_ns - h->read_ns <= HEADROOM_KEPT_NS;

	h->read_ns = 0;
	return is_kept ? h->bytes : headroom_read_bytes(root);
}
