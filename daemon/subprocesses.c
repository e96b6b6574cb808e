/* SPDX-License-Identifier: Apache-2.0 */
/* One trace of a program and its descendants; see subprocesses.h. */
#include "daemon/subprocesses.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/runtime_dir.h"
#include "daemon/capture.h"
#include "daemon/delivery.h"
#include "daemon/errand.h"
#include "daemon/family.h"
#include "daemon/lineage.h"
#include "daemon/profile_calls.h"
#include "daemon/remote_profile.h"
#include "daemon/reply.h"
#include "daemon/service.h"
#include "daemon/session.h"
#include "daemon/session_request.h"
#include "daemon/target.h"
#include "rpc/server.h"
#include "trace/merge.h"
#include "trace/space.h"
#include "trace/xspace.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

#define MAX_CHILDREN 64
/* What collecting may take beyond the program's own. */
#define GRACE_NS (10 * NS_PER_S)
#define LOOK_MS 50
#define KEY "profile_subprocesses"

typedef Tensorflow__ProfileRequest Asked;

struct descendant {
	pid_t pid;
	char session_id[64];
	struct remote_profile profile;
};

struct tree {
	struct errand *errand;
	Asked *asked;
	struct session_request *request; /* the program's own; the session's once it is taken */
	int emit_xspace;
	int is_done; /* it was delivered; under the errands' mutex */
	int outcome; /* as capture_run() */
	struct capture_result result;
	struct diag diag;
	struct descendant children[MAX_CHILDREN];
	size_t n_children;
	int n_left_out;
};

/* The children. */

static void add_child(struct tree *t, const char *dir, pid_t pid)
{
	pid_t ancestor = t->errand->service->session->family->main->pid;
	struct descendant *child = &t->children[t->n_children];

	if (pid == ancestor || !lineage_descends("", pid, ancestor))
		return;
	if (t->n_children == MAX_CHILDREN) {
		t->n_left_out++;
		return;
	}
	child->pid = pid;
	snprintf(child->session_id, sizeof child->session_id, "subprocess_%d_%lld", (int)pid,
		(long long)(realtime_ns() / NS_PER_MS));
	snprintf(child->profile.address, sizeof child->profile.address, "unix:%s/%d.sock", dir,
		(int)pid);
	t->n_children++;
}

static void look_into(struct tree *t, const char *path)
{
	DIR *dir = runtime_dir_check(path, geteuid()) ? NULL : opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char *end;
		long pid = strtol(entry->d_name, &end, 10);

		if (pid > 0 && pid <= INT32_MAX && strcmp(end, ".sock") == 0)
			add_child(t, path, (pid_t)pid);
	}
	if (dir)
		closedir(dir);
}

static void find_children(struct tree *t)
{
	char path[RUNTIME_DIR_MAX_BYTES];

	for (unsigned i = 0; i < RUNTIME_DIR_PLACES; i++)
		if (runtime_dir_get(i, path) == 0)
			look_into(t, path);
}

/* This tree is known here: children need not look for it again. */
static void clear_key(Tensorflow__ProfileOptions *o)
{
	for (size_t i = 0; i < o->n_advanced_configuration; i++) {
		Tensorflow__ProfileOptions__AdvancedConfigurationEntry *e =
			o->advanced_configuration[i];

		if (strcmp(e->key, KEY) == 0 && e->value &&
			e->value->value_case ==
				TENSORFLOW__PROFILE_OPTIONS__ADVANCED_CONFIG_VALUE__VALUE_BOOL_VALUE)
			e->value->bool_value = 0;
	}
}

static void start_child(struct tree *t, struct descendant *child)
{
	Asked request = *t->asked;
	Tensorflow__ProfileOptions options = *t->asked->opts;
	char address[sizeof child->profile.address];
	_cleanup_free_ uint8_t *bytes = NULL;

	request.opts = &options;
	request.emit_xspace = 1;
	request.repository_root = (char *)"";
	request.session_id = options.session_id = child->session_id;
	request.duration_ms = options.duration_ms = UINT64_MAX;
	bytes = malloc(tensorflow__profile_request__get_packed_size(&request) + 1);
	strcpy(address, child->profile.address);
	if (bytes)
		remote_profile_start(&child->profile, address, bytes,
			tensorflow__profile_request__pack(&request, bytes), -1);
}

static void end_children(struct tree *t)
{
	int64_t give_up_ns = monotonic_ns() + GRACE_NS;

	for (size_t i = 0; i < t->n_children; i++)
		remote_profile_terminate(&t->children[i].profile, t->children[i].session_id);
	for (size_t i = 0; i < t->n_children; i++) {
		struct remote_profile *p = &t->children[i].profile;

		while (monotonic_ns() < give_up_ns && !errand_is_cancelled(t->errand) &&
			!remote_profile_wait(p, LOOK_MS))
			;
		remote_profile_end(p);
	}
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

static int read_space(struct delivery *d, struct space **out)
{
	size_t n = (size_t)delivery_get_bytes(d);
	_cleanup_free_ uint8_t *bytes = malloc(n + 1);
	struct diag diag = DIAG_INIT;
	size_t done = 0;

	while (bytes && done < n) {
		ssize_t part = delivery_read(d, bytes + done, n - done);

		if (part <= 0)
			return part ? (int)part : -EIO;
		done += (size_t)part;
	}
	return bytes ? xspace_decode(bytes, n, out, &diag) : -ENOMEM;
}

static int append_child(struct tree *t, struct descendant *child, struct chunks *to)
{
	_cleanup_(space_freep) struct space *space = NULL;
	int r;

	if (!child->profile.trace)
		return 0;
	r = read_space(child->profile.trace, &space);
	if (r == -EBADMSG) {
		remote_profile_fail(&child->profile, "its answer is not a readable trace");
		return 0;
	}
	if (!r)
		r = merge_prepare(space, (int64_t)t->result.start_unix_ns, child->pid);
	if (!r && !space_is_empty(space))
		t->result.is_empty = 0;
	return r ? r : append_space(to, space);
}

static int append_warnings(struct tree *t, struct chunks *to)
{
	_cleanup_(space_freep) struct space *space = NULL;
	int r = space_new(&space);

	for (size_t i = 0; i < t->n_children && !r; i++)
		if (t->children[i].profile.error[0])
			r = space_add_warning(space, "process %d was not recorded: %s",
				(int)t->children[i].pid, t->children[i].profile.error);
	if (!r && t->n_left_out)
		r = space_add_warning(space,
			"processes that were not recorded: %d; a program and %d others are at a time",
			t->n_left_out, MAX_CHILDREN);
	return r ? r : append_space(to, space);
}

/* Messages of one kind, one behind the other, are one message. */
static int join(struct tree *t)
{
	struct chunks all = CHUNKS_INIT;
	int r = 0;

	delivery_take_chunks(t->result.delivery, &all);
	t->result.delivery = delivery_free(t->result.delivery);
	for (size_t i = 0; i < t->n_children && !r; i++)
		r = append_child(t, &t->children[i], &all);
	if (!r)
		r = append_warnings(t, &all);
	if (!r)
		return delivery_new_from_chunks(&all, &t->result.delivery);
	chunks_deinit(&all);
	return r;
}

/* The program. */

static void deliver(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	struct tree *t = request->context;

	t->outcome = r;
	t->result = *result;
	t->diag = *d;
	errand_raise(t->errand, &t->is_done);
}

static void record(struct tree *t)
{
	struct session *session = t->errand->service->session;

	for (size_t i = 0; i < t->n_children; i++)
		start_child(t, &t->children[i]);
	if (errand_await_or_cancel(t->errand, &t->is_done))
		session_cancel(session, t->errand->call);
	errand_await(t->errand, &t->is_done);
	end_children(t);
	if (!t->outcome)
		t->outcome = join(t);
	if (t->outcome)
		reply_failure(t->errand->call, t->outcome, &t->diag);
	else
		reply_profile(t->errand->call, &t->result, t->emit_xspace);
	for (size_t i = 0; i < t->n_children; i++)
		remote_profile_deinit(&t->children[i].profile);
}

static void run(struct tree *t)
{
	struct session *session = t->errand->service->session;
	struct session_request *request;
	int r;

	if (profile_call_decode(
		    t->errand->call, t->errand->request, t->errand->request_bytes, &request))
		return;
	t->emit_xspace = request->emit_xspace;
	request->deliver = deliver;
	request->context = t;
	r = session_take(session, request);
	if (r == SESSION_BUSY)
		session_describe(session, t->diag.text, sizeof t->diag.text);
	if (r) {
		reply_failure(t->errand->call, r == SESSION_BUSY ? CAPTURE_BUSY : CAPTURE_NO_TARGET,
			&t->diag);
		return;
	}
	clear_key(t->asked->opts);
	find_children(t);
	record(t);
}

void subprocesses_profile(struct errand *e)
{
	struct tree *t = calloc(1, sizeof *t);

	if (t)
		t->asked = tensorflow__profile_request__unpack(NULL, e->request_bytes, e->request);
	if (t && t->asked && t->asked->opts) {
		t->errand = e;
		run(t);
	} else {
		rpc_call_fail(e->call, RPC_RESOURCE_EXHAUSTED,
			"the profiler server is out of memory; record less");
	}
	if (t && t->asked)
		tensorflow__profile_request__free_unpacked(t->asked, NULL);
	free(t);
}
