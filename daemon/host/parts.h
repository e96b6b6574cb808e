/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the host daemon, which host.c and host_signals.c share. */
#ifndef DAEMON_PARTS_H
#define DAEMON_PARTS_H

#include <uv.h>

#include "daemon/host/calls/host_calls.h"
#include "daemon/host/calls/ledger.h"
#include "daemon/host/closing.h"
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

struct invocation;
struct rpc_server;

struct host {
	const struct invocation *invocation;
	struct settings settings; /* as they count now */
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
	int web_listener; /* the web's, as long as that is open */
	struct socket_file web_file; /* as door_file */
	struct socket_file registry_file;
	struct rpc_server *rpc;
	uv_loop_t loop;
	uv_signal_t signals[3];
	uv_timer_t sampler;
	struct manager manager;
	struct closing closing;
	uv_work_t finish;
	int grace_ms; /* that it has */
};

#endif
