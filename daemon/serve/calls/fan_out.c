/* SPDX-License-Identifier: Apache-2.0 */
/* One recording of many hosts; see fan_out.h. */
#include "daemon/serve/calls/fan_out.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/local_name.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/serve/calls/errand.h"
#include "daemon/serve/calls/subprocesses.h"
#include "daemon/serve/message/request.h"
#include "daemon/serve/session/repository.h"
#include "daemon/serve/session/session.h"
#include "daemon/serve/session/session_request.h"
#include "daemon/target/family.h"
#include "daemon/target/target.h"
#include "proto/pack.h"
#include "trace/run_dir.h"

/* --- hosts --------------------------------------------------------------------------------- */

static bool host_is_own(const struct arena *arena, const char *host)
{
	char name[256];

	if (local_name_is(host) || strcmp(host, "127.0.0.1") == 0 || strcmp(host, "[::1]") == 0)
		return true;
	repository_name_host(name, sizeof name);
	return strcmp(host, name) == 0 || strncmp(host, arena->address, sizeof arena->address) == 0;
}

static bool address_is_own(const struct fan_out *f, const char *address)
{
	const struct arena *arena = f->session->family->main->arena;
	const char *colon = strrchr(address, ':');
	char host[256];

	if (!colon || strtoul(colon + 1, NULL, 10) != arena->port)
		return false;
	snprintf(host, sizeof host, "%.*s", (int)(colon - address), address);
	return host_is_own(arena, host);
}

#define DIGITS "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

static bool text_is_port(const char *text)
{
	size_t n = strspn(text, DIGITS);
	unsigned long port = strtoul(text, NULL, 10);

	return n > 0 && n < 6 && !text[n] && port > 0 && port <= UINT16_MAX;
}

/* gRPC would also connect to a path or to another scheme, which a client must not choose. */
static bool text_is_address(const char *text)
{
	const char *colon = strrchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : 0;
	size_t n_host = n > 2 && text[0] == '[' && text[n - 1] == ']'
				? 2 + strspn(text + 1, DIGITS "abcdefABCDEF:.")
				: strspn(text, DIGITS LETTERS ".-_");

	return n > 0 && n == n_host && text_is_port(colon + 1);
}

static bool address_is_known(const struct fan_out *f, const char *address)
{
	for (size_t i = 0; i < f->group.n; i++)
		if (strcmp(f->group.members[i].name, address) == 0)
			return true;
	return f->own && address_is_own(f, address);
}

static void set_own_member(struct fan_out *f, struct group_member *member)
{
	member->is_local = true;
	f->own = member;
}

int fan_out_add(struct fan_out *f, const char *address, struct diag *d)
{
	struct group_member *m;

	if (!text_is_address(address) || strlen(address) >= sizeof m->capture.address)
		return diag_set(d, -EINVAL, "host \"%.100s\": must be HOST:PORT", address);
	if (address_is_known(f, address))
		return 0;
	if (f->group.n - (f->own != NULL) == FAN_OUT_MAX_HOSTS)
		return diag_set(d, -EINVAL, "there may be %d hosts at most", FAN_OUT_MAX_HOSTS);
	m = capture_group_add(&f->group);
	m->name = address;
	if (address_is_own(f, address))
		set_own_member(f, m);
	return 0;
}

/* This server's program is recorded, whether it is among the hosts or not. */
static void add_own_member(struct fan_out *f)
{
	if (f->own)
		return;
	set_own_member(f, capture_group_add(&f->group));
	repository_name_host(f->own_name, 256);
	snprintf(f->own_name + strlen(f->own_name), 16, "_%u",
		f->session->family->main->arena->port);
	f->own->name = f->own_name;
}

/* --- this server's own program ------------------------------------------------------------- */

static void deliver_own_trace(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	struct fan_out *f = request->context;

	f->own->trace = result->delivery;
	f->own->is_empty = result->is_empty;
	if (r == CAPTURE_NO_TARGET)
		group_member_fail(f->own, session_gone_text);
	else if (r)
		group_member_fail(f->own, d->text[0] ? d->text : "it could not record");
	errand_raise(f->errand, &f->is_own_done);
}

/*
 * Makes a request like that of a Profile call. Returns NULL on failure, with the member's |error|.
 */
static struct session_request *make_own_request(struct fan_out *f)
{
	Tensorflow__ProfileRequest asked = f->asked;
	_cleanup_free_ uint8_t *bytes = NULL;
	struct session_request *request = NULL;
	struct diag d = DIAG_INIT;
	size_t n = 0;
	int r;

	asked.host_name = (char *)f->own->name;
	r = proto_pack(&asked.base, &bytes, &n);
	if (!r)
		r = request_decode(bytes, n, &request, &d);
	if (r) {
		group_member_fail(f->own, r == -ENOMEM ? "out of memory" : d.text);
		return NULL;
	}
	request->call = f->errand->call;
	request->deliver = deliver_own_trace;
	request->context = f;
	return request;
}

/* A new thread waits for the subprocesses, while the call's thread waits for other hosts. */
static void *tree_thread_run(void *tree)
{
	subprocesses_record(tree);
	return NULL;
}

static int record_own_tree(struct fan_out *f, struct session_request *request)
{
	int r = subprocesses_take(&(struct subprocesses_config){f->errand, f->session, f->registry},
		request, &f->tree);

	if (r)
		return r;
	f->has_tree_thread = pthread_create(&f->tree_thread, NULL, tree_thread_run, f->tree) == 0;
	if (f->has_tree_thread)
		pthread_setname_np(f->tree_thread, "ptap-tree");
	return 0;
}

static void start_own_program(struct fan_out *f)
{
	struct session_request *request = make_own_request(f);
	int r;

	f->is_own_done = true;
	if (!request)
		return;
	f->is_own_done = false;
	r = subprocesses_are_wanted(request) ? record_own_tree(f, request)
					     : session_take(f->session, request);
	if (!r)
		return;
	f->is_own_done = true;
	group_member_fail(f->own,
		r == -ENOMEM ? "out of memory" : "busy: another profiling session is active");
}

static int await_own_program(struct fan_out *f, bool is_cancelled)
{
	/*
	 * If no thread could be started, the subprocesses are recorded here, and stop later than
	 * all other programs.
	 */
	if (f->tree && !f->has_tree_thread)
		subprocesses_record(f->tree);
	if (!is_cancelled)
		is_cancelled = errand_await_or_cancel(f->errand, &f->is_own_done);
	if (is_cancelled)
		session_cancel(f->session, f->errand->call);
	errand_await(f->errand, &f->is_own_done);
	if (f->has_tree_thread)
		pthread_join(f->tree_thread, NULL);
	return is_cancelled;
}

/* --- all hosts ------------------------------------------------------------------------------ */

/* Each host gets the client's request, but returns its data and writes no file. */
static void set_request(struct fan_out *f)
{
	f->asked = *f->request;
	f->asked.emit_xspace = 1;
	f->asked.repository_root = (char *)"";
	f->asked.session_id = (char *)f->session_id;
}

static bool is_cancelled(void *context)
{
	return errand_is_cancelled(context);
}

int fan_out_record(struct fan_out *f)
{
	bool is_given_up;

	add_own_member(f);
	set_request(f);
	/* Only the room on the disk limits the traces. */
	f->group.share.max_bytes = UINT64_MAX;
	capture_group_start(&f->group, &f->asked);
	start_own_program(f);
	is_given_up = capture_group_record(&f->group, is_cancelled, f->errand);
	is_given_up = await_own_program(f, is_given_up);
	capture_group_end(&f->group);
	return is_given_up;
}

static void publish_member(struct fan_out *f, struct group_member *m, const char *root)
{
	struct run_dir run;
	struct diag d = DIAG_INIT;
	int r;

	if (!m->trace || m->is_empty || m->error[0])
		return;
	r = repository_open_run(f->repository, root, f->session_id, &run, &d);
	if (!r) {
		r = repository_publish(&run, m->trace, m->name, &d);
		run_dir_close(&run);
	}
	if (r)
		group_member_fail(m, d.text);
	/* Frees the disk space for the next file. */
	group_member_deinit(m);
}

void fan_out_publish(struct fan_out *f, const char *root)
{
	for (size_t i = 0; i < f->group.n; i++)
		publish_member(f, &f->group.members[i], root);
}

void fan_out_deinit(struct fan_out *f)
{
	capture_group_deinit(&f->group);
}
