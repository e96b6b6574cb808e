/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that a program started; see descendants.h. */
#include "daemon/serve/calls/descendants.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/runtime_dir.h"
#include "daemon/kernel/lineage.h"
#include "daemon/serve/children/registry.h"

/*
 * Returns true if |all| has a server of the process |known_as|, or at |address|, that has not
 * ended. *n_before is set to the number of such servers that have ended.
 */
static bool descendant_is_known(
	const struct descendants *all, pid_t known_as, const char *address, int *n_before)
{
	*n_before = 0;
	for (size_t i = 0; i < all->n; i++) {
		if ((!known_as || all->v[i].known_as != known_as) &&
			strcmp(all->v[i].address, address) != 0)
			continue;
		if (!all->v[i].has_ended)
			return true;
		(*n_before)++;
	}
	return false;
}

/* A process that has ended has no memory any more, and so no program. */
static bool process_has_program(pid_t pid)
{
	char link[32];
	char path[16];

	snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
	return readlink(link, path, sizeof path) > 0;
}

/*
 * Returns true if |pid| is one of the latest that were left out; each pid is looked up many times.
 */
static bool descendant_is_left_out(const struct descendants *all, pid_t pid)
{
	for (int i = 0; i < all->n_left_out && i < DESCENDANTS_MAX; i++)
		if (all->left_out[i] == pid)
			return true;
	return false;
}

static void descendants_add(struct descendants *all, pid_t pid, pid_t known_as, const char *address)
{
	struct descendant *d = &all->v[all->n];
	int n_before;

	if (descendant_is_known(all, known_as, address, &n_before) ||
		(n_before && !process_has_program(known_as)))
		return;
	if (all->n == DESCENDANTS_MAX) {
		if (!descendant_is_left_out(all, pid))
			all->left_out[all->n_left_out++ % DESCENDANTS_MAX] = pid;
		return;
	}
	d->is_again = n_before > 0;
	d->pid = pid;
	d->known_as = known_as;
	snprintf(d->address, sizeof d->address, "%s", address);
	all->n++;
}

static void descendants_consider_socket(
	struct descendants *all, const char *dir, pid_t pid, pid_t ancestor)
{
	char address[RUNTIME_DIR_MAX_BYTES + 32];

	snprintf(address, sizeof address, "unix:%s/%d.sock", dir, (int)pid);
	if (pid != ancestor && lineage_descends("", pid, ancestor))
		descendants_add(all, pid, pid, address);
}

static void descendants_search_dir(struct descendants *all, const char *path, pid_t ancestor)
{
	DIR *dir = runtime_dir_check(path, geteuid()) ? NULL : opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char *end;
		long pid = strtol(entry->d_name, &end, 10);

		if (pid > 0 && pid <= INT32_MAX && strcmp(end, ".sock") == 0)
			descendants_consider_socket(all, path, (pid_t)pid, ancestor);
	}
	if (dir)
		closedir(dir);
}

static void descendants_add_registered(
	struct descendants *all, pid_t ancestor, struct registry *registry)
{
	struct registered *v = calloc(REGISTRY_MAX, sizeof *v);
	size_t n = v ? registry_list(registry, v) : 0;

	for (size_t i = 0; i < n; i++) {
		pid_t known_as = v[i].is_pid_ours ? v[i].pid : 0;

		if (known_as != ancestor)
			descendants_add(all, v[i].pid, known_as, v[i].address);
	}
	free(v);
}

void descendants_find(struct descendants *all, pid_t ancestor, struct registry *registry)
{
	char path[RUNTIME_DIR_MAX_BYTES];

	for (unsigned i = 0; i < RUNTIME_DIR_PLACES; i++)
		if (runtime_dir_get(i, path) == 0)
			descendants_search_dir(all, path, ancestor);
	descendants_add_registered(all, ancestor, registry);
}
