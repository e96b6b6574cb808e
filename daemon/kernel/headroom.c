/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Headroom; see headroom.h. A page that does not fit into the cgroup causes an OOM kill, never an
 * error: so the limit is read first.
 */
#include "daemon/kernel/headroom.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

static void fclosep(FILE **f)
{
	if (*f)
		fclose(*f);
}

static int cgroup_read_number(const char *path, uint64_t *out)
{
	_cleanup_(fclosep) FILE *f = fopen(path, "r");

	return f && fscanf(f, "%" SCNu64, out) == 1;
}

static uint64_t machine_available_bytes(const char *root)
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

/* The files and keys of one cgroup version. */
struct cgroup_version {
	const char *limit;
	const char *usage;
	/* Keys in memory.stat; the values include those of the cgroups below this one. */
	const char *inactive_file;
	const char *active_file;
	const char *dirty;
	const char *writeback;
};

static const struct cgroup_version version_1 = {
	.limit = "memory.limit_in_bytes",
	.usage = "memory.usage_in_bytes",
	.inactive_file = "total_inactive_file",
	.active_file = "total_active_file",
	.dirty = "total_dirty",
	.writeback = "total_writeback",
};

static const struct cgroup_version version_2 = {
	.limit = "memory.max",
	.usage = "memory.current",
	.inactive_file = "inactive_file",
	.active_file = "active_file",
	.dirty = "file_dirty",
	.writeback = "file_writeback",
};

/*
 * Returns the page cache that the kernel can take back. A program that reads files fills its group
 * with such pages; half of the active ones are not counted, because the program uses them.
 */
static uint64_t cgroup_reclaimable_bytes(const char *dir, const struct cgroup_version *version)
{
	char path[1200];
	char line[128];
	uint64_t n_bytes = 0;
	uint64_t busy = 0;
	_cleanup_(fclosep) FILE *f = NULL;

	snprintf(path, sizeof path, "%s/memory.stat", dir);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f)) {
		char name[64];
		uint64_t n;

		if (sscanf(line, "%63s %" SCNu64, name, &n) != 2)
			continue;
		if (strcmp(name, version->inactive_file) == 0)
			n_bytes += n;
		else if (strcmp(name, version->active_file) == 0)
			n_bytes += n / 2;
		else if (strcmp(name, version->dirty) == 0 || strcmp(name, version->writeback) == 0)
			busy += n;
	}
	return n_bytes > busy ? n_bytes - busy : 0;
}

static uint64_t cgroup_left_bytes(const char *dir, const struct cgroup_version *version)
{
	char path[1200];
	uint64_t limit;
	uint64_t usage;
	uint64_t reclaimable;

	snprintf(path, sizeof path, "%s/%s", dir, version->limit);
	if (!cgroup_read_number(path, &limit))
		return UINT64_MAX; /* "max", or no such file */
	snprintf(path, sizeof path, "%s/%s", dir, version->usage);
	if (!cgroup_read_number(path, &usage))
		return UINT64_MAX;
	reclaimable = cgroup_reclaimable_bytes(dir, version);
	usage -= reclaimable < usage ? reclaimable : usage;
	return usage < limit ? limit - usage : 0;
}

/* Returns the least headroom of the cgroup at |path| below |mount| and of all groups above it. */
static uint64_t cgroup_left_up_to_root(
	const char *mount, char *path, const struct cgroup_version *version)
{
	uint64_t least = UINT64_MAX;

	for (;;) {
		char dir[1024];
		char *slash;
		uint64_t left;

		snprintf(dir, sizeof dir, "%s%s", mount, path);
		left = cgroup_left_bytes(dir, version);
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
			left = cgroup_left_up_to_root(mount, path + 1, &version_2);
		} else if (strstr(line, ":memory:")) {
			snprintf(mount, sizeof mount, "%s/sys/fs/cgroup/memory", root);
			left = cgroup_left_up_to_root(mount, path + 1, &version_1);
		}
		if (left < least)
			least = left;
	}
	return least;
}

uint64_t headroom_read_bytes(const char *root)
{
	uint64_t machine = machine_available_bytes(root);
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
	bool is_kept = h->read_ns && now_ns - h->read_ns <= HEADROOM_KEPT_NS;

	h->read_ns = 0;
	return is_kept ? h->bytes : headroom_read_bytes(root);
}
