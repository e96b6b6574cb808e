/* SPDX-License-Identifier: Apache-2.0 */
/* One recording of many hosts; see fan_out.h. */
#include "daemon/fan_out.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/diag.h"
#include "daemon/capture.h"
#include "daemon/errand.h"
#include "daemon/family.h"
#include "daemon/repository.h"
#include "daemon/request.h"
#include "daemon/service.h"
#include "daemon/session.h"
#include "daemon/session_request.h"
#include "daemon/target.h"
#include "proto/pack.h"
#include "trace/run_dir.h"

/* Beyond the recording: what collecting may take. */
#define GRACE_MS 60000
#define LOOK_MS 50

/* Who. */

static int is_own_name(const struct arena *arena, const char *host)
{
	static const char *const local[] = {"localhost", "127.0.0.1", "[::1]"};
	char name[256];

	for (size_t i = 0; i < sizeof local / sizeof local[0]; i++)
		if (strcmp(host, local[i]) == 0)
			return 1;
	repository_name_host(name, sizeof name);
	return strcmp(host, name) == 0 || strncmp(host, arena->address, sizeof arena->address) == 0;
}

static int is_own(const struct fan_out *f, const char *address)
{
	const struct arena *arena = f->errand->service->session->family->main->arena;
	const char *colon = strrchr(address, ':');
	char host[256];

	if (!colon || strtoul(colon + 1, NULL, 10) != arena->port)
		return 0;
	snprintf(host, sizeof host, "%.*s", (int)(colon - address), address);
	return is_own_name(arena, host);
}

#define DIGITS "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

static int is_port(const char *text)
{
	size_t n = strspn(text, DIGITS);
	unsigned long port = strtoul(text, NULL, 10);

	return n > 0 && n < 6 && !text[n] && port > 0 && port <= UINT16_MAX;
}

/* Nothing else is connected to: no path, and no scheme of gRPC's. */
static int is_address(const char *text)
{
	const char *colon = strrchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : 0;
	size_t n_host = n > 2 && text[0] == '[' && text[n - 1] == ']'
				? 2 + strspn(text + 1, DIGITS "abcdefABCDEF:.")
				: strspn(text, DIGITS LETTERS ".-_");

	return n > 0 && n == n_host && is_port(colon + 1);
}

static int is_known(const struct fan_out *f, const char *address)
{
	for (size_t i = 0; i < f->n_hosts; i++)
		if (strcmp(f->hosts[i].name, address) == 0)
			return 1;
	return f->own && is_own(f, address);
}

int fan_out_add(struct fan_out *f, const char *address, struct diag *d)
{
	struct fan_out_host *h = &f->hosts[f->n_hosts];

	if (!is_address(address) || strlen(address) >= sizeof h->profile.address)
		return diag_set(d, -EINVAL, "host \"%.100s\": must be HOST:PORT", address);
	if (is_known(f, address))
		return 0;
	if (f->n_hosts - (f->own != NULL) == FAN_OUT_MAX_HOSTS)
		return diag_set(d, -EINVAL, "there may be %d hosts at most", FAN_OUT_MAX_HOSTS);
	h->name = address;
	if (is_own(f, address))
		f->own = h;
	f->n_hosts++;
	return 0;
}

/* It records itself, whether it is among the hosts or not. */
static void add_own(struct fan_out *f)
{
	if (f->own)
		return;
	f->own = &f->hosts[f->n_hosts++];
	repository_name_host(f->own_name, 256);
	snprintf(f->own_name + strlen(f->own_name), 16, "_%u",
		f->errand->service->session->family->main->arena->port);
	f->own->name = f->own_name;
}

/* What is asked: the client's request, but for the place of the data. */
static int pack_request(
	const struct fan_out *f, const struct fan_out_host *h, uint8_t **out, size_t *n)
{
	Tensorflow__ProfileRequest request = *f->request;

	request.emit_xspace = 1;
	request.repository_root = (char *)"";
	request.session_id = (char *)f->session_id;
	request.host_name = (char *)h->name;
	return proto_pack(&request.base, out, n);
}

/* This server. */

static void deliver_own(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	struct fan_out *f = request->context;

	f->own->profile.trace = result->delivery;
	f->own->profile.is_empty = result->is_empty;
	if (r == CAPTURE_NO_TARGET)
		remote_profile_fail(&f->own->profile, session_gone_text);
	else if (r)
		remote_profile_fail(&f->own->profile, d->text[0] ? d->text : "it could not record");
	errand_raise(f->errand, &f->is_own_done);
}

static void start_own(struct fan_out *f)
{
	struct session *session = f->errand->service->session;
	size_t n = 0;
	_cleanup_free_ uint8_t *bytes = NULL;
	struct session_request *request = NULL;
	struct diag d = DIAG_INIT;
	int r = pack_request(f, f->own, &bytes, &n);

	if (!r)
		r = request_decode(bytes, n, &request, &d);
	f->is_own_done = 1;
	snprintf(f->own->profile.address, sizeof f->own->profile.address, "%s", f->own->name);
	if (r) {
		remote_profile_fail(&f->own->profile, r == -ENOMEM ? "out of memory" : d.text);
		return;
	}
	request->call = f->errand->call;
	request->deliver = deliver_own;
	request->context = f;
	f->is_own_done = 0;
	if (session_take(session, request)) {
		f->is_own_done = 1;
		remote_profile_fail(&f->own->profile, "busy: another profiling session is active");
	}
}

/* The others. */

static int64_t find_timeout_ms(const struct fan_out *f)
{
	const Tensorflow__ProfileRequest *q = f->request;
	uint64_t ms = q->opts && q->opts->duration_ms ? q->opts->duration_ms : q->duration_ms;
	int64_t wait_ms =
		q->opts ? capture_find_wait_ns(q->opts->start_timestamp_ns) / NS_PER_MS : 0;

	return ms > INT32_MAX || wait_ms > INT32_MAX ? -1 : (int64_t)ms + wait_ms + GRACE_MS;
}

static void start_remote(struct fan_out *f, struct fan_out_host *h)
{
	size_t n = 0;
	_cleanup_free_ uint8_t *bytes = NULL;

	if (pack_request(f, h, &bytes, &n))
		remote_profile_fail(&h->profile, "out of memory");
	else
		remote_profile_start(&h->profile, h->name, bytes, n, find_timeout_ms(f));
}

/* All. */

/* 1 when the call is given up. */
static int wait_for_remotes(struct fan_out *f)
{
	int is_cancelled = 0;

	for (size_t i = 0; i < f->n_hosts; i++)
		while (!is_cancelled && !remote_profile_wait(&f->hosts[i].profile, LOOK_MS))
			is_cancelled = errand_is_cancelled(f->errand);
	return is_cancelled;
}

int fan_out_record(struct fan_out *f)
{
	int is_cancelled;

	add_own(f);
	for (size_t i = 0; i < f->n_hosts; i++)
		if (&f->hosts[i] != f->own)
			start_remote(f, &f->hosts[i]);
	start_own(f);
	is_cancelled = wait_for_remotes(f);
	if (!is_cancelled)
		is_cancelled = errand_await_or_cancel(f->errand, &f->is_own_done);
	if (is_cancelled)
		session_cancel(f->errand->service->session, f->errand->call);
	errand_await(f->errand, &f->is_own_done);
	for (size_t i = 0; i < f->n_hosts; i++)
		if (&f->hosts[i] != f->own)
			remote_profile_end(&f->hosts[i].profile);
	return is_cancelled;
}

static void publish(struct fan_out *f, struct fan_out_host *h, const char *root)
{
	struct run_dir run;
	struct diag d = DIAG_INIT;
	int r;

	if (!h->profile.trace || h->profile.is_empty || h->profile.error[0])
		return;
	r = repository_open_run(&f->errand->service->repository, root, f->session_id, &run, &d);
	if (!r) {
		r = repository_publish(&run, h->profile.trace, h->name, &d);
		run_dir_close(&run);
	}
	if (r)
		remote_profile_fail(&h->profile, d.text);
}

void fan_out_publish(struct fan_out *f, const char *root)
{
	for (size_t i = 0; i < f->n_hosts; i++)
		publish(f, &f->hosts[i], root);
}

void fan_out_deinit(struct fan_out *f)
{
	for (size_t i = 0; i < f->n_hosts; i++)
		remote_profile_deinit(&f->hosts[i].profile);
}
