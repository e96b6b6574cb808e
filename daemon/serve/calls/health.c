/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Health; see health.h. A server ends with its program, so a Watch that has received SERVING
 * receives no other status: the end of the Watch means that the program has ended.
 */
#include "daemon/serve/calls/health.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/chunks.h"
#include "daemon/serve/message/reply.h"
#include "daemon/serve/message/schema.h"
#include "daemon/serve/session/session.h"
#include "grpc/health/v1/health.pb-c.h"
#include "rpc/server.h"

typedef Grpc__Health__V1__HealthCheckResponse response_message;
typedef Grpc__Health__V1__HealthCheckResponse__ServingStatus status;

#define SERVING GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVING
#define NOT_SERVING GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__NOT_SERVING
#define SERVICE_UNKNOWN GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVICE_UNKNOWN

void health_init(struct health *h, const struct session *session)
{
	h->session = session;
	pthread_mutex_init(&h->mutex, NULL);
	h->n_watchers = 0;
	h->has_ended = false;
}

static bool is_service(const char *wanted)
{
	char name[64];

	if (!wanted[0])
		return true;
	for (size_t i = 0; schema_get_service(i, name, sizeof name) == 0; i++)
		if (strcmp(name, wanted) == 0)
			return true;
	return false;
}

static status get_status(const struct health *h)
{
	return h->session && atomic_load(&h->session->is_closing) ? NOT_SERVING : SERVING;
}

static void encode_status(status s, struct chunks *out)
{
	response_message response = GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__INIT;

	response.status = s;
	reply_message_append(out, &response.base);
}

/*
 * Returns 1 or 0: this server has the service that the request names, or not; -1: the call was
 * answered.
 */
static int read_request(struct rpc_call *call, const uint8_t *bytes, size_t n)
{
	Grpc__Health__V1__HealthCheckRequest *request =
		grpc__health__v1__health_check_request__unpack(NULL, n, bytes);
	bool known;

	if (!request) {
		rpc_call_fail(
			call, RPC_INVALID_ARGUMENT, "the request is not a HealthCheckRequest");
		return -1;
	}
	known = is_service(request->service);
	grpc__health__v1__health_check_request__free_unpacked(request, NULL);
	return known;
}

void health_check(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	int known = read_request(call, bytes, n);
	struct chunks message = CHUNKS_INIT;

	if (known < 0)
		return;
	if (!known) {
		rpc_call_fail(call, RPC_NOT_FOUND, "no such service here");
		return;
	}
	encode_status(get_status(context), &message);
	rpc_call_reply(call, &message);
}

/*
 * Returns NULL, or the reason why |call| cannot watch, and sets *code; then the caller must end
 * |call|.
 */
static const char *add_watcher(struct health *h, struct rpc_call *call, enum rpc_status *code)
{
	const char *refusal = NULL;

	pthread_mutex_lock(&h->mutex);
	if (h->has_ended) {
		*code = RPC_UNAVAILABLE;
		refusal = session_gone_text;
	} else if (h->n_watchers == HEALTH_MAX_WATCHERS) {
		*code = RPC_RESOURCE_EXHAUSTED;
		refusal = "too many Watch calls already";
	} else {
		h->watchers[h->n_watchers++] = call;
	}
	pthread_mutex_unlock(&h->mutex);
	return refusal;
}

/* Removes |call| from the watchers. Returns true if it was one; then only the caller ends it. */
static bool remove_watcher(struct health *h, const struct rpc_call *call)
{
	size_t i = 0;

	pthread_mutex_lock(&h->mutex);
	while (i < h->n_watchers && h->watchers[i] != call)
		i++;
	if (i < h->n_watchers)
		h->watchers[i] = h->watchers[--h->n_watchers];
	else
		call = NULL;
	pthread_mutex_unlock(&h->mutex);
	return call != NULL;
}

static void on_cancel(struct rpc_call *call, void *health)
{
	if (remove_watcher(health, call))
		rpc_call_finish(call, RPC_CANCELLED, "the client went away");
}

void health_watch(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct health *h = context;
	int known = read_request(call, bytes, n);
	struct chunks message = CHUNKS_INIT;
	enum rpc_status code = RPC_RESOURCE_EXHAUSTED;
	const char *refusal = "the profiler server is out of memory";

	if (known < 0)
		return;
	rpc_call_set_on_cancel(call, on_cancel, h);
	encode_status(known ? get_status(h) : SERVICE_UNKNOWN, &message);
	/* The first message does not wait. If the call was cancelled, on_cancel() still runs. */
	if (rpc_call_write(call, &message, 0) != -ENOMEM)
		refusal = add_watcher(h, call, &code);
	if (refusal)
		rpc_call_finish(call, code, refusal);
}

void health_end(struct health *h)
{
	struct rpc_call *ended[HEALTH_MAX_WATCHERS];
	size_t n;

	pthread_mutex_lock(&h->mutex);
	n = h->n_watchers;
	memcpy(ended, h->watchers, n * sizeof ended[0]);
	h->n_watchers = 0;
	h->has_ended = true;
	pthread_mutex_unlock(&h->mutex);
	for (size_t i = 0; i < n; i++)
		rpc_call_finish(ended[i], RPC_UNAVAILABLE, session_gone_text);
}
