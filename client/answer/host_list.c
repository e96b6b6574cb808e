/* SPDX-License-Identifier: Apache-2.0 */
/* A host daemon's targets; see host_list.h. */
#include "client/answer/host_list.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/grow.h"
#include "base/printable.h"
#include "client/connect/exchange.h"
#include "client/connect/link.h"
#include "client/process/exit.h"
#include "client/target/address.h"
#include "client/target/targets.h"
#include "proftap/v1/profiler.pb-c.h"
#include "proto/pack.h"

#define TIMEOUT_MS 10000
/* Enough for an answer with some thousand targets. */
#define MAX_BYTES (4u << 20)

/* Parses an address. A bare name is a host here, not a program. */
static int parse_host(const char *text, struct address *out, struct diag *d)
{
	char with_port[sizeof out->host + 8];
	bool is_whole = strchr(text, ':') || text[strspn(text, "0123456789")] == '\0';

	if (is_whole)
		snprintf(with_port, sizeof with_port, "%s", text);
	else
		snprintf(with_port, sizeof with_port, "%s:%d", text, ADDRESS_HOST_PORT);
	return address_parse(with_port, NULL, out, d) ? EXIT_USAGE : EXIT_DONE;
}

/* --- targets ------------------------------------------------------------------------------- */

static void set_text(char *to, size_t n, const char *text)
{
	snprintf(to, n, "%s", text);
	printable_clean(to);
}

/* Splits "127.0.0.1:9999" into address and port; a path has no port. */
static void set_address(struct status *s, const char *text)
{
	char *colon;

	set_text(s->address, sizeof s->address, text);
	colon = strrchr(s->address, ':');
	if (!colon || strncmp(s->address, "unix:", 5) == 0)
		return;
	*colon = '\0';
	s->port = (unsigned)strtoul(colon + 1, NULL, 10) & 0xffff;
	if (s->address[0] == '[' && colon[-1] == ']') {
		colon[-1] = '\0';
		memmove(s->address, s->address + 1, strlen(s->address));
	}
}

static void set_status(const Proftap__V1__Target *t, struct status *s)
{
	s->pid = t->pid;
	s->uid = t->uid;
	s->since_ns = (int64_t)t->since_unix_ns;
	s->is_recording = strcmp(t->state, "recording") == 0;
	s->has_recorder = strcmp(t->state, "recorder") == 0;
	s->has_ended = strcmp(t->state, "ended") == 0;
	s->is_stopped = t->is_stopped;
	set_text(s->name, sizeof s->name, t->name);
	set_text(s->gpu, sizeof s->gpu, t->gpu);
	set_text(s->make, sizeof s->make, t->server);
	set_address(s, t->address);
}

static void set_place(const Proftap__V1__Target *t, struct program_place *p)
{
	p->pid_inside = t->pid_inside;
	set_text(p->path, sizeof p->path, t->path);
	set_text(p->cgroup, sizeof p->cgroup, t->cgroup);
	p->is_container = t->container != NULL;
	if (!t->container)
		return;
	set_text(p->id, sizeof p->id, t->container->id);
	set_text(p->name, sizeof p->name, t->container->name);
	set_text(p->pod, sizeof p->pod, t->container->pod);
}

/* --- the answer ---------------------------------------------------------------------------- */

static int copy_targets(const Proftap__V1__ListReply *reply, struct targets *targets)
{
	if (grow(&targets->v, &targets->n_allocated, reply->n_targets + 1))
		return -ENOMEM;
	for (size_t i = 0; i < reply->n_targets; i++) {
		struct found_target *t = &targets->v[targets->n++];

		memset(t, 0, sizeof *t);
		set_status(reply->targets[i], &t->status);
		set_place(reply->targets[i], &t->place);
	}
	return 0;
}

static int read_answer(const struct exchange *e, struct targets *targets, struct diag *d)
{
	Proftap__V1__ListReply *reply = (Proftap__V1__ListReply *)exchange_unpack(
		e, &proftap__v1__list_reply__descriptor, d);
	int r;

	if (!reply)
		return EXIT_FAILED;
	r = copy_targets(reply, targets);
	proftap__v1__list_reply__free_unpacked(reply, NULL);
	if (!r)
		return EXIT_DONE;
	diag_set(d, r, "%s: out of memory", e->address->text);
	return EXIT_FAILED;
}

static int send_request(const struct address *address, const struct link *link,
	const uint8_t *request, size_t n_request, struct targets *targets, struct diag *d)
{
	struct exchange e = {
		.address = address,
		.link = link,
		.path = LIST_PATH,
		.message = request,
		.message_bytes = n_request,
		.timeout_ms = TIMEOUT_MS,
		.max_bytes = MAX_BYTES,
		.is_of_programs = true,
	};
	int code = exchange_run(&e, d);

	if (code == EXIT_DONE)
		code = read_answer(&e, targets, d);
	else if (exchange_find_stock(&e))
		diag_set(d, -EPROTO,
			"%s: no host daemon: it is the profiler server of one program, of JAX's or "
			"TensorFlow's make; proftap capture %s MS records it, and proftap list shows the "
			"programs of this machine",
			address->text, address->words);
	exchange_deinit(&e);
	return code;
}

static int ask_host(const struct address *address, const struct link *link, const char *wanted,
	struct targets *targets, struct diag *d)
{
	Proftap__V1__ListRequest request = PROFTAP__V1__LIST_REQUEST__INIT;
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t n;

	if (wanted)
		request.target = (char *)wanted;
	if (proto_pack(&request.base, &bytes, &n)) {
		diag_set(d, -ENOMEM, "%s: out of memory", address->text);
		return EXIT_FAILED;
	}
	return send_request(address, link, bytes, n, targets, d);
}

/*
 * Replaces the advice for a refused connection, because the user meant a host daemon and not the
 * server of a program.
 */
static void explain_refusal(const struct address *a, struct diag *d)
{
	if (d->code == -ECONNREFUSED && strstr(d->text, "; start one with ptap_server_start("))
		diag_set(d, -ECONNREFUSED,
			"%s: connection refused: no host daemon there; start one%s with proftapd --host "
			"--listen %s:%u",
			a->text, address_is_here(a) ? "" : " on that machine",
			strcmp(a->host, "::1") == 0 ? "[::1]"
			: address_is_here(a)	    ? "127.0.0.1"
						    : a->host,
			a->port);
}

int host_list_load_from(
	struct address *address, const char *wanted, struct targets *targets, struct diag *d)
{
	struct link link = LINK_INIT;
	int code = link_open(&link, address, d);

	if (code != EXIT_DONE)
		explain_refusal(address, d);
	if (code == EXIT_DONE)
		code = ask_host(address, &link, wanted, targets, d);
	link_close(&link);
	return code;
}

int host_list_load(const char *text, struct targets *targets, struct diag *d)
{
	struct address address;
	int code = parse_host(text, &address, d);

	return code == EXIT_DONE ? host_list_load_from(&address, NULL, targets, d) : code;
}
