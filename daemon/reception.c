/* SPDX-License-Identifier: Apache-2.0 */
/* Where clients come in; see reception.h. */
#include "daemon/reception.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/status.h"
#include "daemon/pipeline/usage/pss.h"
#include "daemon/serve/calls/health.h"
#include "daemon/serve/calls/service.h"
#include "daemon/target/target.h"
#include "lib/wire/fds.h"
#include "rpc/server.h"

/* How long answers may take to reach their clients after the target is gone. */
#define DELIVERY_MS 60000

void reception_init(struct reception *r, struct service *service, struct target *target)
{
	r->service = service;
	r->target = target;
	access_init(&r->access, target);
}

static int may_connect(int fd, void *context)
{
	struct reception *r = context;

	return r->socket_file.path[0] ? access_allows_path(&r->access, fd)
				      : access_allows_tcp(&r->access, fd);
}

static int may_connect_here(int fd, void *context)
{
	struct reception *r = context;

	return access_allows_local(&r->access, fd);
}

static int start_rpc(struct reception *r)
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

static void serve_connection(int fd, void *context)
{
	struct reception *r = context;
	struct diag d = DIAG_INIT;

	if (start_rpc(r))
		close(fd);
	else if (rpc_server_adopt(r->rpc, fd, &d))
		log_warn(LOG_RPC, "%s", d.text);
}

static void describe(struct status *status, void *context)
{
	struct reception *r = context;

	r->service->describe(status, r->service->context);
}

static void hear_child(int fd, void *context)
{
	struct reception *r = context;

	/* It says a path that is to be called. */
	if (r->target->is_foreign)
		close(fd);
	else
		kin_hear(&r->kin, fd);
}

/* Not having them is no reason not to serve the port. */
static void open_private(struct reception *r, uv_loop_t *loop)
{
	const struct private_policy policy = {
		may_connect_here, serve_connection, hear_child, describe, r};
	int error = private_open(&r->private, loop, r->target->pid, &policy);

	if (error)
		log_info(LOG_LISTEN, "no private socket: %s", errno_words(error));
	else
		snprintf(r->own_socket, sizeof r->own_socket, "unix:%s", r->private.door_file.path);
}

int reception_open(struct reception *r, uv_loop_t *loop)
{
	const struct door_policy policy = {.may_enter = may_connect,
		.serve = serve_connection,
		.hear = hear_child,
		.context = r};

	access_look(&r->access, SPAWN_FD_LISTENER);
	kin_init(&r->kin, loop, &r->access, &r->service->registry);
	open_private(r, loop);
	if (r->target->is_foreign)
		socket_file_find_foreign(&r->socket_file, SPAWN_FD_LISTENER);
	else
		socket_file_find(&r->socket_file, SPAWN_FD_LISTENER);
	return door_open(&r->door, loop, SPAWN_FD_LISTENER, &policy);
}

void reception_tell_target(const struct reception *r)
{
	/* A path is of use to those who see the same files. */
	if (!r->target->is_foreign)
		memcpy(r->target->arena->own_socket, r->own_socket, sizeof r->own_socket);
}

/* A channel of a host daemon: it has looked who asks there. */
static void serve_channel(int fd, void *context)
{
	struct reception *r = context;

	door_let_in(r->own_socket[0] ? &r->private.door : &r->door, fd);
}

/* On the loop, as nobody asks for it but by hand: some milliseconds for each GiB. */
static void measure(struct status *status, void *context)
{
	const struct reception *r = context;

	status->is_measured = 1;
	if (pss_read("", r->target->pid, &status->pss_bytes))
		status->pss_bytes = 0;
}

static uid_t find_uid(void *context)
{
	struct reception *r = context;

	return target_find_uid(r->target);
}

static int is_departing(void *context)
{
	struct reception *r = context;

	return target_is_departing(r->target);
}

static void announce_to_daemons(struct reception *r)
{
	const struct announcer_policy policy = {
		describe, measure, serve_channel, find_uid, is_departing, r};

	announcer_open(&r->announcer, r->door.poll.loop, r->target->pid, &policy);
}

void reception_announce(struct reception *r)
{
	char parent[sizeof r->target->arena->parent];

	announce_to_daemons(r);
	if (r->target->is_foreign)
		return;
	snprintf(parent, sizeof parent, "%.*s", (int)sizeof parent - 1, r->target->arena->parent);
	kin_announce(&r->kin, parent, r->target->pid, r->own_socket);
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
	private_close(&r->private);
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
