/* SPDX-License-Identifier: Apache-2.0 */
/* The target; see patient.h. */
#include "client/doctor/patient.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/answer/host_list.h"
#include "client/connect/exchange.h"
#include "client/connect/link.h"
#include "client/connect/method.h"
#include "client/process/exit.h"
#include "client/target/targets.h"

#define STOCK_TIMEOUT_MS 2000

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

	p->code = host_list_load_from(&p->address, NULL, &targets, &p->why);
	p->n_programs = targets.n;
	if (p->code == EXIT_DONE && targets.n > 0)
		p->status = targets.v[0].status;
	targets_deinit(&targets);
}

/* Servers of another make do not know List; Monitor, as all that do nothing for it, costs them nothing. */
static bool answers_as_stock(struct patient *p)
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

/* Finds out whether a server of JAX or TensorFlow listens there, and whose. */
static void find_stock(struct patient *p)
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

/* Finds the process of a server that is silent because it is stopped. */
static bool find_stopped(struct patient *p)
{
	struct stock_server stopped;

	if (!p->is_here || p->code != EXIT_NOBODY || p->why.code != -EPROTO || !p->address.port ||
		stock_servers_find_stopped(p->address.port, &stopped))
		return false;
	p->pid = stopped.pid;
	return true;
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
	else if (p->is_here && p->code == EXIT_NOBODY && is_process(meant))
		p->pid = meant;
	else if (p->is_here && p->address.lookup[0] && is_process(meant))
		p->pid = meant;
	return 0;
}
