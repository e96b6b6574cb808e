/* SPDX-License-Identifier: Apache-2.0 */
/* Connections of clients; see reception.h. */
#include "daemon/reception.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/status.h"
#include "daemon/kernel/proc_file.h"
#include "daemon/serve/calls/health.h"
#include "daemon/serve/calls/service.h"
#include "daemon/target/target.h"
#include "lib/wire/serve.h"
#include "rpc/server.h"

/* When the target has ended, answers get this time to reach their clients. */
#define DELIVERY_MS 60000

void reception_init(struct reception *r, struct service *service, struct target *target)
{
	r->service = service;
	r->target = target;
	access_init(&r->access, target);
}

static bool reception_may_connect(int fd, void *context)
{
	struct reception *r = context;

	return r->socket_file.path[0] ? access_allows_path(&r->access, fd)
				      : access_allows_tcp(&r->access, fd);
}

static bool reception_may_connect_locally(int fd, void *context)
{
	struct reception *r = context;

	return access_allows_local(&r->access, fd);
}

static int reception_start_rpc(struct reception *r)
{
	struct rpc_server_config config = {
		.methods = service_methods,
		.n_methods = n_service_methods,
		.context = r->service,
	};
	struct diag d = DIAG_INIT;

	if (r->rpc)
		return 0;
	if (rpc_server_new(&config, &r->rpc, &d)) {
		log_error(LOG_RPC, "%s", d.text);
		return -1;
	}
	return 0;
}

static void reception_serve(int fd, void *context)
{
	struct reception *r = context;
	struct diag d = DIAG_INIT;

	if (reception_start_rpc(r))
		close(fd);
	else if (rpc_server_adopt(r->rpc, fd, &d))
		log_warn(LOG_RPC, "%s", d.text);
}

static void reception_describe_service(struct status *status, void *context)
{
	struct reception *r = context;

	r->service->describe(status, r->service->context);
}

static void reception_hear_child(int fd, void *context)
{
	struct reception *r = context;

	/* The connection names a path, which must not be opened for a foreign program. */
	if (r->target->is_foreign)
		close(fd);
	else
		notice_relay_hear(&r->notices, fd);
}

/* Opens the private sockets. Without them the server still serves the port. */
static void reception_open_private(struct reception *r, uv_loop_t *loop)
{
	const struct private_policy policy = {reception_may_connect_locally, reception_serve,
		reception_hear_child, reception_describe_service, r};
	int error = private_sockets_open(&r->private, loop, r->target->pid, &policy);

	if (error)
		log_info(LOG_LISTEN, "no private socket: %s", errno_words(error));
	else
		snprintf(r->own_socket, sizeof r->own_socket, "unix:%s", r->private.door_file.path);
}

int reception_open(struct reception *r, uv_loop_t *loop)
{
	const struct door_policy policy = {.may_enter = reception_may_connect,
		.serve = reception_serve,
		.on_notice = reception_hear_child,
		.context = r};

	access_find_namespace(&r->access, SPAWN_FD_LISTENER);
	notice_relay_init(&r->notices, loop, &r->access, r->service->registry);
	reception_open_private(r, loop);
	if (r->target->is_foreign)
		socket_file_find_foreign(&r->socket_file, SPAWN_FD_LISTENER);
	else
		socket_file_find(&r->socket_file, SPAWN_FD_LISTENER);
	return door_open(&r->door, loop, SPAWN_FD_LISTENER, &policy);
}

void reception_tell_target(const struct reception *r)
{
	/* The program can use the path only if it sees the same files as this process. */
	if (!r->target->is_foreign)
		memcpy(r->target->arena->own_socket, r->own_socket, sizeof r->own_socket);
}

/* Serves a channel of a host daemon, which has checked its client. */
static void reception_serve_channel(int fd, void *context)
{
	struct reception *r = context;

	door_let_in(r->own_socket[0] ? &r->private.door : &r->door, fd);
}

/*
 * Measures the program's share of memory, which blocks the loop's thread for some milliseconds for
 * each GiB. It may, because only people ask for it, and they do so rarely.
 */
static void reception_measure(struct status *status, void *context)
{
	const struct reception *r = context;

	status->is_measured = true;
	if (pss_read("", r->target->pid, &status->pss_bytes))
		status->pss_bytes = 0;
}

static uid_t reception_find_uid(void *context)
{
	struct reception *r = context;

	return target_find_uid(r->target);
}

static bool reception_is_departing(void *context)
{
	struct reception *r = context;

	return target_is_departing(r->target);
}

static void reception_announce_to_daemons(struct reception *r)
{
	const struct announcer_policy policy = {reception_describe_service, reception_measure,
		reception_serve_channel, reception_find_uid, reception_is_departing, r};

	announcer_open(&r->announcer, r->door.poll.loop, r->target->pid, &policy);
}

void reception_announce(struct reception *r)
{
	char parent[sizeof r->target->arena->parent];

	reception_announce_to_daemons(r);
	if (r->target->is_foreign)
		return;
	snprintf(parent, sizeof parent, "%.*s", (int)sizeof parent - 1, r->target->arena->parent);
	notice_relay_announce(&r->notices, parent, r->target->pid, r->own_socket);
}

uid_t reception_close_port(struct reception *r)
{
	door_close(&r->door);
	socket_file_remove(&r->socket_file);
	return target_find_uid(r->target);
}

void reception_close(struct reception *r)
{
	door_close(&r->door);
	socket_file_remove(&r->socket_file);
	private_sockets_close(&r->private);
	announcer_close(&r->announcer);
}

void reception_end(struct reception *r)
{
	health_end(&r->service->health);
	rpc_server_finish(r->rpc, DELIVERY_MS);
}

void reception_describe(struct reception *r, struct status *s)
{
	const struct arena *arena = r->target->arena;

	s->uid = (unsigned)target_find_uid(r->target);
	s->port = arena->port;
	if (r->socket_file.path[0])
		snprintf(s->address, sizeof s->address, "unix:%s", r->socket_file.path);
	else
		snprintf(s->address, sizeof s->address, "%.*s", (int)sizeof arena->address - 1,
			arena->address);
	printable_clean(s->address);
}
