/* SPDX-License-Identifier: Apache-2.0 */
/* Plug-ins, found and opened; see plugin.h. */
#include "lib/collect/plugin.h"

#include <errno.h>
#include <link.h>
#include <proftap/collector.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/env.h"
#include "lib/record/loader.h"
#include "lib/wire/vendor.h"

static struct plugin vendor_plugins[N_DEVICE_VENDORS];

/* The plug-ins that PROFTAP_COLLECTOR names. Written once, before any server can request them. */
static struct plugin named_plugins[COLLECTORS_MAX_NAMED];
static unsigned n_named_plugins;
static unsigned n_left_out_plugins;

/* --- the plug-ins that exist --------------------------------------------------------------- */

static const char *find_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A path that is too long is cut; opening it fails, and that is reported. */
static void add_named_plugin(const char *path, size_t n)
{
	struct plugin *p = &named_plugins[n_named_plugins];

	if (!n)
		return;
	if (n_named_plugins == COLLECTORS_MAX_NAMED) {
		n_left_out_plugins++;
		return;
	}
	snprintf(p->path, sizeof p->path, "%.*s", (int)n, path);
	snprintf(p->name, sizeof p->name, "%s", find_base(p->path));
	n_named_plugins++;
}

bool plugins_note(void)
{
	const char *paths = n_named_plugins ? NULL : env_get(ENV_PROFTAP_COLLECTOR);

	while (paths && *paths) {
		size_t n = strcspn(paths, ":");

		add_named_plugin(paths, n);
		paths += n + (paths[n] == ':');
	}
	return n_named_plugins > 0;
}

unsigned plugins_count_left_out(void)
{
	return n_left_out_plugins;
}

static struct plugin *get_vendor_plugin(unsigned i)
{
	struct plugin *p = &vendor_plugins[i];

	if (!p->vendor) {
		p->vendor = &device_vendors[i];
		snprintf(p->name, sizeof p->name, "%s", p->vendor->name);
	}
	return p;
}

struct plugin *plugins_get(unsigned i)
{
	if (i < n_named_plugins)
		return &named_plugins[i];
	i -= n_named_plugins;
	return i < N_DEVICE_VENDORS ? get_vendor_plugin(i) : NULL;
}

/* --- whether a plug-in is wanted ----------------------------------------------------------- */

static int match_library(struct dl_phdr_info *info, size_t size, void *name)
{
	const char *begins = name;

	(void)size;
	return info->dlpi_name && strncmp(find_base(info->dlpi_name), begins, strlen(begins)) == 0;
}

bool plugin_is_wanted(const struct plugin *p)
{
	return !p->vendor || dl_iterate_phdr(match_library, (void *)(size_t)p->vendor->library);
}

/* --- opening a plug-in --------------------------------------------------------------------- */

/* Sets p->path to |folder|/|below| and the vendor's file; returns whether that file is readable. */
static bool has_file(struct plugin *p, const char *folder, size_t n, const char *below)
{
	int size = snprintf(p->path, sizeof p->path, "%.*s/%s%s", (int)n, folder, below,
		p->vendor->plugin_file);

	return size < (int)sizeof p->path && access(p->path, R_OK) == 0;
}

static bool is_beside_library(struct plugin *p)
{
	const char *const below[] = {"", "proftap/", p->vendor->build_folder};
	char own[PATH_MAX];
	size_t n;

	if (!loader_find_own_file(own) || own[0] != '/')
		return false;
	n = (size_t)(strrchr(own, '/') - own);
	for (size_t i = 0; i < sizeof below / sizeof below[0]; i++)
		if (has_file(p, own, n, below[i]))
			return true;
	return false;
}

static int find_plugin_file(struct plugin *p, struct diag *d)
{
	if (!p->vendor || is_beside_library(p) ||
		has_file(p, PTAP_PLUGIN_DIR, strlen(PTAP_PLUGIN_DIR), ""))
		return 0;
	return diag_set(d, -ENOENT,
		"%s was not found beside libproftap or in %s; install it, or use the libproftap of an "
		"installation that has it",
		p->vendor->plugin_file, PTAP_PLUGIN_DIR);
}

static bool is_complete(const struct ptap_collector *c)
{
	return c->size >= offsetof(struct ptap_collector, close) + sizeof c->close && c->name &&
	       c->probe && c->start && c->stop;
}

static int check_collector(const struct plugin *p, const struct ptap_collector *c, struct diag *d)
{
	if (!c || c->abi != PTAP_COLLECTOR_ABI)
		return diag_set(d, -EPROTO,
			"%s is made for another version of libproftap, which speaks version %u of "
			"proftap/collector.h; install both of one version",
			p->path, PTAP_COLLECTOR_ABI);
	if (!is_complete(c))
		return diag_set(d, -EPROTO,
			"%s describes itself incompletely: a collector has a name, probe, start "
			"and stop, and "
			"the size of its struct ptap_collector",
			p->path);
	return 0;
}

static int load_plugin_file(struct plugin *p, const struct ptap_collector **out, struct diag *d)
{
	const struct ptap_collector *(*get)(uint32_t abi);
	void *symbol;
	int r;

	if (p->path[0] != '/')
		return diag_set(
			d, -EINVAL, "PROFTAP_COLLECTOR: \"%s\" is not an absolute path", p->path);
	r = loader_find_function(p->path, PTAP_COLLECTOR_SYMBOL, &symbol, d);
	if (r)
		return r;
	memcpy(&get, &symbol, sizeof get);
	*out = get(PTAP_COLLECTOR_ABI);
	return check_collector(p, *out, d);
}

/* A plug-in's state belongs to the process that opened it. */
static int check_process(const struct plugin *p, struct diag *d)
{
	if (p->opened_in == getpid() || p->collector->flags & PTAP_COLLECTOR_FORK_SAFE)
		return 0;
	return diag_set(
		d, -EPERM, "was in use in the parent process, and cannot be used after fork()");
}

int plugin_open(struct plugin *p, struct diag *d)
{
	const struct ptap_collector *collector = NULL;
	int r;

	if (p->collector)
		return check_process(p, d);
	r = find_plugin_file(p, d);
	if (!r)
		r = load_plugin_file(p, &collector, d);
	if (r)
		return r;
	snprintf(p->name, sizeof p->name, "%s", collector->name);
	p->opened_in = getpid();
	p->collector = collector;
	return 0;
}
