/* SPDX-License-Identifier: Apache-2.0 */
/* One trace of a program and its descendants; see subprocesses.h. */
#include "daemon/serve/calls/subprocesses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "daemon/kernel/headroom.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/assembly/spool.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/serve/calls/descendants.h"
#include "daemon/serve/calls/errand.h"
#include "daemon/serve/session/session.h"
#include "daemon/serve/session/session_request.h"
#include "daemon/target/family.h"
#include "daemon/target/target.h"
#include "trace/model/space.h"
#include "trace/xspace/graft.h"
#include "trace/xspace/xspace.h"

/* The share of the answer that is kept for warnings about processes that were not recorded. */
#define WARNINGS_BYTES (UINT64_C(64) << 10)
/* The pause between two looks for programs that were started. */
#define LOOK_MS 20
/* This much of a child's trace is in memory while it is read; a multiple of every page size. */
#define LET_GO_BYTES ((size_t)4 << 20)

struct subprocesses {
	struct errand *errand;
	struct session *session;
	struct registry *registry;
	struct session_request asker; /* who asked, and how that one is told; never the session's */
	uint8_t *options; /* malloc'ed: as the asker serialised them */
	size_t n_options_bytes;
	uint64_t max_bytes; /* of all traces together */
	int is_done; /* the program's own recording; under the errands' mutex */
	int outcome; /* as capture_run() */
	struct capture_result result;
	struct diag diag;
	struct descendants children;
};

int subprocesses_are_wanted(const struct session_request *request)
{
	return profile_options_get_number(&request->capture.options, DESCENDANTS_KEY, 0) != 0;
}

/* One trace. */

/* A child's trace, being made a part of this one. */
struct joint {
	struct remote_capture *capture; /* borrowed */
	uint8_t *let_go; /* pages before it are not needed in memory */
};

static int let_go(const uint8_t *p, void *context)
{
	struct joint *j = context;
	size_t n = p > j->let_go ? (size_t)(p - j->let_go) : 0;

	if (n < LET_GO_BYTES)
		return 0;
	n -= n % LET_GO_BYTES;
	madvise(j->let_go, n, MADV_DONTNEED);
	j->let_go += n;
	return 0;
}

static int store(const struct chunks *bytes, uint64_t *offset, void *context)
{
	const struct joint *j = context;

	return remote_capture_append(j->capture, bytes, offset);
}

/* The child's trace, on this one's time. */
static int graft(const struct subprocesses *s, struct descendant *child, struct graft *g)
{
	struct remote_capture *c = &child->capture;
	struct joint j = {.capture = c};

	g->n_bytes = (size_t)spool_get_bytes(c->trace.spool);
	g->data = spool_map(c->trace.spool);
	g->pid = child->pid;
	g->shift_ns = (int64_t)(c->start_unix_ns - s->result.start_unix_ns);
	g->pass = let_go;
	g->store = store;
	g->context = &j;
	j.let_go = (uint8_t *)g->data;
	return g->data ? graft_make(g) : -ENOMEM;
}

static int has_room(const struct subprocesses *s, uint64_t n_bytes)
{
	uint64_t max_bytes = s->asker.capture.max_xspace_bytes;

	return !max_bytes ||
	       delivery_get_bytes(s->result.delivery) + n_bytes + WARNINGS_BYTES <= max_bytes;
}

static int append_graft(struct subprocesses *s, struct descendant *child, struct graft *g)
{
	uint64_t n_events = child->capture.n_events;
	struct delivery *part;
	int r;

	if (!has_room(s, g->total_bytes)) {
		remote_capture_fail(&child->capture, "the answer has no room for its trace");
		return 0;
	}
	r = delivery_new_from_graft(g, child->capture.trace.spool, &part);
	if (r)
		return r;
	delivery_append(s->result.delivery, part);
	n_events -= g->n_left_out < n_events ? g->n_left_out : n_events;
	s->result.n_events += n_events;
	s->result.n_dropped += child->capture.n_dropped;
	s->result.is_empty = s->result.is_empty && !n_events;
	return 0;
}

static int append_child(struct subprocesses *s, struct descendant *child)
{
	struct graft g = {.data = NULL};
	int r = graft(s, child, &g);

	if (!r) {
		r = append_graft(s, child, &g);
	} else if (r != -ENOMEM) {
		remote_capture_fail(&child->capture, r == -EBADMSG
							     ? "its answer is not a readable trace"
							     : "no room for its trace");
		r = 0;
	}
	graft_deinit(&g);
	return r;
}

static int make_warnings(const struct descendants *children, struct chunks *to)
{
	_cleanup_(space_freep) struct space *space = NULL;
	int r = space_new(&space);

	for (size_t i = 0; i < children->n && !r; i++)
		if (children->v[i].capture.error[0] && !children->v[i].is_again)
			r = space_add_warning(space, "process %d was not recorded: %s",
				(int)children->v[i].pid, children->v[i].capture.error);
	if (!r && children->n_left_out)
		r = space_add_warning(space,
			"processes that were not recorded: %d; a program and %d others are at a time",
			children->n_left_out, DESCENDANTS_MAX);
	return r ? r : xspace_encode(space, to);
}

static int append_warnings(struct subprocesses *s)
{
	struct chunks encoded = CHUNKS_INIT;
	struct delivery *part;
	int r = make_warnings(&s->children, &encoded);

	if (r)
		chunks_deinit(&encoded);
	else
		r = delivery_new_from_chunks(&encoded, &part);
	if (!r)
		delivery_append(s->result.delivery, part);
	return r;
}

/* Messages of one kind, one behind the other, are one message. */
static int join(struct subprocesses *s)
{
	int r = 0;

	for (size_t i = 0; i < s->children.n && !r; i++)
		if (s->children.v[i].capture.is_complete && s->children.v[i].capture.trace.spool)
			r = append_child(s, &s->children.v[i]);
	if (!r)
		r = append_warnings(s);
	if (r)
		s->result.delivery = delivery_free(s->result.delivery);
	return r;
}

/* The session's part. */

static void note_outcome(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	struct subprocesses *s = request->context;

	s->outcome = r;
	s->result = *result;
	result->delivery = NULL;
	s->diag = *d;
	errand_raise(s->errand, &s->is_done);
}

/*
 * The session frees its request when the program's own trace is there: what comes after is kept
 * here.
 */
static void stand_between(struct subprocesses *s, struct session_request *request)
{
	s->asker.deliver = request->deliver;
	s->asker.context = request->context;
	s->asker.call = request->call;
	s->asker.emit_xspace = request->emit_xspace;
	s->asker.run = request->run;
	s->asker.host_name = request->host_name;
	s->asker.capture.max_xspace_bytes = request->capture.max_xspace_bytes;
	profile_options_init(&s->asker.capture.options);
	if (request->capture.max_xspace_bytes)
		request->capture.max_xspace_bytes -= WARNINGS_BYTES;
	request->run = NULL;
	request->host_name = NULL;
	request->capture.has_others = 1;
	request->deliver = note_outcome;
	request->context = s;
}

static struct subprocesses *free_subprocesses(struct subprocesses *s)
{
	descendants_deinit(&s->children);
	session_request_deinit(&s->asker);
	free(s->options);
	free(s);
	return NULL;
}

static int copy_options(struct subprocesses *s, const struct session_request *request)
{
	struct headroom headroom;

	s->options = malloc(request->capture.n_options_bytes + 1);
	if (!s->options)
		return -ENOMEM;
	memcpy(s->options, request->capture.options_bytes, request->capture.n_options_bytes);
	s->n_options_bytes = request->capture.n_options_bytes;
	s->max_bytes = capture_find_max_bytes(
		(uint64_t)profile_options_get_number(&request->capture.options,
			"ptap_max_capture_bytes",
			(int64_t)s->session->family->main->max_capture_bytes),
		&headroom);
	return 0;
}

int subprocesses_take(const struct subprocesses_config *config, struct session_request *request,
	struct subprocesses **out)
{
	struct subprocesses *s = calloc(1, sizeof *s);
	int r;

	if (s) {
		s->errand = config->errand;
		s->session = config->session;
		s->registry = config->registry;
	}
	if (!s || copy_options(s, request)) {
		free(s);
		session_request_free(request);
		return -ENOMEM;
	}
	stand_between(s, request);
	r = session_take(s->session, request);
	*out = r ? free_subprocesses(s) : s;
	return r;
}

/*
 * Records the programs that are there, and those that start meanwhile, until all have ended or the
 * time is over.
 */
static void follow(struct subprocesses *s)
{
	pid_t ancestor = s->session->family->main->pid;

	s->children.share.max_bytes = s->max_bytes;
	do {
		descendants_find(&s->children, ancestor, s->registry);
		descendants_start(&s->children, s->options, s->n_options_bytes);
		descendants_poll(&s->children);
	} while (!errand_await_for(s->errand, &s->is_done, LOOK_MS));
}

static void await_outcome(struct subprocesses *s)
{
	if (errand_await_or_cancel(s->errand, &s->is_done))
		session_cancel(s->session, s->errand->call);
	errand_await(s->errand, &s->is_done);
}

/* The children may use the bytes that the session left. */
static uint64_t left_bytes(const struct subprocesses *s)
{
	uint64_t n_bytes = delivery_get_bytes(s->result.delivery);

	return n_bytes < s->max_bytes ? s->max_bytes - n_bytes : 0;
}

void subprocesses_record(struct subprocesses *s)
{
	follow(s);
	await_outcome(s);
	if (!s->outcome) {
		descendants_end(&s->children, left_bytes(s), s->errand);
		s->outcome = join(s);
	}
	s->asker.deliver(&s->asker, s->outcome, &s->result, &s->diag);
	free_subprocesses(s);
}
