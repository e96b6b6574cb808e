/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the host daemon, which host.c and host_signals.c share. The loop's thread only. */
#ifndef DAEMON_PARTS_H
#define DAEMON_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "daemon/host/calls/host_calls.h"
#include "daemon/host/calls/ledger.h"
#include "daemon/host/config/settings.h"
#include "daemon/host/manager.h"
#include "daemon/host/programs/caller.h"
#include "daemon/host/programs/programs.h"
#include "daemon/host/programs/registrar.h"
#include "daemon/host/programs/stock_finder.h"
#include "daemon/host/web/web.h"
#include "daemon/kernel/socket_file.h"
#include "daemon/serve/children/starter.h"
#include "daemon/serve/door/door.h"

struct diag;
struct invocation;
struct rpc_server;

/*
 * The time between the order to end and the end. Calls under way may go on until the deadline.
 * Calls that have not ended by then are given up, and get a second to report it.
 */
struct closing {
	uv_timer_t poll;
	uint64_t deadline_ms; /* the loop's clock */
	bool has_begun;
	bool has_given_up;
};

struct host {
	const struct invocation *invocation;
	struct settings settings; /* those in force */
	struct host_service service;
	struct operators operators;
	struct programs programs;
	struct ledger ledger;
	struct starter starter;
	struct registrar registrar;
	struct stock_finder stock;
	struct door door;
	struct socket_file door_file; /* if it listens on a path */
	struct web web;
	int web_listener; /* valid as long as |web| is open */
	struct socket_file web_file; /* if it listens on a path */
	struct socket_file registry_file;
	struct rpc_server *rpc;
	uv_loop_t loop;
	uv_signal_t signals[3];
	uv_timer_t sampler;
	struct manager manager;
	struct closing closing;
	uv_work_t finish;
	int grace_ms; /* longest stall in |finish| */
};

/*
 * Handles signals from now on. The first SIGTERM or SIGINT ends the daemon after calls are over or
 * their time is up; a second one ends that time. The loop is stopped then. SIGHUP
 * reads the settings again. 0, or libuv's error with |d|. The loop's thread only.
 */
int host_signals_open(struct host *h, struct diag *d);

/* Returns the number of calls, and of captures by HTTP, under way. */
unsigned host_count_calls(struct host *h);

/* Applies the settings that need no restart. */
void host_apply_settings(struct host *h);

#endif
