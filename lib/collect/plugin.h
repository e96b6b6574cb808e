/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All plug-ins: the ones that PROFTAP_COLLECTOR names, and one for each row of lib/wire/vendor.h. A
 * plug-in is opened once in a process and never closed.
 *
 * Threads: the collectors' thread, except for plugins_note().
 */
#ifndef COLLECT_PLUGIN_H
#define COLLECT_PLUGIN_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct device_vendor;
struct diag;
struct ptap_collector;

#define PLUGIN_NAME_BYTES 32

struct plugin {
	/* The name for people: "cuda", or the file's; the collector's own once it is open. */
	char name[PLUGIN_NAME_BYTES];
	const struct device_vendor *vendor; /* NULL: named by PROFTAP_COLLECTOR, needs no library */
	char path[PATH_MAX]; /* "" before the search */
	const struct ptap_collector *collector; /* NULL: not open */
	pid_t opened_in; /* the process that opened it */
};

/*
 * Reads PROFTAP_COLLECTOR when a server is started for the first time. It runs on the thread that
 * starts the server, under the guest's lock, where reading the environment is safe. Returns whether
 * the variable names plug-ins; these need no vendor's library.
 */
bool plugins_note(void);

/*
 * Returns plug-in |i|, or NULL behind the last one: those of PROFTAP_COLLECTOR come first, then the
 * vendors', COLLECTORS_MAX at most. The struct lives as long as the process.
 */
struct plugin *plugins_get(unsigned i);
/* The number of plug-ins that PROFTAP_COLLECTOR names beyond COLLECTORS_MAX_NAMED. */
unsigned plugins_count_left_out(void);

/* Returns true if the vendor's library is mapped; true for a plug-in that needs none. */
bool plugin_is_wanted(const struct plugin *p);

/* Opens the plug-in, if it is not open yet. 0 or a negative errno, with |d|. */
int plugin_open(struct plugin *p, struct diag *d);

#endif
