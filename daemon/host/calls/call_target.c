/* SPDX-License-Identifier: Apache-2.0 */
/* Targets of calls; see call_target.h. */
#include "daemon/host/calls/call_target.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "daemon/host/calls/host_calls.h"
#include "daemon/host/programs/choice.h"
#include "daemon/host/programs/programs.h"
#include "daemon/serve/calls/errand.h"
#include "daemon/serve/message/reply.h"
#include "proto/pack.h"
#include "rpc/server.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

/* Resolvers map names with this ending to this machine, most of them without a query (RFC 6761). */
#define LOCAL_DOMAIN ".localhost"

typedef Tensorflow__ProfileOptions Options;
typedef Tensorflow__ProfileOptions__AdvancedConfigurationEntry Entry;
typedef Tensorflow__ProfileOptions__AdvancedConfigValue Value;

/* --- the key of the request ------------------------------------------------------------------- */

/* A pid may come as a number. */
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

/*
 * Removes the key from |o|. Its value goes to |out| unless that is set already. Returns true if the
 * key was there.
 */
static bool take_key(Options *o, char *out, size_t n)
{
	size_t n_kept = 0;
	size_t n_all = o->n_advanced_configuration;

	for (size_t i = 0; i < n_all; i++) {
		Entry *entry = o->advanced_configuration[i];

		if (strcmp(entry->key, CALL_TARGET_KEY) != 0) {
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

/* Bytes that are no request stay as they are: the program's server refuses them. */
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

/* --- the target ------------------------------------------------------------------------------- */

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

int call_target_find(struct call_target *t, struct errand *e)
{
	struct host_service *h = e->context;

	t->programs = NULL;
	if (host_identify(e->call, h, &t->caller))
		return -1;
	rpc_call_get_target(e->call, t->text, sizeof t->text);
	if ((host_method_has_options(host_method_of(e->call)) &&
		    take_key_from_request(e, t->text, sizeof t->text)) ||
		programs_copy(h->programs, &t->caller, &t->programs, &t->n_programs)) {
		reply_no_memory(e->call);
		return -1;
	}
	if (!t->text[0])
		find_in_host(e, t->text, sizeof t->text);
	return 0;
}

void call_target_deinit(struct call_target *t)
{
	free(t->programs);
	t->programs = NULL;
}

/* The program where the caller's user began a session last; NULL: none. */
static const struct program *find_last_begun(const struct call_target *t)
{
	const struct program *last = NULL;

	for (size_t i = 0; i < t->n_programs; i++) {
		const struct program *p = &t->programs[i];

		if (p->n_begun && p->begun_by == t->caller.uid &&
			(!last || p->n_begun > last->n_begun))
			last = p;
	}
	return last;
}

const struct program *call_target_choose(const struct call_target *t, struct errand *e)
{
	const struct program *chosen = NULL;
	struct diag d = DIAG_INIT;

	if (!t->text[0] && host_method_of(e->call)->traits & HOST_METHOD_IS_ABOUT_SESSION)
		chosen = find_last_begun(t);
	if (!chosen)
		chosen = choice_make(t->programs, t->n_programs, t->text, &d);
	if (!chosen)
		rpc_call_fail(
			e->call, d.code == -EINVAL ? RPC_INVALID_ARGUMENT : RPC_NOT_FOUND, d.text);
	return chosen;
}
