/* SPDX-License-Identifier: Apache-2.0 */
/* The place for a tool in a process, and the callbacks of that tool; see subscriber.h. */
#include "lib/plugins/cuda/subscriber.h"

#include <proftap/collector.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "lib/plugins/cuda/cupti.h"
#include "lib/plugins/cuda/sentence.h"
#include "lib/plugins/cuda/synchronizer.h"
#include "lib/plugins/cuda/version.h"

/* --- callbacks ----------------------------------------------------------------------------- */

static const struct {
	uint32_t domain;
	uint32_t callback;
} other_callbacks[] = {
	{CUPTI_RESOURCE, CUPTI_CONTEXT_DESTROY_STARTING},
	{CUPTI_RESOURCE, CUPTI_NODE_CREATED},
	{CUPTI_RESOURCE, CUPTI_NODE_CLONED},
	{CUPTI_STATE, CUPTI_FATAL_ERROR},
};

static bool is_about_graph_nodes(uint32_t callback)
{
	return callback == CUPTI_NODE_CREATED || callback == CUPTI_NODE_CLONED;
}

void callbacks_enable(const struct callbacks *c, void *subscriber, bool enable)
{
	const struct cupti *cupti = c->calls.cupti;

	for (size_t i = 0; i < sizeof other_callbacks / sizeof other_callbacks[0]; i++) {
		if (other_callbacks[i].domain == CUPTI_STATE &&
			!version_has(cupti->version, VERSION_HAS_STATE))
			continue;
		if (is_about_graph_nodes(other_callbacks[i].callback) &&
			other_callbacks[i].domain == CUPTI_RESOURCE && !cupti->get_graph_node_id)
			continue;
		cupti->enable_callback((uint32_t)enable, subscriber, other_callbacks[i].domain,
			other_callbacks[i].callback);
	}
}

static void note_graph_node(
	struct callbacks *c, uint32_t callback, const struct cupti_resource *resource)
{
	const struct ptap_collector_services *services =
		atomic_load_explicit(&c->calls.services, memory_order_acquire);
	const struct cupti_graph *graph = resource->descriptor;
	uint64_t node = 0;
	uint64_t original = 0;

	if (!services || !graph || c->calls.cupti->get_graph_node_id(graph->node, &node))
		return;
	if (callback == CUPTI_NODE_CLONED && graph->original_node &&
		c->calls.cupti->get_graph_node_id(graph->original_node, &original))
		return;
	services->note_node(node, original);
}

static void note_resource(
	struct callbacks *c, uint32_t callback, const struct cupti_resource *resource)
{
	if (is_about_graph_nodes(callback))
		note_graph_node(c, callback, resource);
	else if (callback == CUPTI_CONTEXT_DESTROY_STARTING && resource->context)
		synchronizer_forget(c->calls.synchronizer, resource->context);
}

static void note_cupti_end(struct callbacks *c, const struct cupti_notice *notice)
{
	uint32_t expected = 0;

	if (!atomic_compare_exchange_strong(&c->is_dead, &expected, 1))
		return;
	c->result = notice->result;
	snprintf(c->message, sizeof c->message, "%s", notice->message ? notice->message : "");
	atomic_store_explicit(&c->is_dead, 2, memory_order_release);
}

static void take_callback(void *state, uint32_t domain, uint32_t callback, const void *information)
{
	struct callbacks *c = state;

	if (domain == CUPTI_DRIVER_API || domain == CUPTI_RUNTIME_API)
		calls_note(&c->calls, domain, callback, information);
	else if (domain == CUPTI_RESOURCE)
		note_resource(c, callback, information);
	else if (domain == CUPTI_STATE && callback == CUPTI_FATAL_ERROR)
		note_cupti_end(c, information);
}

/* --- the subscriber ------------------------------------------------------------------------ */

/* Strips the prefix that CUPTI puts before a tool's name: "CUPTI for Kineto". */
static const char *strip_holder(const char *holder)
{
	static const char beginning[] = "CUPTI for ";
	size_t n = sizeof beginning - 1;

	return strncmp(holder, beginning, n) == 0 ? holder + n : holder;
}

static int subscribe_tool(struct subscriber *s, struct callbacks *callbacks, char *holder)
{
	const struct cupti *cupti = s->cupti;
	struct cupti_subscription subscription = {
		.size = version_has(cupti->version, VERSION_OLD_SUBSCRIPTION)
				? CUPTI_SUBSCRIPTION_BYTES_OLD
				: CUPTI_SUBSCRIPTION_BYTES,
		.name = "proftap",
		.holder = holder,
		.holder_bytes = CUPTI_HOLDER_BYTES,
	};

	if (!cupti->subscribe_by_name)
		return cupti->subscribe(&s->handle, take_callback, callbacks);
	return cupti->subscribe_by_name(&s->handle, take_callback, callbacks, &subscription);
}

int subscriber_open(struct subscriber *s, const struct result_context *context,
	struct callbacks *callbacks, char *why)
{
	char holder[CUPTI_HOLDER_BYTES] = "";
	int result;

	if (s->handle)
		return 0;
	s->cupti = context->cupti;
	result = subscribe_tool(s, callbacks, holder);
	if (!result)
		return 0;
	s->handle = NULL;
	holder[sizeof holder - 1] = '\0';
	if (result == CUPTI_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED || result == CUPTI_MAX_LIMIT_REACHED)
		return result_explain_taken(strip_holder(holder), why);
	return result_explain(context, result, "CUPTI cannot be used", why);
}

void subscriber_close(struct subscriber *s)
{
	if (s->handle)
		s->cupti->unsubscribe(s->handle);
	s->handle = NULL;
}
