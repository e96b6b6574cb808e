/* SPDX-License-Identifier: Apache-2.0 */
/* Machines; see perfetto_machines.h. */
#include "trace/codec/perfetto_machines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/read/view.h"

static bool has_pid(const struct perfetto_machines *m, const struct view *v, uint32_t n_hosts,
	uint32_t machine, int64_t pid)
{
	for (size_t i = 0; i < v->n_processes; i++) {
		const struct view_process *p = &v->processes[i];

		if (p->host < n_hosts && m->of_hosts[p->host] == machine && p->pid == pid)
			return true;
	}
	return false;
}

static bool fits(
	const struct perfetto_machines *m, const struct view *v, uint32_t host, uint32_t machine)
{
	for (size_t i = 0; i < v->n_processes; i++) {
		const struct view_process *p = &v->processes[i];

		if (p->host == host && has_pid(m, v, host, machine, p->pid))
			return false;
	}
	return true;
}

/* That of one of the hosts before it, or a new one. The pids of groups are different in all of the view. */
static uint32_t choose(const struct perfetto_machines *m, const struct view *v, uint32_t host)
{
	if (view_is_grouped(v))
		return 0;
	for (uint32_t i = 0; i < host; i++)
		if (strcmp(v->hosts[i].name, v->hosts[host].name) == 0 &&
			fits(m, v, host, m->of_hosts[i]))
			return m->of_hosts[i];
	return m->n;
}

int perfetto_machines_init(struct perfetto_machines *m, const struct view *v)
{
	m->n = 0;
	m->of_hosts = calloc(v->n_archives + 1, sizeof *m->of_hosts);
	if (!m->of_hosts)
		return -ENOMEM;
	for (uint32_t i = 0; i < v->n_archives; i++) {
		m->of_hosts[i] = choose(m, v, i);
		m->n += m->of_hosts[i] == m->n;
	}
	return 0;
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
