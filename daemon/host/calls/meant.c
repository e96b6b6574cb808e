/* SPDX-License-Identifier: Apache-2.0 */
/* Whom a call means; see meant.h. */
#include "daemon/host/calls/meant.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "daemon/host/calls/host_calls.h"
#include "daemon/host/calls/host_method.h"
#include "daemon/host/programs/choice.h"
#include "daemon/host/programs/programs.h"
#include "daemon/serve/calls/errand.h"
#include "daemon/serve/message/reply_message.h"
#include "proto/pack.h"
#include "rpc/server.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

/* Resolvers take whatever ends so for this machine, many without asking anybody (RFC 6761). */
#define LOCAL_DOMAIN ".localhost"

typedef Tensorflow__ProfileOptions Options;
typedef Tensorflow__ProfileOptions__AdvancedConfigurationEntry Entry;
typedef Tensorflow__ProfileOptions__AdvancedConfigValue Value;

/* The key. */

/* A pid may be a number. */
static void copy_value(const Value *value, char *out, size_t n)
{
	if (value && value->value_case ==
			     TENSORFLOW__PROFILE_OPTIONS__ADVANCED_CONFIG_VALUE__VALUE_STRING_VALUE)
		snprintf(out, n, "%s", value->string_value);
	else if (value &&
		 value->value_case ==
			 TENSORFLOW__PROFILE_OPTIONS__ADVANCED_CONFIG_VALUE__VALUE_INT64_VALUE)
		snprintf(out, n, "%" PRId64, value->int64_value);
}

/* Into |out|, unless something is there. 1 if it was there; it is not any more. */
static int take_key(Options *o, char *out, size_t n)
{
	size_t n_kept = 0;
	size_t n_all = o->n_advanced_configuration;

	for (size_t i = 0; i < n_all; i++) {
		Entry *entry = o->advanced_configuration[i];

		if (strcmp(entry->key, MEANT_KEY) != 0) {
			o->advanced_configuration[n_kept++] = entry;
			continue;
		}
		if (!out[0])
			copy_value(entry->value, out, n);
		protobuf_c_message_free_unpacked(&entry->base, NULL);
	}
	o->n_advanced_configuration = n_kept;
	return n_kept < n_all;
}

static int replace_request(struct errand *e, const Tensorflow__ProfileRequest *request)
{
	uint8_t *bytes;
	size_t n;
	int r = proto_pack(&request->base, &bytes, &n);

	if (r)
		return r;
	free(e->request);
	e->request = bytes;
	e->request_bytes = n;
	return 0;
}

/* What is no request is for its server to say. */
static int take_key_from_request(struct errand *e, char *out, size_t n)
{
	Tensorflow__ProfileRequest *request =
		tensorflow__profile_request__unpack(NULL, e->request_bytes, e->request);
	int r = 0;

	if (request && request->opts && take_key(request->opts, out, n))
		r = replace_request(e, request);
	if (request)
		tensorflow__profile_request__free_unpacked(request, NULL);
	return r;
}

/* All three. */

static void find_in_host(struct errand *e, char *out, size_t n)
{
	char host[RPC_TARGET_BYTES + sizeof LOCAL_DOMAIN];
	size_t n_domain = sizeof LOCAL_DOMAIN - 1;
	size_t n_host;

	rpc_call_get_host(e->call, host, sizeof host);
	n_host = strlen(host);
	if (n_host > n_domain && strcmp(host + n_host - n_domain, LOCAL_DOMAIN) == 0)
		snprintf(out, n, "%.*s", (int)(n_host - n_domain), host);
}

int meant_find(struct meant *m, struct errand *e)
{
	struct host_service *h = e->context;

	m->programs = NULL;
	if (host_identify(e->call, h, &m->caller))
		return -1;
	rpc_call_get_target(e->call, m->text, sizeof m->text);
	if ((host_method_has_options(host_method_of(e->call)) &&
		    take_key_from_request(e, m->text, sizeof m->text)) ||
		programs_copy(h->programs, &m->caller, &m->programs, &m->n_programs)) {
		reply_no_memory(e->call);
		return -1;
	}
	if (!m->text[0])
		find_in_host(e, m->text, sizeof m->text);
	return 0;
}

void meant_deinit(struct meant *m)
{
	free(m->programs);
	m->programs = NULL;
}

/* Of those where its user has begun a session; NULL: he has not. */
static const struct program *find_last_begun(const struct meant *m)
{
	const struct program *last = NULL;

	for (size_t i = 0; i < m->n_programs; i++) {
		const struct program *p = &m->programs[i];

		if (p->n_begun && p->begun_by == m->caller.uid &&
			(!last || p->n_begun > last->n_begun))
			last = p;
	}
	return last;
}

const struct program *meant_choose(const struct meant *m, struct errand *e)
{
	const struct program *chosen = NULL;
	struct diag d = DIAG_INIT;

	if (!m->text[0] && host_method_of(e->call)->traits & HOST_METHOD_IS_ABOUT_SESSION)
		chosen = find_last_begun(m);
	if (!chosen)
		chosen = choice_make(m->programs, m->n_programs, m->text, &d);
	if (!chosen)
		rpc_call_fail(
			e->call, d.code == -EINVAL ? RPC_INVALID_ARGUMENT : RPC_NOT_FOUND, d.text);
	return chosen;
}
