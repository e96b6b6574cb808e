/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attached server; see attached.h. Two threads while idle: this one waits for connections (libuv),
 * the worker holds the robust word and waits for the target or a capture.
 */
#include "daemon/attached.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#include <uv.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/status.h"
#include "daemon/journal.h"
#include "daemon/kernel/proc_file.h"
#include "daemon/kernel/self.h"
#include "daemon/lent.h"
#include "daemon/pipeline/drain/rings.h"
#include "daemon/reception.h"
#include "daemon/serve/calls/service.h"
#include "daemon/serve/children/joins.h"
#include "daemon/serve/session/recorder_end.h"
#include "daemon/serve/session/recorder_work.h"
#include "daemon/serve/session/session.h"
#include "daemon/serve/session/session_recorder.h"
#include "daemon/target/exit_watch.h"
#include "daemon/target/family.h"
#include "daemon/target/hello.h"
#include "daemon/target/target.h"
#include "daemon/target/timeline.h"
#include "daemon/worker.h"
#include "lib/wire/fds.h"

struct attached {
	struct target target;
	struct family family;
	struct session session;
	struct service service;
	pthread_t worker;
	uv_loop_t loop;
	int has_listener; /* 0: the program only traces itself */
	int is_lent; /* a host daemon started this process */
	struct reception reception;
	struct exit_watch exited;
	struct joins joins;
	uv_async_t met; /* from the worker: the arena's head is filled; maybe a door for children */
	uv_async_t gone; /* from the worker: close the port */
	uv_async_t finished; /* from the worker: nothing more to deliver */
	int64_t since_ns; /* Unix time */
};

/* A restarted program gets its port at once; ptap_server_stop() waits for this hello. */
static void close_listener(uv_async_t *handle)
{
	struct attached *a = handle->data;

	/* Nobody who cannot show who he is gets what a dead program left. */
	if (a->has_listener && recorder_end_holds(&a->session))
		atomic_store(&a->session.heir, reception_close_port(&a->reception));
	else if (a->has_listener)
		reception_close(&a->reception);
	joins_close(&a->joins);
	hello_close(&a->target);
}

static void on_met(uv_async_t *handle)
{
	struct attached *a = handle->data;

	joins_serve(&a->joins);
	if (a->has_listener)
		reception_announce(&a->reception);
}

static void on_finished(uv_async_t *handle)
{
	struct attached *a = handle->data;

	if (a->has_listener)
		reception_close(&a->reception);
	uv_stop(handle->loop);
}

static void say_gone(void *context)
{
	struct attached *a = context;

	uv_async_send(&a->gone);
}

/* The program may fork as soon as it has its hello: then children must find the door. */
static void open_door(struct attached *a)
{
	int r;

	if (!(a->target.flags & ARENA_FOLLOW_FORK))
		return;
	r = joins_listen(&a->joins);
	if (r)
		log_warn(LOG_LISTEN, "forked children cannot be followed: %s", errno_words(r));
}

/* What stands in its options is wrong: -EINVAL with |d|. Whatever else there is, the program can do without. */
static int start_recorder(struct attached *a, struct diag *d)
{
	int r = a->target.flags & ARENA_RECORDER ? recorder_work_begin(&a->session, d) : 0;

	if (r && r != -EINVAL)
		log_warn(LOG_TARGET, "no flight recorder: %s", d->text);
	return r == -EINVAL ? r : 0;
}

static void name_repository(struct attached *a)
{
	struct repository *r = &a->service.repository;
	struct arena *arena = a->target.arena;

	if (!a->target.is_foreign) {
		repository_name(r, arena->log_dir, sizeof arena->log_dir, a->target.pid);
		return;
	}
	repository_forbid(r);
	/* ptap_snapshot() tells it. */
	if (arena->log_dir[0])
		atomic_store(&arena->snapshot.trouble, -EACCES);
}

/* The arena's head is filled, and nobody has been greeted. */
static int prepare(struct attached *a, struct diag *d)
{
	target_hold(&a->target);
	a->service.first_pair =
		clock_pair_read(atomic_load(&a->target.arena->clock) == ARENA_CLOCK_TICKS);
	name_repository(a);
	open_door(a);
	reception_tell_target(&a->reception);
	return start_recorder(a, d);
}

static void *work(void *argument)
{
	struct attached *a = argument;
	struct diag d = DIAG_INIT;

	self_ask_for_low_latency();
	if (target_meet(&a->target, &d) || prepare(a, &d)) {
		hello_fail(&a->target, &d);
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

/* Any thread. */
static void describe(struct status *s, void *context)
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

static int init_loop(struct attached *a)
{
	int r = uv_loop_init(&a->loop);

	if (!r)
		r = uv_async_init(&a->loop, &a->gone, close_listener);
	if (!r)
		r = uv_async_init(&a->loop, &a->finished, on_finished);
	if (!r)
		r = uv_async_init(&a->loop, &a->met, on_met);
	if (!r)
		r = joins_init(&a->joins, &a->family, &a->loop);
	if (!r)
		r = exit_watch_start(&a->exited, &a->loop, &a->target);
	a->gone.data = a->finished.data = a->met.data = a;
	/* Nobody shall connect to one that only writes its program's own trace. */
	return r || !a->has_listener ? r : reception_open(&a->reception, &a->loop);
}

static int start(struct attached *a, pid_t pid, struct diag *d)
{
	int r = target_open(&a->target, SPAWN_FD_ARENA, pid, d);

	if (r)
		return r;
	if (a->is_lent)
		lent_look(&a->target);
	family_init(&a->family, &a->target);
	session_init(&a->session, &a->family, say_gone, a);
	a->session.repository = &a->service.repository;
	a->session.way = &a->reception.private.door_file;
	a->service.session = &a->session;
	errands_init(&a->service.errands);
	health_init(&a->service.health);
	reception_init(&a->reception, &a->service, &a->target);
	a->service.describe = describe;
	a->service.context = a;
	a->since_ns = realtime_ns();
	r = init_loop(a);
	if (r)
		return diag_set(d, r, "event loop: %s", uv_strerror(r));
	r = pthread_create(&a->worker, NULL, work, a);
	if (r)
		return diag_set(
			d, -r, "worker thread: %s; raise the limit on processes", errno_words(r));
	pthread_setname_np(a->worker, "ptap-worker");
	return 0;
}

/* 0: the program goes on to meet this server, or did from the beginning. */
static int tell_program(const struct attached *a, int result)
{
	return a->is_lent ? lent_answer(&a->target, result) : 0;
}

static int start_and_tell(struct attached *a, pid_t pid, struct diag *d)
{
	int r = start(a, pid, d);
	int is_gone = tell_program(a, r);

	return r || !is_gone ? r : diag_set(d, is_gone, "the program does not wait for its server");
}

int attached_run(pid_t pid, int is_lent)
{
	static struct attached a;
	struct diag d = DIAG_INIT;

	a.is_lent = is_lent;
	/* Before anything else gets that number. */
	a.has_listener = fcntl(SPAWN_FD_LISTENER, F_GETFD) >= 0;
	self_offer_to_oom_killer();
	self_ignore_signals();
	self_raise_limits();
	log_set_sink(journal_write, &a.target);
	if (start_and_tell(&a, pid, &d)) {
		log_error(LOG_TARGET, "%s", d.text);
		if (a.target.arena)
			hello_fail(&a.target, &d);
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
