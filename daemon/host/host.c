/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host daemon's start, main loop and end; see host.h. The loop waits for connections and
 * announcements; gRPC has a thread of its own.
 */
#include "daemon/host/host.h"

#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <uv.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/line_break.h"
#include "base/log.h"
#include "base/runtime_dir.h"
#include "daemon/host/calls/audit.h"
#include "daemon/host/config/invocation.h"
#include "daemon/host/config/listener.h"
#include "daemon/host/config/settings.h"
#include "daemon/host/machine/machine.h"
#include "daemon/host/parts.h"
#include "daemon/host/programs/caller.h"
#include "daemon/kernel/identity.h"
#include "daemon/kernel/journald.h"
#include "daemon/kernel/self.h"
#include "rpc/server.h"

/* --- the registry's place --------------------------------------------------------------------- */

/*
 * Writes to |path| the place of the registry's socket: |wanted|, or, if that is "", registry.sock
 * in the first runtime directory that can be used; root uses the machine's directory. 0, or a
 * negative errno with |d|.
 */
static int registry_place_find(const char *wanted, char *path, size_t n, struct diag *d)
{
	char dir[RUNTIME_DIR_MAX_BYTES] = "";
	unsigned first = geteuid() == 0 ? 1 : 0;
	int r = -ENOENT;

	if (wanted[0]) {
		snprintf(path, n, "%s", wanted);
		return 0;
	}
	for (unsigned i = first; r && i < RUNTIME_DIR_PLACES; i++) {
		r = runtime_dir_get(i, dir);
		if (!r)
			r = runtime_dir_make(dir);
	}
	snprintf(path, n, "%s/" RUNTIME_DIR_REGISTRY, dir);
	return r ? diag_set(d, r,
			   "registry: no runtime directory (XDG_RUNTIME_DIR, /run/proftap): %s; set "
			   "registry = PATH",
			   errno_words(r))
		 : 0;
}

/* --- the log ---------------------------------------------------------------------------------- */

#define NAME "proftapd"

static int journal_fd; /* negative: the journal cannot be reached by its socket */

/*
 * Without its socket, the journal takes the priority from the beginning of a line, and no fields.
 */
static void write_to_journal(const struct log_message *m, void *context)
{
	(void)context;
	if (journal_fd < 0 || journald_send(journal_fd, NAME, m))
		fprintf(stderr, "<%d>%s: %s\n", journald_priority(m), log_area_get_name(m->area),
			m->text);
}

/* Sets the sink (base/log.h). Call it before there are threads. */
static void host_log_open(void)
{
	if (!journald_has_stream(STDERR_FILENO)) {
		log_set_sink(log_to_stderr, (void *)NAME);
		return;
	}
	journal_fd = journald_open(JOURNALD_PATH);
	log_set_sink(write_to_journal, NULL);
}

/* --- the daemon ------------------------------------------------------------------------------- */

/* A capture of many programs has a connection for each. One user cannot keep all others out. */
#define MAX_SERVED 256
#define MAX_SERVED_OF_USER 128
#define KEPT_BYTES (8 << 20)

/* Every user of this machine may connect. Each call checks the programs that its user may see. */
static bool may_enter(int fd, void *context)
{
	struct host *h = context;
	struct caller caller;

	return caller_identify(&caller, fd, &h->operators) == 0;
}

/* Finds the user of a connection that may enter. */
static int find_uid(int fd, uid_t *uid, void *context)
{
	struct caller caller;
	int r = caller_know(&caller, fd);

	(void)context;
	*uid = caller.uid;
	return r;
}

/*
 * Starts gRPC only when the first connection has come, because gRPC's timers wake the machine three
 * times a second.
 */
static int start_rpc(struct host *h, struct diag *d)
{
	const struct rpc_server_config config = {
		.methods = host_methods,
		.n_methods = n_host_methods,
		.context = &h->service,
		.role = RPC_ROLE_HOST,
		.on_answer = audit_on_answer,
	};

	return h->rpc ? 0 : rpc_server_new(&config, &h->rpc, d);
}

static void serve_connection(int fd, void *context)
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

/* --- opening ---------------------------------------------------------------------------------- */

static int host_open_registry(struct host *h, struct diag *d)
{
	char path[SETTINGS_TEXT_BYTES + 32];
	int fd = listener_take("registry");
	int r = fd < 0 ? registry_place_find(h->settings.registry, path, sizeof path, d) : 0;

	if (r)
		return r;
	if (fd < 0)
		fd = listener_open_messages(path, &h->registry_file, d);
	if (fd < 0)
		return fd;
	r = registrar_open(&h->registrar, &h->loop, fd, &h->programs, &h->starter);
	return r ? diag_set(d, r, "registry: %s", uv_strerror(r)) : 0;
}

static int host_open_door(struct host *h, struct diag *d)
{
	const struct door_policy policy = {.may_enter = may_enter,
		.serve = serve_connection,
		.context = h,
		.find_uid = find_uid,
		.max_served = MAX_SERVED,
		.max_of_user = MAX_SERVED_OF_USER};
	int fd = listener_take("grpc");
	int r;

	if (fd < 0)
		fd = listener_open(h->settings.listen, &h->door_file, d);
	if (fd < 0)
		return fd;
	r = door_open(&h->door, &h->loop, fd, &policy);
	return r ? diag_set(d, r, "%s: %s", h->settings.listen, uv_strerror(r)) : 0;
}

static int host_open_web(struct host *h, struct diag *d)
{
	int fd = listener_take("web");

	if (fd < 0 && strcmp(h->settings.web, SETTINGS_NONE) == 0)
		return 0;
	if (fd < 0)
		fd = listener_open(h->settings.web, &h->web_file, d);
	if (fd < 0)
		return fd;
	h->web_listener = fd;
	return web_open(&h->web, &h->loop, fd, &h->service, d);
}

static void tell_manager_status(struct host *h)
{
	if (!h->closing.has_begun)
		manager_say_status(&h->manager, "%zu programs, %u calls under way",
			programs_count(&h->programs), host_count_calls(h));
}

static void on_sample(uv_timer_t *timer)
{
	struct host *h = timer->data;
	int64_t before_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);

	machine_sample(h->service.machine, monotonic_ns());
	if (!h->closing.has_begun)
		stock_finder_search(
			&h->stock, strcmp(h->settings.stock_servers, SETTINGS_YES) == 0);
	ledger_add_sample(&h->ledger, clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns);
	web_tick(&h->web);
	tell_manager_status(h);
}

/*
 * Samples from the start of the daemon on, so that ten minutes of history exist for the first
 * request.
 */
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
	h->stock.loop = &h->loop;
	h->stock.programs = &h->programs;
	h->stock.starter = &h->starter;
	r = uv_timer_init(&h->loop, &h->sampler);
	if (!r)
		r = uv_timer_start(&h->sampler, on_sample, 0, MACHINE_INTERVAL_MS);
	return r ? diag_set(d, r, "timer: %s", uv_strerror(r)) : 0;
}

/*
 * Called while there is one thread. The starter keeps rights that this process gives up afterwards.
 */
static void open_starter(struct host *h)
{
	int r = starter_open(&h->starter);

	if (r)
		log_warn(LOG_TARGET, "programs that cannot start a server get none: %s",
			errno_words(r));
	r = geteuid() == 0 ? 0 : identity_drop_capabilities();
	if (r)
		log_warn(LOG_TARGET, "capabilities cannot be given up: %s", errno_words(r));
}

static int start_timers(struct host *h, struct diag *d)
{
	int r = manager_open(&h->manager, &h->loop);

	return r ? diag_set(d, r, "timer: %s", uv_strerror(r)) : 0;
}

static int host_start(struct host *h, struct diag *d)
{
	int r = uv_loop_init(&h->loop);

	if (r)
		return diag_set(d, r, "event loop: %s", uv_strerror(r));
	r = start_timers(h, d);
	if (!r)
		r = host_signals_open(h, d);
	if (!r)
		r = host_open_registry(h, d);
	if (!r)
		r = host_open_door(h, d);
	if (!r)
		r = host_open_web(h, d);
	return r ? r : start_sampling(h, d);
}

static void host_init(
	struct host *h, const struct invocation *invocation, const struct settings *settings)
{
	h->invocation = invocation;
	h->settings = *settings;
	h->service.programs = &h->programs;
	h->service.operators = &h->operators;
	h->service.log_dir = h->settings.log_dir;
	h->service.web_names = h->settings.web_names;
	h->service.recorder_metrics = h->settings.recorder_metrics;
	h->service.ledger = &h->ledger;
	h->service.door = &h->door;
	h->service.registrar = &h->registrar;
	ledger_init(&h->ledger, &h->programs);
	programs_init(&h->programs);
	operators_init(&h->operators);
	errands_init(&h->service.errands, &h->service);
	health_init(&h->service.health, NULL);
}

/*
 * Keeps freed memory. Passed-on messages are allocated and freed at a gigabyte a second. Otherwise
 * the memory of each message would go back to the system, which doubles its cost, and each of many
 * threads would keep some.
 */
static void set_allocator(void)
{
	mallopt(M_ARENA_MAX, 2);
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
	mallopt(M_TOP_PAD, KEPT_BYTES / 8);
}

/* --- the end ---------------------------------------------------------------------------------- */

static void close_handle(uv_handle_t *handle, void *context)
{
	(void)context;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

static void host_end(struct host *h)
{
	uv_walk(&h->loop, close_handle, NULL);
	uv_run(&h->loop, UV_RUN_DEFAULT);
	uv_loop_close(&h->loop);
	stock_finder_deinit(&h->stock);
	/* Calls that were given up and still run may read the machine. */
	if (!errands_count(&h->service.errands))
		machine_free(h->service.machine);
}

/* Logs the addresses, also of sockets that systemd opened. */
static void log_addresses(const struct host *h)
{
	char grpc[LISTENER_TEXT_BYTES];
	char web[LISTENER_TEXT_BYTES] = SETTINGS_NONE;
	char registry[LISTENER_TEXT_BYTES];

	listener_describe(h->door.listener, grpc, sizeof grpc);
	if (h->web.server)
		listener_describe(h->web_listener, web, sizeof web);
	listener_describe(h->registrar.listener, registry, sizeof registry);
	log_info(LOG_LISTEN, "serving on %s, web %s, registry %s", grpc, web, registry);
}

/* Removes the sockets of a daemon that could not start, since programs would try to connect. */
static void host_remove_files(struct host *h)
{
	socket_file_remove(&h->registry_file);
	socket_file_remove(&h->door_file);
	socket_file_remove(&h->web_file);
}

static int host_run(const struct invocation *invocation, const struct settings *settings)
{
	static struct host h;
	struct diag d = DIAG_INIT;

	host_log_open();
	self_raise_limits();
	self_ignore_signals();
	set_allocator();
	rpc_poll_by_thread();
	host_init(&h, invocation, settings);
	host_apply_settings(&h);
	open_starter(&h);
	if (host_start(&h, &d)) {
		log_error(LOG_LISTEN, "%s", d.text);
		host_remove_files(&h);
		return 1;
	}
	log_addresses(&h);
	manager_say_ready(&h.manager);
	uv_run(&h.loop, UV_RUN_DEFAULT);
	host_end(&h);
	return 0;
}

/* --- the command line ------------------------------------------------------------------------- */

#define INDENT "                  "

static void print_setting(const struct setting *row, FILE *out)
{
	char form[160];

	snprintf(form, sizeof form, "(%s; default \"%s\")", row->form, row->default_text);
	fprintf(out, "  --%s VALUE\n", row->key);
	line_break_print(out, INDENT, row->help, SETTINGS_WIDTH);
	line_break_print(out, INDENT, form, SETTINGS_WIDTH);
}

void host_print_help(FILE *out)
{
	fputs("  --config FILE   read the settings from FILE instead of " INVOCATION_CONFIG "\n"
	      "  --print-config  print the settings, each with its meaning, and exit\n",
		out);
	for (size_t i = 0; i < n_settings; i++)
		print_setting(&settings_table[i], out);
	fputs("A relative path begins at the working directory.\n", out);
}

static int print_failure(int r, const struct diag *d)
{
	fprintf(stderr, "proftapd: %s\n", d->text);
	return r == -EINVAL ? 2 : 1;
}

int host_main(int argc, char **argv, int *status)
{
	struct invocation invocation;
	struct settings settings;
	struct diag d = DIAG_INIT;
	int r = invocation_parse(&invocation, argc, argv, &d);

	if (r > 0)
		return r;
	if (!r)
		r = invocation_read(&invocation, &settings, &d);
	if (r)
		*status = print_failure(r, &d);
	else if (!invocation.is_print)
		*status = host_run(&invocation, &settings);
	else
		settings_print(&settings, stdout);
	return 0;
}
