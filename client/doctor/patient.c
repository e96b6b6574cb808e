/* SPDX-License-Identifier: Apache-2.0 */
/* The target; see patient.h. */
#include "client/doctor/patient.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/answer/host_list.h"
#include "client/process/exit.h"
#include "client/target/targets.h"

/* 0: not a number. */
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

static void ask(struct patient *p)
{
	struct targets targets = TARGETS_INIT;

	p->code = host_list_load_from(&p->address, &targets, &p->why);
	p->n_programs = targets.n;
	if (p->code == EXIT_DONE && targets.n > 0)
		p->status = targets.v[0].status;
	targets_deinit(&targets);
}

int patient_load(struct patient *p, const char *text, struct diag *d)
{
	pid_t meant;
	int r;

	memset(p, 0, sizeof *p);
	r = address_parse(text, NULL, &p->address, d);
	if (r)
		return r;
	/* A number may be a port or a pid. */
	meant = read_pid(text);
	p->is_here = is_here(&p->address);
	ask(p);
	if (p->is_here && p->code == EXIT_DONE && p->n_programs > 0)
		p->pid = p->status.pid;
	else if (p->is_here && p->code == EXIT_NOBODY && is_process(meant))
		p->pid = meant;
	else if (p->is_here && p->address.lookup[0] && is_process(meant))
		p->pid = meant;
	return 0;
}
