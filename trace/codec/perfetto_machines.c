/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns a machine to each host of a view. */
#include "trace/codec/perfetto_machines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/read/view.h"

struct pid_owner {
	int64_t pid;
	uint32_t host;
};

struct pid_owners {
	struct pid_owner *v; /* sorted by pid, then by host */
	size_t n;
	bool *clashes; /* by machine: it has a pid of the host that looks for a machine */
};

static int compare_owners(const void *a, const void *b)
{
	const struct pid_owner *x = a;
	const struct pid_owner *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->host > y->host) - (x->host < y->host);
}

static int list_owners(struct pid_owners *o, const struct view *v)
{
	o->v = calloc(v->n_processes + 1, sizeof *o->v);
	o->clashes = calloc(v->n_archives + 1, sizeof *o->clashes);
	if (!o->v || !o->clashes)
		return -ENOMEM;
	for (; o->n < v->n_processes; o->n++)
		o->v[o->n] = (struct pid_owner){v->processes[o->n].pid, v->processes[o->n].host};
	qsort(o->v, o->n, sizeof *o->v, compare_owners);
	return 0;
}

static void mark_clashes(
	const struct perfetto_machines *m, const struct pid_owners *o, uint32_t host)
{
	memset(o->clashes, 0, m->n * sizeof *o->clashes);
	for (size_t i = 0; i < o->n; i++) {
		if (o->v[i].host != host)
			continue;
		for (size_t j = i; j > 0 && o->v[j - 1].pid == o->v[i].pid; j--)
			if (o->v[j - 1].host < host)
				o->clashes[m->of_hosts[o->v[j - 1].host]] = true;
	}
}

static uint32_t find_namesake(const struct view *v, uint32_t host, uint32_t from)
{
	while (from < host && strcmp(v->hosts[from].name, v->hosts[host].name) != 0)
		from++;
	return from;
}

/*
 * Chooses the machine of an earlier host, or a new one. With a grouping one is enough: its pids are
 * unique in the view.
 */
static uint32_t choose_machine(const struct perfetto_machines *m, const struct view *v,
	const struct pid_owners *owners, uint32_t host)
{
	uint32_t i = find_namesake(v, host, 0);

	if (view_is_grouped(v))
		return 0;
	if (i < host)
		mark_clashes(m, owners, host);
	for (; i < host; i = find_namesake(v, host, i + 1))
		if (!owners->clashes[m->of_hosts[i]])
			return m->of_hosts[i];
	return m->n;
}

int perfetto_machines_init(struct perfetto_machines *m, const struct view *v)
{
	struct pid_owners owners = {NULL};
	int r = list_owners(&owners, v);

	m->n = 0;
	m->of_hosts = calloc(v->n_archives + 1, sizeof *m->of_hosts);
	if (!m->of_hosts)
		r = -ENOMEM;
	for (uint32_t i = 0; i < v->n_archives && r == 0; i++) {
		m->of_hosts[i] = choose_machine(m, v, &owners, i);
		m->n += m->of_hosts[i] == m->n;
	}
	free(owners.v);
	free(owners.clashes);
	return r;
}

void perfetto_machines_deinit(struct perfetto_machines *m)
{
	free(m->of_hosts);
}

bool perfetto_machines_has_first(const struct perfetto_machines *m, uint32_t host)
{
	for (uint32_t i = 0; i < host; i++)
		if (m->of_hosts[i] == m->of_hosts[host])
			return false;
	return true;
}
