/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that a program started; see descendants.h. */
#include "daemon/serve/calls/descendants.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/runtime_dir.h"
#include "daemon/kernel/lineage.h"
#include "daemon/serve/calls/errand.h"
#include "daemon/serve/children/registry.h"
#include "rpc/client.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

/*
 * All are asked at once to end. A server that runs answers within this time even on the busiest
 * machine.
 */
#define END_NS (5 * NS_PER_S)
/* A server that makes a trace may be silent that long. */
#define SILENCE_NS (10 * NS_PER_S)
/* Traces are taken from so many at a time: each holds a message of 1 MiB in memory. */
#define AT_A_TIME 16
#define LOOK_MS 2

typedef Tensorflow__ProfileOptions Options;
typedef Tensorflow__ProfileOptions__AdvancedConfigurationEntry Entry;

/* Finding them. */

/* Whether it will be recorded, is recorded, or could not be. */
static int is_taken(const struct descendant *d)
{
	return !d->has_started || !remote_capture_is_over(&d->capture) || d->capture.error[0];
}

/* *n_before: how often it has been recorded to its end. */
static int is_known(
	const struct descendants *all, pid_t known_as, const char *address, int *n_before)
{
	*n_before = 0;
	for (size_t i = 0; i < all->n; i++) {
		if ((!known_as || all->v[i].known_as != known_as) &&
			strcmp(all->v[i].address, address) != 0)
			continue;
		if (is_taken(&all->v[i]))
			return 1;
		(*n_before)++;
	}
	return 0;
}

/* It has memory, and so a program: not so one that has ended. */
static int has_program(pid_t pid)
{
	char link[32];
	char path[16];

	snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
	return readlink(link, path, sizeof path) > 0;
}

/* Whether |pid| is one of the latest that were left out; each of them is looked up many times. */
static int is_left_out(const struct descendants *all, pid_t pid)
{
	for (int i = 0; i < all->n_left_out && i < DESCENDANTS_MAX; i++)
		if (all->left_out[i] == pid)
			return 1;
	return 0;
}

static void add(struct descendants *all, pid_t pid, pid_t known_as, const char *address)
{
	struct descendant *d = &all->v[all->n];
	int n_before;

	if (is_known(all, known_as, address, &n_before) || (n_before && !has_program(known_as)))
		return;
	if (all->n == DESCENDANTS_MAX) {
		if (!is_left_out(all, pid))
			all->left_out[all->n_left_out++ % DESCENDANTS_MAX] = pid;
		return;
	}
	d->is_again = n_before > 0;
	d->pid = pid;
	d->known_as = known_as;
	snprintf(d->address, sizeof d->address, "%s", address);
	snprintf(d->session_id, sizeof d->session_id, "subprocess_%d_%lld", (int)pid,
		(long long)(realtime_ns() / NS_PER_MS));
	all->n++;
}

static void consider(struct descendants *all, const char *dir, pid_t pid, pid_t ancestor)
{
	char address[RUNTIME_DIR_MAX_BYTES + 32];

	snprintf(address, sizeof address, "unix:%s/%d.sock", dir, (int)pid);
	if (pid != ancestor && lineage_descends("", pid, ancestor))
		add(all, pid, pid, address);
}

static void look_into(struct descendants *all, const char *path, pid_t ancestor)
{
	DIR *dir = runtime_dir_check(path, geteuid()) ? NULL : opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char *end;
		long pid = strtol(entry->d_name, &end, 10);

		if (pid > 0 && pid <= INT32_MAX && strcmp(end, ".sock") == 0)
			consider(all, path, (pid_t)pid, ancestor);
	}
	if (dir)
		closedir(dir);
}

static void add_registered(struct descendants *all, pid_t ancestor, struct registry *registry)
{
	struct registered *v = calloc(REGISTRY_MAX, sizeof *v);
	size_t n = v ? registry_list(registry, v) : 0;

	for (size_t i = 0; i < n; i++) {
		pid_t known_as = v[i].is_pid_ours ? v[i].pid : 0;

		if (known_as != ancestor)
			add(all, v[i].pid, known_as, v[i].address);
	}
	free(v);
}

void descendants_find(struct descendants *all, pid_t ancestor, struct registry *registry)
{
	char path[RUNTIME_DIR_MAX_BYTES];

	for (unsigned i = 0; i < RUNTIME_DIR_PLACES; i++)
		if (runtime_dir_get(i, path) == 0)
			look_into(all, path, ancestor);
	add_registered(all, ancestor, registry);
}

/* Their recordings. */

/*
 * |kept| has room for all entries of |o|: without the keys that are not for one descendant. This tree is known, and the machine is
 * recorded once, where the whole trace comes through a host daemon.
 */
static void leave_keys_out(Options *o, Entry **kept)
{
	size_t n = 0;

	for (size_t i = 0; i < o->n_advanced_configuration; i++)
		if (strcmp(o->advanced_configuration[i]->key, DESCENDANTS_KEY) != 0 &&
			strcmp(o->advanced_configuration[i]->key, "ptap_machine_usage") != 0)
			kept[n++] = o->advanced_configuration[i];
	o->advanced_configuration = kept;
	o->n_advanced_configuration = n;
}

static void start(struct descendants *all, struct descendant *d, const Options *asked)
{
	Options options = *asked;

	d->has_started = 1;
	remote_capture_fill_options(&options);
	options.session_id = d->session_id;
	options.duration_ms = UINT64_MAX;
	remote_capture_start(
		&d->capture, d->address, rpc_channel_new_to(d->address), &options, &all->share);
}

void descendants_start(struct descendants *all, const uint8_t *bytes, size_t n)
{
	Options *asked = tensorflow__profile_options__unpack(NULL, n, bytes);
	_cleanup_free_ Entry **kept =
		calloc(asked ? asked->n_advanced_configuration + 1 : 1, sizeof *kept);
	Options options;

	for (size_t i = 0; (!asked || !kept) && i < all->n; i++)
		if (!all->v[i].has_started)
			remote_capture_fail(&all->v[i].capture, "out of memory");
	if (asked && kept) {
		options = *asked;
		leave_keys_out(&options, kept);
		for (size_t i = 0; i < all->n; i++)
			if (!all->v[i].has_started)
				start(all, &all->v[i], &options);
	}
	if (asked)
		tensorflow__profile_options__free_unpacked(asked, NULL);
}

void descendants_poll(struct descendants *all)
{
	for (size_t i = 0; i < all->n; i++)
		while (!remote_capture_is_over(&all->v[i].capture) &&
			remote_capture_read(&all->v[i].capture, 0))
			;
}

/* The end. */

static void ask_to_end(struct descendants *all, struct errand *e)
{
	int64_t give_up_ns = monotonic_ns() + END_NS;

	for (size_t i = 0; i < all->n; i++)
		if (!remote_capture_is_over(&all->v[i].capture))
			remote_capture_ask_to_end(&all->v[i].capture, all->v[i].session_id);
	for (size_t i = 0; i < all->n; i++)
		while (!remote_capture_is_ending(&all->v[i].capture, LOOK_MS) &&
			monotonic_ns() < give_up_ns && !errand_is_cancelled(e))
			;
	for (size_t i = 0; i < all->n; i++)
		if (!remote_capture_is_ending(&all->v[i].capture, 0))
			remote_capture_end(&all->v[i].capture);
}

/* One more message, if there is one. Returns 1 unless that was all. */
static int read_one(struct descendant *d, int64_t wait_ms, int *has_read)
{
	struct remote_capture *c = &d->capture;

	if (remote_capture_is_over(c))
		return 0;
	/* Its turn has come: before that nobody listened. */
	if (!d->is_heard)
		c->heard_ns = monotonic_ns();
	d->is_heard = 1;
	if (remote_capture_read(c, wait_ms))
		*has_read = 1;
	else if (monotonic_ns() - c->heard_ns > SILENCE_NS)
		remote_capture_end(c);
	return !remote_capture_is_over(c);
}

/* Reads from the first AT_A_TIME that are not over. Returns 0 when all are over. */
static int read_some(struct descendants *all, int64_t wait_ms, int *has_read)
{
	int n = 0;

	*has_read = 0;
	for (size_t i = 0; i < all->n && n < AT_A_TIME; i++)
		n += read_one(&all->v[i], n ? 0 : wait_ms, has_read);
	return n;
}

void descendants_end(struct descendants *all, uint64_t max_bytes, struct errand *e)
{
	int has_read = 1;

	all->share.max_bytes = max_bytes;
	ask_to_end(all, e);
	while (!errand_is_cancelled(e) && read_some(all, has_read ? 0 : LOOK_MS, &has_read))
		;
	for (size_t i = 0; i < all->n; i++)
		remote_capture_end(&all->v[i].capture);
}

void descendants_deinit(struct descendants *all)
{
	for (size_t i = 0; i < all->n; i++)
		remote_capture_deinit(&all->v[i].capture);
}
