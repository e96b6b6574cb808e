/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attached server; see attached.h. While idle it has two threads: this one waits for
 * connections (libuv); the worker holds the robust word (a robust futex) and waits for the target
 * or a capture.
 */
#include "daemon/attached.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <syslog.h>
#include <unistd.h>
#include <uv.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/status.h"
#include "daemon/kernel/container.h"
#include "daemon/kernel/identity.h"
#include "daemon/kernel/lineage.h"
#include "daemon/kernel/proc_file.h"
#include "daemon/kernel/process_exit.h"
#include "daemon/kernel/self.h"
#include "daemon/kernel/unix_peer.h"
#include "daemon/pipeline/drain/rings.h"
#include "daemon/reception.h"
#include "daemon/serve/calls/errand.h"
#include "daemon/serve/calls/service.h"
#include "daemon/serve/children/joins.h"
#include "daemon/serve/children/registry.h"
#include "daemon/serve/children/starter.h"
#include "daemon/serve/message/trace_stream.h"
#include "daemon/serve/session/recorder_end.h"
#include "daemon/serve/session/recorder_work.h"
#include "daemon/serve/session/repository.h"
#include "daemon/serve/session/session.h"
#include "daemon/serve/session/session_recorder.h"
#include "daemon/target/family.h"
#include "daemon/target/rights.h"
#include "daemon/target/target.h"
#include "daemon/target/timeline.h"
#include "daemon/worker.h"
#include "lib/wire/serve.h"

/* --- The log --------------------------------------------------------------------------------- */

static const int syslog_priorities[] = {LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG};

/*
 * A log sink that replaces standard error, which is /dev/null. |context| is the struct target. The
 * target's ptap_last_error() also returns errors and warnings that are logged here.
 */
static void journal_write(const struct log_message *m, void *context)
{
	struct target *t = context;
	const char *area = log_area_get_name(m->area);

	if (m->level <= LOG_LEVEL_WARN && t->arena)
		snprintf(t->arena->message, sizeof t->arena->message, "%s: %s", area, m->text);
	syslog(LOG_DAEMON | syslog_priorities[m->level], "%s: %s", area, m->text);
}

/* --- The end of the target ------------------------------------------------------------------- */

struct exit_watch {
	uv_poll_t poll;
	struct target *target;
};

static void attached_on_exited(uv_poll_t *poll, int status, int events)
{
	struct exit_watch *w = poll->data;

	(void)status, (void)events;
	uv_poll_stop(poll);
	target_set_exited(w->target);
}

/*
 * Watches the target by a pidfd until its end is known. The robust word reports the end of a large
 * target earlier, but the pidfd does not depend on the target's memory. Before Linux 5.3 there is
 * no pidfd. 0, or libuv's error. The loop's thread only.
 */
static int exit_watch_start(struct exit_watch *w, uv_loop_t *loop, struct target *target)
{
	int pidfd;
	int r;

	w->target = target;
	target->stat_fd = process_exit_open(target->pid);
	target->status_fd = owner_open("", target->pid);
	pidfd = (int)syscall(SYS_pidfd_open, target->pid, 0);
	if (pidfd < 0 && errno == ESRCH)
		target_set_exited(target);
	if (pidfd < 0)
		return 0;
	target->start_ticks = process_find_start(target->pid);
	atomic_store(&target->pidfd, pidfd);
	r = uv_poll_init(loop, &w->poll, pidfd);
	w->poll.data = w;
	return r ? r : uv_poll_start(&w->poll, UV_READABLE, attached_on_exited);
}

/* --- Servers lent by a host daemon ----------------------------------------------------------- */

/*
 * Finds out whether this process sees the same files and thread ids as the program
 * (docs/internals/host.md, "Programs that cannot start a server").
 */
static void compare_lent_process(struct target *t)
{
	struct container container;
	struct diag d = DIAG_INIT;

	container_find("", t->pid, &container);
	t->has_own_tids = container.pid_inside != t->pid;
	t->is_foreign = rights_compare("", t->pid, &d) != 0;
	if (t->is_foreign)
		log_info(LOG_TARGET, "no path of pid %d is opened: %s", (int)t->pid, d.text);
	target_compare_clock(t);
	clock_pair_set_ahead(t->clock_ahead_ns);
}

/*
 * Returns true if the process that sent the request, the program or a child of it, still waits. If
 * another process has reused its pid, that process is not a child of the program.
 */
static bool lent_is_awaited(const struct target *t)
{
	pid_t peer = 0;
	uid_t uid;

	if (unix_peer_identify(SPAWN_FD_ANSWER, &peer, &uid) || peer <= 0)
		return false;
	return peer == t->pid || lineage_get_parent("", peer) == t->pid;
}

/*
 * Tells the waiting program that it has a server, or the reason why not (|result|, a negative
 * errno). -ESRCH: the program no longer waits, and must not be served.
 */
static int lent_answer(const struct target *t, int result)
{
	int r = lent_is_awaited(t) ? 0 : -ESRCH;
	int sent = serve_request_answer(SPAWN_FD_ANSWER, r ? r : result);

	close(SPAWN_FD_ANSWER);
	return r || sent ? -ESRCH : 0;
}

/* --- The loop -------------------------------------------------------------------------------- */

struct attached {
	struct target target;
	struct family family;
	struct session session;
	struct errands errands;
	struct trace_streams streams;
	struct repository repository;
	struct registry registry;
	struct clock_pair first_pair;
	struct service service;
	pthread_t worker;
	uv_loop_t loop;
	bool has_listener; /* false: the program records itself, and no client can connect */
	bool is_lent; /* a host daemon started this process */
	struct reception reception;
	struct exit_watch exited;
	struct joins joins;
	/* from the worker: the arena's head is filled; let children join, announce the server */
	uv_async_t met;
	uv_async_t gone; /* from the worker: close the port */
	uv_async_t finished; /* from the worker: there is nothing more to deliver */
	int64_t since_ns; /* Unix time */
};

/*
 * Closes the port at once, so that a restarted program can use it, and then marks the hello as
 * closed, for which ptap_server_stop() waits.
 */
static void attached_on_gone(uv_async_t *handle)
{
	struct attached *a = handle->data;

	/* A client gets the data of a dead program only if it can prove its user. */
	if (a->has_listener && recorder_end_holds(&a->session))
		atomic_store(&a->session.heir, reception_close_port(&a->reception));
	else if (a->has_listener)
		reception_close(&a->reception);
	joins_close(&a->joins);
	target_close_hello(&a->target);
}

static void attached_on_met(uv_async_t *handle)
{
	struct attached *a = handle->data;

	joins_serve(&a->joins);
	if (a->has_listener)
		reception_announce(&a->reception);
}

static void attached_on_finished(uv_async_t *handle)
{
	struct attached *a = handle->data;

	if (a->has_listener)
		reception_close(&a->reception);
	uv_stop(handle->loop);
}

static void attached_send_gone(void *context)
{
	struct attached *a = context;

	uv_async_send(&a->gone);
}

/*
 * The program may fork as soon as it has received its hello: the door for its children must be open
 * by then.
 */
static void attached_open_door(struct attached *a)
{
	int r;

	if (!(a->target.flags & ARENA_FOLLOW_FORK))
		return;
	r = joins_listen(&a->joins);
	if (r)
		log_warn(LOG_LISTEN, "forked children cannot be followed: %s", errno_words(r));
}

/*
 * Starts the flight recorder, if the program asks for it. -EINVAL with |d|: the program gave wrong
 * options. After any other failure the program just has no recorder.
 */
static int attached_start_recorder(struct attached *a, struct diag *d)
{
	int r = a->target.flags & ARENA_RECORDER ? recorder_work_begin(&a->session, d) : 0;

	if (r && r != -EINVAL)
		log_warn(LOG_TARGET, "no flight recorder: %s", d->text);
	return r == -EINVAL ? r : 0;
}

static void attached_name_repository(struct attached *a)
{
	struct repository *r = &a->repository;
	struct arena *arena = a->target.arena;

	if (!a->target.is_foreign) {
		repository_name(r, arena->log_dir, sizeof arena->log_dir, a->target.pid);
		return;
	}
	repository_forbid(r);
	/* ptap_snapshot() returns this error. */
	if (arena->log_dir[0])
		atomic_store(&arena->snapshot.trouble, -EACCES);
}

/*
 * Prepares the session after the arena's head was filled, and before the server greets any process.
 */
static int attached_prepare(struct attached *a, struct diag *d)
{
	target_hold(&a->target);
	a->first_pair = clock_pair_read(atomic_load(&a->target.arena->clock) == ARENA_CLOCK_TICKS);
	attached_name_repository(a);
	attached_open_door(a);
	reception_tell_target(&a->reception);
	return attached_start_recorder(a, d);
}

static void *attached_run_worker(void *argument)
{
	struct attached *a = argument;
	struct diag d = DIAG_INIT;

	self_ask_for_low_latency();
	if (target_meet(&a->target, &d) || attached_prepare(a, &d)) {
		target_fail_hello(&a->target, &d);
		session_close(&a->session);
	} else {
		uv_async_send(&a->met);
		target_greet(&a->target);
		log_set_level((enum log_level)(a->target.arena->log_level & 3));
		self_trim();
		worker_run(&a->session);
	}
	uv_async_send(&a->gone);
	uv_async_send(&a->finished);
	return NULL;
}

/* Called on any thread. */
static void attached_describe(struct status *s, void *context)
{
	struct attached *a = context;

	s->pid = (int)a->target.pid;
	s->since_ns = a->since_ns;
	s->has_recorder = session_recorder_is_on(&a->session);
	s->has_ended = recorder_end_holds(&a->session);
	s->is_stopped = proc_is_stopped(a->target.pid);
	s->is_recording = !s->has_ended && session_is_busy(&a->session);
	s->n_children = a->joins.n_children;
	session_get_gpu(&a->session, s->gpu);
	snprintf(s->name, sizeof s->name, "%.*s", (int)sizeof a->target.arena->name - 1,
		a->target.arena->name);
	printable_clean(s->name);
	reception_describe(&a->reception, s);
	snprintf(s->version, sizeof s->version, "%s", PACKAGE_VERSION);
}

static int attached_init_loop(struct attached *a)
{
	int r = uv_loop_init(&a->loop);

	if (!r)
		r = uv_async_init(&a->loop, &a->gone, attached_on_gone);
	if (!r)
		r = uv_async_init(&a->loop, &a->finished, attached_on_finished);
	if (!r)
		r = uv_async_init(&a->loop, &a->met, attached_on_met);
	if (!r)
		r = joins_init(&a->joins, &a->family, &a->loop);
	if (!r)
		r = exit_watch_start(&a->exited, &a->loop, &a->target);
	a->gone.data = a->finished.data = a->met.data = a;
	/* A server that only writes its program's own trace accepts no connections. */
	return r || !a->has_listener ? r : reception_open(&a->reception, &a->loop);
}

static int attached_start(struct attached *a, pid_t pid, struct diag *d)
{
	int r = target_open(&a->target, SPAWN_FD_ARENA, pid, d);

	if (r)
		return r;
	if (a->is_lent)
		compare_lent_process(&a->target);
	family_init(&a->family, &a->target);
	session_init(&a->session, &a->family, attached_send_gone, a);
	a->session.repository = &a->repository;
	a->session.way = &a->reception.private.door_file;
	a->service.session = &a->session;
	a->service.errands = &a->errands;
	a->service.streams = &a->streams;
	a->service.repository = &a->repository;
	a->service.registry = &a->registry;
	a->service.first_pair = &a->first_pair;
	errands_init(&a->errands, &a->service);
	health_init(&a->service.health, &a->session);
	reception_init(&a->reception, &a->service, &a->target);
	a->service.describe = attached_describe;
	a->service.context = a;
	a->since_ns = realtime_ns();
	r = attached_init_loop(a);
	if (r)
		return diag_set(d, r, "event loop: %s", uv_strerror(r));
	r = pthread_create(&a->worker, NULL, attached_run_worker, a);
	if (r)
		return diag_set(
			d, -r, "worker thread: %s; raise the limit on processes", errno_words(r));
	pthread_setname_np(a->worker, "ptap-worker");
	return 0;
}

/*
 * Sends |result| to the program if a host daemon started this server. 0: continue with the
 * handshake, or no answer was needed.
 */
static int attached_answer_program(const struct attached *a, int result)
{
	return a->is_lent ? lent_answer(&a->target, result) : 0;
}

static int attached_start_and_answer(struct attached *a, pid_t pid, struct diag *d)
{
	int r = attached_start(a, pid, d);
	int answer = attached_answer_program(a, r);

	return r || !answer ? r : diag_set(d, answer, "the program does not wait for its server");
}

int attached_run(pid_t pid, bool is_lent)
{
	static struct attached a;
	struct diag d = DIAG_INIT;

	a.is_lent = is_lent;
	/* Check now: later another file may get this descriptor's number. */
	a.has_listener = fcntl(SPAWN_FD_LISTENER, F_GETFD) >= 0;
	self_offer_to_oom_killer();
	self_ignore_signals();
	self_raise_limits();
	log_set_sink(journal_write, &a.target);
	if (attached_start_and_answer(&a, pid, &d)) {
		log_error(LOG_TARGET, "%s", d.text);
		if (a.target.arena)
			target_fail_hello(&a.target, &d);
		return 1;
	}
	uv_run(&a.loop, UV_RUN_DEFAULT);
	pthread_join(a.worker, NULL);
	reception_end(&a.reception);
	family_deinit(&a.family);
	rings_end(&a.target);
	target_close(&a.target);
	return 0;
}
