/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of proftap.v1.Profiler that only ask. */
#include "daemon/serve/calls/service_handlers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/printable.h"
#include "base/status.h"
#include "daemon/kernel/headroom.h"
#include "daemon/kernel/identity.h"
#include "daemon/kernel/proc_file.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/serve/calls/service.h"
#include "daemon/serve/children/registry.h"
#include "daemon/serve/message/reply_message.h"
#include "daemon/serve/message/reply_v1.h"
#include "daemon/serve/message/target_message.h"
#include "daemon/serve/session/session.h"
#include "daemon/target/family.h"
#include "proftap/v1/profiler.pb-c.h"
#include "rpc/server.h"

/*
 * Fills in the status |s| of the program's server, which is the same for each process that it
 * records.
 */
static char *name_state(enum target_life life, const struct status *s)
{
	struct status own = *s;

	own.has_ended = life != TARGET_ALIVE;
	return (char *)status_name_state(&own);
}

/* The program that started the server. */
static void describe_main(
	const struct service *service, const struct status *s, struct target_message *e)
{
	target_message_describe(e, s);
	e->message.state = name_state(target_get_life(service->session->family->main), s);
}

static void describe_child(
	const struct child *child, const struct status *s, struct target_message *e)
{
	memset(e, 0, sizeof *e);
	proftap__v1__target__init(&e->message);
	e->message.pid = child->target.pid;
	e->message.since_unix_ns = (uint64_t)child->since_ns;
	e->message.state = name_state(target_get_life(&child->target), s);
	memcpy(e->name, child->target.name, sizeof e->name);
}

/* Takes longer than the family's mutex may be held. */
static void find_uid_and_stop(struct target_message *e)
{
	uid_t uid = 0;

	owner_find_uid("", e->message.pid, &uid);
	e->message.uid = uid;
	e->message.is_stopped = proc_is_stopped(e->message.pid);
}

/* Status. */

void profiler_handle_status(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct service *service = context;
	Proftap__V1__StatusReply reply = PROFTAP__V1__STATUS_REPLY__INIT;
	struct status status = {.pid = 0};
	struct headroom headroom;
	struct target_message target;
	char session[256];

	(void)bytes, (void)n;
	service->describe(&status, service->context);
	describe_main(service, &status, &target);
	target_message_link(&target);
	session_describe(service->session, session, sizeof session);
	printable_clean(session);
	reply.target = &target.message;
	reply.session = session;
	reply.version = status.version;
	reply.max_capture_bytes = capture_find_max_bytes(
		service->session->family->main->max_capture_bytes, &headroom);
	reply.unix_ns = (uint64_t)realtime_ns();
	reply.monotonic_ns = (uint64_t)monotonic_ns();
	reply_message(call, &reply.base);
}

/* List. */

struct list {
	struct target_message *entries; /* the program first */
	size_t n;
	size_t n_allocated;
	struct status status; /* of the program's server */
	int error; /* -ENOMEM */
};

static struct target_message *add(struct list *l)
{
	l->error = l->error ? l->error : grow(&l->entries, &l->n_allocated, l->n + 1);
	return l->error ? NULL : &l->entries[l->n++];
}

static void add_child(struct child *child, void *context)
{
	struct list *l = context;
	struct target_message *e = add(l);

	if (e)
		describe_child(child, &l->status, e);
}

static int compare_pids(const void *a, const void *b)
{
	const struct target_message *left = a, *right = b;

	return (left->message.pid > right->message.pid) - (left->message.pid < right->message.pid);
}

static void fill(struct service *service, struct list *l)
{
	struct target_message *e = add(l);

	service->describe(&l->status, service->context);
	if (e)
		describe_main(service, &l->status, e);
	family_visit(service->session->family, add_child, l);
	if (!l->error)
		qsort(l->entries + 1, l->n - 1, sizeof *l->entries, compare_pids);
}

/* Programs that told of themselves. */
struct subprocess_list {
	struct registered v[REGISTRY_MAX];
	Proftap__V1__Target messages[REGISTRY_MAX];
	Proftap__V1__Target *targets[REGISTRY_MAX];
	size_t n;
};

static void fill_subprocesses(struct service *service, struct subprocess_list *l)
{
	l->n = registry_list(service->registry, l->v);
	for (size_t i = 0; i < l->n; i++) {
		Proftap__V1__Target *target = l->targets[i] = &l->messages[i];

		proftap__v1__target__init(target);
		target->pid = l->v[i].pid;
		target->since_unix_ns = (uint64_t)l->v[i].since_ns;
		target->address = l->v[i].address;
		printable_clean(target->address);
	}
}

static void answer_list(struct rpc_call *call, struct list *l, struct subprocess_list *s)
{
	Proftap__V1__ListReply reply = PROFTAP__V1__LIST_REPLY__INIT;
	Proftap__V1__Target **targets = l->error ? NULL : calloc(l->n, sizeof *targets);

	if (!targets) {
		reply_v1_failure(call, -ENOMEM, NULL);
		return;
	}
	reply.n_subprocesses = s->n;
	reply.subprocesses = s->targets;
	for (size_t i = 0; i < l->n; i++) {
		if (i > 0)
			find_uid_and_stop(&l->entries[i]);
		target_message_link(&l->entries[i]);
		targets[i] = &l->entries[i].message;
	}
	reply.n_targets = l->n;
	reply.targets = targets;
	reply_message(call, &reply.base);
	free(targets);
}

void profiler_handle_list(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct list list = {.n = 0};
	struct subprocess_list *subprocesses = calloc(1, sizeof *subprocesses);

	(void)bytes, (void)n;
	fill(context, &list);
	if (subprocesses)
		fill_subprocesses(context, subprocesses);
	else
		list.error = -ENOMEM;
	answer_list(call, &list, subprocesses);
	free(subprocesses);
	free(list.entries);
}
