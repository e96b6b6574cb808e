/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that a program started; see descendants.h. */
#include "daemon/descendants.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/runtime_dir.h"
#include "daemon/errand.h"
#include "daemon/lineage.h"
#include "proto/pack.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

/* What collecting may take beyond the program's own. */
#define GRACE_NS (10 * NS_PER_S)
#define LOOK_MS 50

typedef Tensorflow__ProfileOptions Options;
typedef Tensorflow__ProfileOptions__AdvancedConfigurationEntry Entry;

/* Who. */

static void add(struct descendants *all, const char *dir, pid_t pid, pid_t ancestor)
{
	struct descendant *d = &all->v[all->n];

	if (pid == ancestor || !lineage_descends("", pid, ancestor))
		return;
	if (all->n == DESCENDANTS_MAX) {
		all->n_left_out++;
		return;
	}
	d->pid = pid;
	snprintf(d->session_id, sizeof d->session_id, "subprocess_%d_%lld", (int)pid,
		(long long)(realtime_ns() / NS_PER_MS));
	snprintf(d->profile.address, sizeof d->profile.address, "unix:%s/%d.sock", dir, (int)pid);
	all->n++;
}

static void look_into(struct descendants *all, const char *path, pid_t ancestor)
{
	DIR *dir = runtime_dir_check(path, geteuid()) ? NULL : opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char *end;
		long pid = strtol(entry->d_name, &end, 10);

		if (pid > 0 && pid <= INT32_MAX && strcmp(end, ".sock") == 0)
			add(all, path, (pid_t)pid, ancestor);
	}
	if (dir)
		closedir(dir);
}

void descendants_find(struct descendants *all, pid_t ancestor)
{
	char path[RUNTIME_DIR_MAX_BYTES];

	for (unsigned i = 0; i < RUNTIME_DIR_PLACES; i++)
		if (runtime_dir_get(i, path) == 0)
			look_into(all, path, ancestor);
}

/* What they record. */

/* |kept| has room for all entries of |o|: without the key, this tree being known. */
static void leave_key_out(Options *o, Entry **kept)
{
	size_t n = 0;

	for (size_t i = 0; i < o->n_advanced_configuration; i++)
		if (strcmp(o->advanced_configuration[i]->key, DESCENDANTS_KEY) != 0)
			kept[n++] = o->advanced_configuration[i];
	o->advanced_configuration = kept;
	o->n_advanced_configuration = n;
}

static void start(struct descendant *d, const Options *asked)
{
	Tensorflow__ProfileRequest request = TENSORFLOW__PROFILE_REQUEST__INIT;
	Options options = *asked;
	char address[sizeof d->profile.address];
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t n;

	request.opts = &options;
	request.emit_xspace = 1;
	request.session_id = options.session_id = d->session_id;
	request.duration_ms = options.duration_ms = UINT64_MAX;
	strcpy(address, d->profile.address);
	if (proto_pack(&request.base, &bytes, &n))
		remote_profile_fail(&d->profile, "out of memory");
	else
		remote_profile_start(&d->profile, address, bytes, n, -1);
}

void descendants_start(struct descendants *all, const uint8_t *bytes, size_t n)
{
	Options *asked = tensorflow__profile_options__unpack(NULL, n, bytes);
	_cleanup_free_ Entry **kept =
		calloc(asked ? asked->n_advanced_configuration + 1 : 1, sizeof *kept);
	Options options;

	for (size_t i = 0; (!asked || !kept) && i < all->n; i++)
		remote_profile_fail(&all->v[i].profile, "out of memory");
	if (asked && kept) {
		options = *asked;
		leave_key_out(&options, kept);
		for (size_t i = 0; i < all->n; i++)
			start(&all->v[i], &options);
	}
	if (asked)
		tensorflow__profile_options__free_unpacked(asked, NULL);
}

void descendants_end(struct descendants *all, struct errand *e)
{
	int64_t give_up_ns = monotonic_ns() + GRACE_NS;

	for (size_t i = 0; i < all->n; i++)
		remote_profile_terminate(&all->v[i].profile, all->v[i].session_id);
	for (size_t i = 0; i < all->n; i++) {
		struct remote_profile *p = &all->v[i].profile;

		while (monotonic_ns() < give_up_ns && !errand_is_cancelled(e) &&
			!remote_profile_wait(p, LOOK_MS))
			;
		remote_profile_end(p);
	}
}

void descendants_deinit(struct descendants *all)
{
	for (size_t i = 0; i < all->n; i++)
		remote_profile_deinit(&all->v[i].profile);
}
