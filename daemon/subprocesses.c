/* SPDX-License-Identifier: Apache-2.0 */
/* One trace of a program and its descendants; see subprocesses.h. */
#include "daemon/subprocesses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "daemon/capture.h"
#include "daemon/delivery.h"
#include "daemon/descendants.h"
#include "daemon/errand.h"
#include "daemon/family.h"
#include "daemon/service.h"
#include "daemon/session.h"
#include "daemon/session_request.h"
#include "daemon/target.h"
#include "trace/merge.h"
#include "trace/space.h"
#include "trace/xspace.h"

/* Of what may be sent: for the warnings about those that are not in it. */
#define WARNINGS_BYTES (UINT64_C(64) << 10)

struct subprocesses {
	struct errand *errand;
	struct session_request asker; /* who asked, and how that one is told; never the session's */
	uint8_t *options; /* malloc'ed: as the asker serialised them */
	size_t n_options_bytes;
	int is_done; /* the program's own recording; under the errands' mutex */
	int outcome; /* as capture_run() */
	struct capture_result result;
	struct diag diag;
	struct descendants children;
};

int subprocesses_are_wanted(const struct session_request *request)
{
	return profile_options_get_number(&request->options, DESCENDANTS_KEY, 0) != 0;
}

/* One trace. */

static int append_space(struct chunks *to, const struct space *space)
{
	struct chunks encoded = CHUNKS_INIT;
	int r = xspace_encode(space, &encoded);

	if (r)
		chunks_deinit(&encoded);
	else
		chunks_take(to, &encoded);
	return r ? r : to->error;
}

static void count(struct capture_result *result, const struct space *space)
{
	for (size_t i = 0; i < space->n_planes; i++) {
		const struct plane *plane = space->planes[i];

		result->n_dropped += (uint64_t)plane_find_int(plane, "dropped_traces");
		for (size_t k = 0; k < plane->n_lines; k++)
			result->n_events += plane->lines[k].n_events;
	}
	if (!space_is_empty(space))
		result->is_empty = 0;
}

static int has_room(const struct subprocesses *s, const struct chunks *to, uint64_t n_bytes)
{
	uint64_t max_bytes = s->asker.max_xspace_bytes;

	return !max_bytes || to->total_bytes + n_bytes + WARNINGS_BYTES <= max_bytes;
}

/* The child's trace, on this one's time. 0, -ENOMEM, or -EBADMSG. */
static int prepare(const struct subprocesses *s, struct descendant *child, struct space **out)
{
	int r = delivery_decode(child->profile.trace, out);

	return r ? r : merge_prepare(*out, (int64_t)s->result.start_unix_ns, child->pid);
}

static int append_child(struct subprocesses *s, struct descendant *child, struct chunks *to)
{
	_cleanup_(space_freep) struct space *space = NULL;
	struct chunks encoded = CHUNKS_INIT;
	int r = prepare(s, child, &space);

	if (r == -EBADMSG) {
		remote_profile_fail(&child->profile, "its answer is not a readable trace");
		return 0;
	}
	if (!r)
		r = xspace_encode(space, &encoded);
	if (r || !has_room(s, to, encoded.total_bytes)) {
		remote_profile_fail(&child->profile, "the answer has no room for its trace");
		chunks_deinit(&encoded);
		return r;
	}
	count(&s->result, space);
	chunks_take(to, &encoded);
	return to->error;
}

static int append_warnings(const struct descendants *children, struct chunks *to)
{
	_cleanup_(space_freep) struct space *space = NULL;
	int r = space_new(&space);

	for (size_t i = 0; i < children->n && !r; i++)
		if (children->v[i].profile.error[0])
			r = space_add_warning(space, "process %d was not recorded: %s",
				(int)children->v[i].pid, children->v[i].profile.error);
	if (!r && children->n_left_out)
		r = space_add_warning(space,
			"processes that were not recorded: %d; a program and %d others are at a time",
			children->n_left_out, DESCENDANTS_MAX);
	return r ? r : append_space(to, space);
}

/* Messages of one kind, one behind the other, are one message. */
static int join(struct subprocesses *s)
{
	struct chunks all = CHUNKS_INIT;
	int r = 0;

	delivery_take_chunks(s->result.delivery, &all);
	s->result.delivery = delivery_free(s->result.delivery);
	for (size_t i = 0; i < s->children.n && !r; i++)
		if (s->children.v[i].profile.trace)
			r = append_child(s, &s->children.v[i], &all);
	if (!r)
		r = append_warnings(&s->children, &all);
	if (!r)
		return delivery_new_from_chunks(&all, &s->result.delivery);
	chunks_deinit(&all);
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

/* The session frees its request when the program's own trace is there: what comes after is kept here. */
static void stand_between(struct subprocesses *s, struct session_request *request)
{
	s->asker.deliver = request->deliver;
	s->asker.context = request->context;
	s->asker.call = request->call;
	s->asker.emit_xspace = request->emit_xspace;
	s->asker.run = request->run;
	s->asker.host_name = request->host_name;
	s->asker.max_xspace_bytes = request->max_xspace_bytes;
	profile_options_init(&s->asker.options);
	if (request->max_xspace_bytes)
		request->max_xspace_bytes -= WARNINGS_BYTES;
	request->run = NULL;
	request->host_name = NULL;
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
	s->options = malloc(request->n_options_bytes + 1);
	if (!s->options)
		return -ENOMEM;
	memcpy(s->options, request->options_bytes, request->n_options_bytes);
	s->n_options_bytes = request->n_options_bytes;
	return 0;
}

int subprocesses_take(struct errand *e, struct session_request *request, struct subprocesses **out)
{
	struct subprocesses *s = calloc(1, sizeof *s);
	int r;

	if (!s || copy_options(s, request)) {
		free(s);
		session_request_free(request);
		return -ENOMEM;
	}
	s->errand = e;
	stand_between(s, request);
	r = session_take(e->service->session, request);
	*out = r ? free_subprocesses(s) : s;
	return r;
}

static void await_outcome(struct subprocesses *s)
{
	if (errand_await_or_cancel(s->errand, &s->is_done))
		session_cancel(s->errand->service->session, s->errand->call);
	errand_await(s->errand, &s->is_done);
}

void subprocesses_record(struct subprocesses *s)
{
	descendants_find(&s->children, s->errand->service->session->family->main->pid);
	descendants_start(&s->children, s->options, s->n_options_bytes);
	await_outcome(s);
	if (!s->outcome) {
		descendants_end(&s->children, s->errand);
		s->outcome = join(s);
	}
	s->asker.deliver(&s->asker, s->outcome, &s->result, &s->diag);
	free_subprocesses(s);
}
