/* SPDX-License-Identifier: Apache-2.0 */
/* Asking a target's server, and reading its process's files; see doctor_target.h. */
#include "client/doctor/doctor_target.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "client/answer/host_list.h"
#include "client/connect/exchange.h"
#include "client/connect/link.h"
#include "client/doctor/finding.h"
#include "client/doctor/system.h"
#include "client/process/exit.h"
#include "client/target/targets.h"

#define STOCK_TIMEOUT_MS 2000

/* Returns 0 if |text| is no pid. */
static pid_t read_pid(const char *text)
{
	char *end;
	long pid = strtol(text, &end, 10);

	return *end || pid <= 0 ? 0 : (pid_t)pid;
}

static bool is_process(pid_t pid)
{
	return pid > 0 && (kill(pid, 0) == 0 || errno == EPERM);
}

static bool is_here(const struct address *a)
{
	return a->lookup[0] || address_is_here(a);
}

static void ask_server(struct doctor_target *p)
{
	struct targets targets = TARGETS_INIT;

	p->code = host_list_load_from(&p->address, NULL, &targets, &p->why);
	p->n_programs = targets.n;
	if (p->code == EXIT_DONE && targets.n > 0)
		p->status = targets.v[0].status;
	targets_deinit(&targets);
}

/* A server of another make has no List. Monitor, which does nothing there, shows its make. */
static bool answers_as_stock(struct doctor_target *p)
{
	struct link link = LINK_INIT;
	struct exchange e = {
		.address = &p->address,
		.link = &link,
		.path = MONITOR_PATH,
		.timeout_ms = STOCK_TIMEOUT_MS,
	};
	struct diag d = DIAG_INIT;
	bool is_stock = false;

	if (link_open(&link, &p->address, &d) == EXIT_DONE)
		is_stock = exchange_run(&e, &d) == EXIT_DONE || exchange_is_stock(&e);
	exchange_deinit(&e);
	link_close(&link);
	return is_stock;
}

/* Finds the process of a JAX or TensorFlow server on the target's port. */
static void find_stock(struct doctor_target *p)
{
	struct stock_servers stock = STOCK_SERVERS_INIT;

	if (p->is_here && stock_servers_find(&stock, 0, STOCK_TIMEOUT_MS) == 0)
		for (size_t i = 0; i < stock.n; i++)
			if (stock.v[i].port == p->address.port) {
				p->pid = stock.v[i].pid;
				memcpy(p->make, stock.v[i].make, sizeof p->make);
				memcpy(p->status.name, stock.v[i].name, sizeof p->status.name);
			}
	stock_servers_deinit(&stock);
}

/* Finds the process of a server that does not answer because it is stopped. */
static bool find_stopped(struct doctor_target *p)
{
	struct stock_server stopped;

	if (!p->is_here || p->code != EXIT_NOBODY || p->why.code != -EPROTO || !p->address.port ||
		stock_servers_find_stopped(p->address.port, &stopped))
		return false;
	p->pid = stopped.pid;
	return true;
}

int doctor_target_load(struct doctor_target *p, const char *text, struct diag *d)
{
	pid_t typed_pid;
	int r;

	memset(p, 0, sizeof *p);
	r = address_parse(text, NULL, &p->address, d);
	if (r)
		return r;
	/* The user's number may be a port or a pid. */
	typed_pid = read_pid(text);
	p->is_here = is_here(&p->address);
	ask_server(p);
	if (find_stopped(p))
		return 0;
	if (p->code == EXIT_NOBODY && p->why.code == -EPROTO && p->address.port &&
		answers_as_stock(p)) {
		p->code = EXIT_DONE;
		p->is_stock = true;
		find_stock(p);
		return 0;
	}
	if (p->is_here && p->code == EXIT_DONE && p->n_programs == 1)
		p->pid = p->status.pid;
	else if (p->is_here && p->code == EXIT_NOBODY && is_process(typed_pid))
		p->pid = typed_pid;
	else if (p->is_here && p->address.lookup[0] && is_process(typed_pid))
		p->pid = typed_pid;
	return 0;
}

/* --- files of the process ------------------------------------------------------------------ */

bool doctor_target_is_there(const struct system *sys, struct finding *f)
{
	const struct doctor_target *p = sys->target;

	if (!p->pid)
		finding_none(f, p->is_here ? "its process is not known"
					   : "it is on another machine: ask there");
	return p->pid != 0;
}

/* Writes "/proc/PID/FILE", without the system's root, into |path|, and returns it. */
static const char *doctor_target_path(
	const struct system *sys, const char *file, char path[static PATH_MAX])
{
	snprintf(path, PATH_MAX, "/proc/%d/%s", (int)sys->target->pid, file);
	return path;
}

int doctor_target_read_status(const struct system *sys, const char *name, char *out, size_t n)
{
	char path[PATH_MAX];

	return system_read_field(sys, doctor_target_path(sys, "status", path), name, out, n);
}

int doctor_target_read_environment(const struct system *sys, const char *name, char *out, size_t n)
{
	_cleanup_free_ char *entry = NULL;
	size_t length = strlen(name);
	size_t room = 0;
	char path[PATH_MAX];
	char full[PATH_MAX + 8];
	int r = -ENODATA;
	FILE *file;

	snprintf(full, sizeof full, "%s%s", sys->root, doctor_target_path(sys, "environ", path));
	file = fopen(full, "re");
	if (!file)
		return -errno;
	while (r && getdelim(&entry, &room, '\0', file) > 0) {
		if (strncmp(entry, name, length) != 0 || entry[length] != '=')
			continue;
		snprintf(out, n, "%s", entry + length + 1);
		r = 0;
	}
	fclose(file);
	return r;
}

bool doctor_target_has_other_namespace(const struct system *sys, const char *kind)
{
	char path[PATH_MAX];
	char file[32];
	char full[PATH_MAX + 8];
	char theirs[64];
	char ours[64];
	ssize_t n;

	snprintf(file, sizeof file, "ns/%s", kind);
	snprintf(full, sizeof full, "%s%s", sys->root, doctor_target_path(sys, file, path));
	n = readlink(full, theirs, sizeof theirs - 1);
	if (n <= 0)
		return false;
	theirs[n] = '\0';
	snprintf(full, sizeof full, "%s/proc/self/ns/%s", sys->root, kind);
	n = readlink(full, ours, sizeof ours - 1);
	ours[n > 0 ? n : 0] = '\0';
	return strcmp(theirs, ours) != 0;
}

const char *doctor_target_root(const struct system *sys, char root[static PATH_MAX])
{
	char path[PATH_MAX];

	if (doctor_target_has_other_namespace(sys, "mnt"))
		snprintf(root, PATH_MAX, "%.1024s%.64s", sys->root,
			doctor_target_path(sys, "root", path));
	else
		snprintf(root, PATH_MAX, "%s", sys->root);
	return root;
}
