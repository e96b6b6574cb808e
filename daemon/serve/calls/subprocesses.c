/* SPDX-License-Identifier: Apache-2.0 */
/* One trace of a program and its descendants; see subprocesses.h. */
#include "daemon/serve/calls/subprocesses.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/diag.h"
#include "daemon/kernel/headroom.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/assembly/spool.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/serve/calls/capture_group.h"
#include "daemon/serve/calls/descendants.h"
#include "daemon/serve/calls/errand.h"
#include "daemon/serve/session/session.h"
#include "daemon/serve/session/session_request.h"
#include "daemon/target/family.h"
#include "daemon/target/target.h"
#include "rpc/client.h"
#include "trace/model/space.h"
#include "trace/xspace/graft.h"
#include "trace/xspace/xspace.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

/* The share of the answer that is kept for warnings about processes that were not recorded. */
#define WARNINGS_BYTES (UINT64_C(64) << 10)
/* The pause before a server that could not be reached is asked again. */
#define RETRY_NS (NS_PER_S / 10)
/* The pause between two searches for new programs. */
#define POLL_MS 20
/*
 * All children are asked to end at the same time. A running server answers within this time even on
 * a very busy machine.
 */
#define END_NS (5 * NS_PER_S)
/* The longest silence of a server while it makes a trace. */
#define SILENCE_NS (10 * NS_PER_S)
/* The longest wait for data from one child in a round, as another child's data may have come. */
#define END_WAIT_MS 2
/*
 * The size of the part of a child's trace that is in memory while the trace is read; a multiple of
 * every page size.
 */
#define LET_GO_BYTES ((size_t)4 << 20)

typedef Tensorflow__ProfileOptions__AdvancedConfigurationEntry Entry;

/* The request to each child, which is constant. */
struct child_request {
	Tensorflow__ProfileRequest message;
	Tensorflow__ProfileOptions options; /* borrows from |asked|; its map is |kept| */
	Tensorflow__ProfileOptions *asked; /* owned: the options of the original request */
	Entry **kept; /* malloc'ed */
};

struct subprocesses {
	struct errand *errand;
	struct session *session;
	struct registry *registry;
	struct session_request asker; /* the receiver of the outcome; never given to the session */
	uint64_t max_bytes; /* of all traces together */
	bool is_done; /* the program's own recording has ended; under the errands' mutex */
	int outcome; /* of the program's recording: a result of capture_run() */
	struct capture_result result;
	struct diag diag;
	struct child_request request;
	struct descendants children;
	struct capture_group group; /* its members have the same indices as |children| */
	/* the next two have the indices of |children|, too */
	char session_ids[DESCENDANTS_MAX][64];
	int64_t retry_ns[DESCENDANTS_MAX]; /* the time of the next attempt, or 0 */
};

bool subprocesses_are_wanted(const struct session_request *request)
{
	return profile_options_get_number(&request->capture.options, SUBPROCESSES_KEY, 0) != 0;
}

/* --- one trace ----------------------------------------------------------------------------- */

/* A child's trace while it becomes a part of the whole trace. */
struct joint {
	struct remote_capture *capture; /* borrowed */
	uint8_t *let_go; /* memory of the pages before this address was given back */
};

static int joint_let_go(const uint8_t *p, void *context)
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

static int joint_store(const struct chunks *bytes, uint64_t *offset, void *context)
{
	const struct joint *j = context;

	return remote_capture_append(j->capture, bytes, offset);
}

/* Shifts the child's trace to the time of the program's. |j| must live as long as |g|. */
static int child_graft(struct subprocesses *s, size_t i, struct joint *j, struct graft *g)
{
	struct remote_capture *c = &s->group.members[i].capture;

	g->n_bytes = (size_t)spool_get_bytes(c->trace.spool);
	g->data = spool_map(c->trace.spool);
	g->pid = s->children.v[i].pid;
	g->shift_ns = (int64_t)(c->start_unix_ns - s->result.start_unix_ns);
	g->pass = joint_let_go;
	g->store = joint_store;
	g->context = j;
	*j = (struct joint){.capture = c, .let_go = (uint8_t *)g->data};
	return g->data ? graft_make(g) : -ENOMEM;
}

static bool answer_has_room(const struct subprocesses *s, uint64_t n_bytes)
{
	uint64_t max_bytes = s->asker.capture.max_xspace_bytes;

	return !max_bytes ||
	       delivery_get_bytes(s->result.delivery) + n_bytes + WARNINGS_BYTES <= max_bytes;
}

static int append_graft(struct subprocesses *s, struct group_member *child, struct graft *g)
{
	uint64_t n_events = child->capture.n_events;
	struct delivery *part;
	int r;

	if (!answer_has_room(s, g->total_bytes)) {
		group_member_fail(child, "the answer has no room for its trace");
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

static int append_child(struct subprocesses *s, size_t i)
{
	struct group_member *child = &s->group.members[i];
	struct joint j;
	struct graft g = {.data = NULL};
	int r = child_graft(s, i, &j, &g);

	if (!r) {
		r = append_graft(s, child, &g);
	} else if (r != -ENOMEM) {
		group_member_fail(child, r == -EBADMSG ? "its answer is not a readable trace"
						       : "no room for its trace");
		r = 0;
	}
	graft_deinit(&g);
	return r;
}

static int make_warnings(const struct subprocesses *s, struct chunks *to)
{
	_cleanup_(space_freep) struct space *space = NULL;
	int r = space_new(&space);

	for (size_t i = 0; i < s->children.n && !r; i++)
		if (s->group.members[i].error[0] && !s->children.v[i].is_again)
			r = space_add_warning(space, "process %d was not recorded: %s",
				(int)s->children.v[i].pid, s->group.members[i].error);
	if (!r && s->children.n_left_out)
		r = space_add_warning(space,
			"processes that were not recorded: %d; a recording holds a program and at "
			"most %d others",
			s->children.n_left_out, DESCENDANTS_MAX);
	return r ? r : xspace_encode(space, to);
}

static int append_warnings(struct subprocesses *s)
{
	struct chunks encoded = CHUNKS_INIT;
	struct delivery *part;
	int r = make_warnings(s, &encoded);

	if (r)
		chunks_deinit(&encoded);
	else
		r = delivery_new_from_chunks(&encoded, &part);
	if (!r)
		delivery_append(s->result.delivery, part);
	return r;
}

/* Encoded messages of one type that follow each other are read as one message. */
static int join_children(struct subprocesses *s)
{
	int r = 0;

	for (size_t i = 0; i < s->group.n && !r; i++)
		if (s->group.members[i].capture.is_complete &&
			s->group.members[i].capture.trace.spool)
			r = append_child(s, i);
	if (!r)
		r = append_warnings(s);
	if (r)
		s->result.delivery = delivery_free(s->result.delivery);
	return r;
}

/* --- the session's part -------------------------------------------------------------------- */

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
 * The session frees its request when the program's own trace is complete. This copies the members
 * that are needed afterwards.
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
	request->capture.has_others = true;
	request->deliver = note_outcome;
	request->context = s;
}

static struct subprocesses *subprocesses_free(struct subprocesses *s)
{
	capture_group_deinit(&s->group);
	session_request_deinit(&s->asker);
	if (s->request.asked)
		tensorflow__profile_options__free_unpacked(s->request.asked, NULL);
	free(s->request.kept);
	free(s);
	return NULL;
}

/*
 * The requests to children lack the keys that concern the whole trace: this server finds all
 * descendants itself, and a host daemon adds the machine's counters once, to the whole trace.
 */
static void request_copy_keys(struct child_request *q)
{
	Tensorflow__ProfileOptions *o = &q->options;

	*o = *q->asked;
	o->n_advanced_configuration = 0;
	o->advanced_configuration = q->kept;
	for (size_t i = 0; i < q->asked->n_advanced_configuration; i++) {
		Entry *entry = q->asked->advanced_configuration[i];

		if (strcmp(entry->key, SUBPROCESSES_KEY) != 0 &&
			strcmp(entry->key, "ptap_machine_usage") != 0)
			q->kept[o->n_advanced_configuration++] = entry;
	}
}

static int request_init(struct child_request *q, const struct capture_request *asker)
{
	q->asked = tensorflow__profile_options__unpack(
		NULL, asker->n_options_bytes, asker->options_bytes);
	if (q->asked)
		q->kept = calloc(q->asked->n_advanced_configuration + 1, sizeof *q->kept);
	if (!q->kept)
		return -ENOMEM;
	request_copy_keys(q);
	q->options.duration_ms = UINT64_MAX;
	tensorflow__profile_request__init(&q->message);
	q->message.opts = &q->options;
	return 0;
}

static void choose_limits(struct subprocesses *s, const struct session_request *request)
{
	struct headroom headroom;

	s->max_bytes = capture_find_max_bytes(
		(uint64_t)profile_options_get_number(&request->capture.options,
			"ptap_max_capture_bytes",
			(int64_t)s->session->family->main->max_capture_bytes),
		&headroom);
	s->group.share.max_bytes = s->max_bytes;
	s->group.end_ns = END_NS;
	s->group.silence_ns = SILENCE_NS;
}

static struct subprocesses *subprocesses_new(
	const struct subprocesses_config *config, const struct session_request *request)
{
	struct subprocesses *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	s->errand = config->errand;
	s->session = config->session;
	s->registry = config->registry;
	choose_limits(s, request);
	return request_init(&s->request, &request->capture) ? subprocesses_free(s) : s;
}

int subprocesses_take(const struct subprocesses_config *config, struct session_request *request,
	struct subprocesses **out)
{
	struct subprocesses *s = subprocesses_new(config, request);
	int r;

	if (!s) {
		session_request_free(request);
		return -ENOMEM;
	}
	stand_between(s, request);
	r = session_take(s->session, request);
	*out = r ? subprocesses_free(s) : s;
	return r;
}

/* --- the recording ------------------------------------------------------------------------- */

static void ask_child(struct subprocesses *s, size_t i)
{
	struct group_member *m = &s->group.members[i];

	m->channel = rpc_channel_new_to(m->name);
	if (!m->channel)
		group_member_fail(m, "out of memory");
	capture_group_start_member(&s->group, m, &s->request.message);
}

static void start_child(struct subprocesses *s, const struct descendant *child)
{
	char *session_id = s->session_ids[s->group.n];
	struct group_member *m = capture_group_add(&s->group);

	snprintf(session_id, sizeof s->session_ids[0], "subprocess_%d_%lld", (int)child->pid,
		(long long)(realtime_ns() / NS_PER_MS));
	m->name = child->address;
	m->session_id = session_id;
	m->is_ours = true;
	ask_child(s, s->group.n - 1);
}

/*
 * Asks again a child whose server could not be reached: it may have been killed, or the process
 * executes another program, whose server opens the same socket.
 */
static void retry_child(struct subprocesses *s, size_t i)
{
	struct group_member *m = &s->group.members[i];
	int64_t now_ns = monotonic_ns();

	if (!s->retry_ns[i])
		s->retry_ns[i] = now_ns + RETRY_NS;
	if (now_ns < s->retry_ns[i])
		return;
	s->retry_ns[i] = 0;
	remote_capture_deinit(&m->capture);
	memset(&m->capture, 0, sizeof m->capture);
	ask_child(s, i);
}

/*
 * A child sends its trace when its program ends; the process may then run another program. A server
 * that refused the capture, for example because it records for another client, is not asked again.
 */
static void note_ended_children(struct subprocesses *s)
{
	for (size_t i = 0; i < s->group.n; i++) {
		const struct group_member *m = &s->group.members[i];

		s->children.v[i].has_ended = group_member_is_over(m) && m->capture.has_begun &&
					     !m->error[0] && !m->capture.error[0];
		if (remote_capture_is_unreachable(&m->capture))
			retry_child(s, i);
	}
}

/*
 * Records the children that run now and those that start later, until the program's own recording
 * has ended.
 */
static void follow_children(struct subprocesses *s)
{
	pid_t ancestor = s->session->family->main->pid;

	do {
		note_ended_children(s);
		descendants_find(&s->children, ancestor, s->registry);
		while (s->group.n < s->children.n)
			start_child(s, &s->children.v[s->group.n]);
		do
			capture_group_poll(&s->group, 0);
		while (s->group.turn.has_read);
	} while (!errand_await_for(s->errand, &s->is_done, POLL_MS));
}

static void await_outcome(struct subprocesses *s)
{
	if (errand_await_or_cancel(s->errand, &s->is_done))
		session_cancel(s->session, s->errand->call);
	errand_await(s->errand, &s->is_done);
}

/* The children may use the bytes that the session has not used. */
static uint64_t find_left_bytes(const struct subprocesses *s)
{
	uint64_t n_bytes = delivery_get_bytes(s->result.delivery);

	return n_bytes < s->max_bytes ? s->max_bytes - n_bytes : 0;
}

static void end_children(struct subprocesses *s)
{
	disk_share_lower(&s->group.share, find_left_bytes(s));
	capture_group_ask_to_end(&s->group);
	while (!errand_is_cancelled(s->errand) && capture_group_poll(&s->group, END_WAIT_MS))
		;
	capture_group_end(&s->group);
}

void subprocesses_record(struct subprocesses *s)
{
	follow_children(s);
	await_outcome(s);
	if (!s->outcome) {
		end_children(s);
		s->outcome = join_children(s);
	}
	s->asker.deliver(&s->asker, s->outcome, &s->result, &s->diag);
	subprocesses_free(s);
}
