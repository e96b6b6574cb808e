/* SPDX-License-Identifier: Apache-2.0 */
/* The host daemon; see host.h. The main loop waits for connections and announcements; gRPC has a thread of its own. */
#include "daemon/host/host.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/log.h"
#include "base/runtime_dir.h"
#include "daemon/door/door.h"
#include "daemon/host/caller.h"
#include "daemon/host/host_calls.h"
#include "daemon/host/listener.h"
#include "daemon/host/programs.h"
#include "daemon/host/registrar.h"
#include "daemon/host/settings.h"
#include "daemon/kernel/self.h"
#include "daemon/kernel/socket_file.h"
#include "daemon/kin/announcement.h"
#include "daemon/machine/machine.h"
#include "daemon/web/web.h"
#include "rpc/server.h"

/* How long calls in flight may take when it is told to end. */
#define GRACE_MS 60000
#define KEPT_BYTES (8 << 20)

struct host {
	const struct settings *settings;
	struct host_service service;
	struct programs programs;
	struct registrar registrar;
	struct door door;
	struct socket_file door_file; /* if it listens on a path */
	struct web web;
	struct socket_file web_file; /* if it listens on a path */
	struct socket_file registry_file;
	struct rpc_server *rpc;
	uv_loop_t loop;
	uv_signal_t signals[2];
	uv_timer_t sampler;
};

static const int end_signals[] = {SIGTERM, SIGINT};

/* Ending. */

static void close_handle(uv_handle_t *handle, void *context)
{
	(void)context;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

static void on_signal(uv_signal_t *handle, int number)
{
	struct host *h = handle->data;

	log_info(LOG_LISTEN, "ending: %s", number == SIGTERM ? "SIGTERM" : "SIGINT");
	door_close(&h->door);
	registrar_close(&h->registrar);
	web_close(&h->web);
	uv_stop(&h->loop);
}

static void end(struct host *h)
{
	socket_file_remove(&h->door_file);
	socket_file_remove(&h->web_file);
	socket_file_remove(&h->registry_file);
	health_end(&h->service.service.health);
	rpc_server_finish(h->rpc, GRACE_MS);
	uv_walk(&h->loop, close_handle, NULL);
	uv_run(&h->loop, UV_RUN_DEFAULT);
	uv_loop_close(&h->loop);
	machine_free(h->service.machine);
}

/* Serving. */

/* Every user of this machine may connect; what each may see is for the calls to say. */
static int may_enter(int fd, void *context)
{
	struct host *h = context;
	struct caller caller;

	return caller_identify(&caller, fd, h->settings->operators) == 0;
}

/* With the first connection: gRPC's timers would wake the machine three times a second. */
static int start_rpc(struct host *h, struct diag *d)
{
	const struct rpc_server_config config = {
		.methods = host_methods,
		.n_methods = n_host_methods,
		.context = &h->service,
	};

	return h->rpc ? 0 : rpc_server_new(&config, &h->rpc, d);
}

static void serve(int fd, void *context)
{
	struct host *h = context;
	struct diag d = DIAG_INIT;
	int r = start_rpc(h, &d);

	if (r)
		close(fd);
	else
		r = rpc_server_adopt(h->rpc, fd, &d);
	if (r)
		log_warn(LOG_RPC, "%s", d.text);
}

/* Opening. */

/* In the first runtime directory that can be had: root's is the machine's. */
static int find_registry(const struct host *h, char *path, size_t n, struct diag *d)
{
	char dir[RUNTIME_DIR_MAX_BYTES];
	unsigned first = geteuid() == 0 ? 1 : 0;
	int r = -ENOENT;

	if (h->settings->registry[0]) {
		snprintf(path, n, "%s", h->settings->registry);
		return 0;
	}
	for (unsigned i = first; r && i < RUNTIME_DIR_PLACES; i++) {
		r = runtime_dir_get(i, dir);
		if (!r)
			r = runtime_dir_make(dir);
	}
	snprintf(path, n, "%s/" ANNOUNCEMENT_SOCKET, dir);
	return r ? diag_set(d, r,
			   "registry: no runtime directory (XDG_RUNTIME_DIR, /run/proftap): %s; set "
			   "registry = PATH",
			   errno_words(r))
		 : 0;
}

static int open_registry(struct host *h, struct diag *d)
{
	char path[SETTINGS_TEXT_BYTES + 32];
	int fd = listener_take("registry");
	int r = fd < 0 ? find_registry(h, path, sizeof path, d) : 0;

	if (r)
		return r;
	if (fd < 0)
		fd = listener_open_messages(path, &h->registry_file, d);
	if (fd < 0)
		return fd;
	r = registrar_open(&h->registrar, &h->loop, fd, &h->programs);
	return r ? diag_set(d, r, "registry: %s", uv_strerror(r)) : 0;
}

static int open_door(struct host *h, struct diag *d)
{
	const struct door_policy policy = {may_enter, serve, NULL, h};
	int fd = listener_take("grpc");
	int r;

	if (fd < 0)
		fd = listener_open(h->settings->listen, &h->door_file, d);
	if (fd < 0)
		return fd;
	r = door_open(&h->door, &h->loop, fd, &policy);
	return r ? diag_set(d, r, "%s: %s", h->settings->listen, uv_strerror(r)) : 0;
}

static int open_web(struct host *h, struct diag *d)
{
	int fd = listener_take("web");

	if (fd < 0 && strcmp(h->settings->web, SETTINGS_NONE) == 0)
		return 0;
	if (fd < 0)
		fd = listener_open(h->settings->web, &h->web_file, d);
	return fd < 0 ? fd : web_open(&h->web, &h->loop, fd, &h->service, d);
}

static int watch_signals(struct host *h, struct diag *d)
{
	int r = 0;

	for (size_t i = 0; !r && i < sizeof end_signals / sizeof *end_signals; i++) {
		h->signals[i].data = h;
		r = uv_signal_init(&h->loop, &h->signals[i]);
		if (!r)
			r = uv_signal_start(&h->signals[i], on_signal, end_signals[i]);
	}
	return r ? diag_set(d, r, "signals: %s", uv_strerror(r)) : 0;
}

static void on_sample(uv_timer_t *timer)
{
	struct host *h = timer->data;

	machine_sample(h->service.machine, monotonic_ns());
	web_tick(&h->web);
}

/* From the beginning, so that ten minutes are there when somebody looks. */
static int start_sampling(struct host *h, struct diag *d)
{
	const struct machine_config config = {
		.root = "",
		.list = programs_list_processes,
		.context = &h->programs,
	};
	int r = machine_new(&config, &h->service.machine);

	if (r)
		return diag_set(d, r, "usage of the machine: %s", errno_words(r));
	h->sampler.data = h;
	r = uv_timer_init(&h->loop, &h->sampler);
	if (!r)
		r = uv_timer_start(&h->sampler, on_sample, 0, MACHINE_INTERVAL_MS);
	return r ? diag_set(d, r, "timer: %s", uv_strerror(r)) : 0;
}

static int start(struct host *h, struct diag *d)
{
	int r = uv_loop_init(&h->loop);

	if (r)
		return diag_set(d, r, "event loop: %s", uv_strerror(r));
	r = watch_signals(h, d);
	if (!r)
		r = open_registry(h, d);
	if (!r)
		r = open_door(h, d);
	if (!r)
		r = open_web(h, d);
	return r ? r : start_sampling(h, d);
}

static void init(struct host *h, const struct settings *settings)
{
	h->settings = settings;
	h->service.programs = &h->programs;
	h->service.operators = settings->operators;
	h->service.log_dir = settings->log_dir;
	programs_init(&h->programs);
	errands_init(&h->service.service.errands);
	health_init(&h->service.service.health);
}

/*
 * What is passed on comes and goes at a gigabyte a second: without this each message's memory goes back to the system, which
 * doubles what it costs, and each of many threads keeps some of its own.
 */
static void set_allocator(void)
{
	mallopt(M_ARENA_MAX, 2);
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
	mallopt(M_TOP_PAD, KEPT_BYTES / 8);
}

int host_run(const struct settings *settings)
{
	static struct host h;
	struct diag d = DIAG_INIT;
	enum log_level level = LOG_LEVEL_INFO;

	log_level_parse(settings->log_level, &level);
	log_set_level(level);
	log_set_sink(log_to_stderr, (void *)"proftapd");
	self_raise_limits();
	self_ignore_signals();
	set_allocator();
	init(&h, settings);
	if (start(&h, &d)) {
		log_error(LOG_LISTEN, "%s", d.text);
		return 1;
	}
	log_info(LOG_LISTEN, "serving on %s, web %s, registry %s", settings->listen, settings->web,
		h.registry_file.path[0] ? h.registry_file.path : "from systemd");
	uv_run(&h.loop, UV_RUN_DEFAULT);
	end(&h);
	return 0;
}
