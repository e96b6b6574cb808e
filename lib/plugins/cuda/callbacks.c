/* SPDX-License-Identifier: Apache-2.0 */
/* What CUPTI calls; see callbacks.h. */
#include "lib/plugins/cuda/callbacks.h"

#include <proftap/collector.h>
#include <stddef.h>
#include <stdio.h>

#include "lib/plugins/cuda/cupti.h"
#include "lib/plugins/cuda/synchronizer.h"
#include "lib/plugins/cuda/version.h"

static const struct {
	uint32_t domain;
	uint32_t callback;
} others[] = {
	{CUPTI_RESOURCE, CUPTI_CONTEXT_DESTROY_STARTING},
	{CUPTI_RESOURCE, CUPTI_NODE_CREATED},
	{CUPTI_RESOURCE, CUPTI_NODE_CLONED},
	{CUPTI_STATE, CUPTI_FATAL_ERROR},
};

static int is_about_nodes(uint32_t callback)
{
	return callback == CUPTI_NODE_CREATED || callback == CUPTI_NODE_CLONED;
}

void callbacks_enable(const struct callbacks *c, void *subscriber, int enable)
{
	const struct cupti *cupti = c->calls.cupti;

	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
		if (others[i].domain == CUPTI_STATE &&
			!version_has(cupti->version, VERSION_HAS_STATE))
			continue;
		if (is_about_nodes(others[i].callback) && others[i].domain == CUPTI_RESOURCE &&
			!cupti->get_graph_node_id)
			continue;
		cupti->enable_callback(
			(uint32_t)enable, subscriber, others[i].domain, others[i].callback);
	}
}

static void note_node(struct callbacks *c, uint32_t callback, const struct cupti_resource *resource)
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
	if (is_about_nodes(callback))
		note_node(c, callback, resource);
	else if (callback == CUPTI_CONTEXT_DESTROY_STARTING && resource->context)
		synchronizer_forget(c->calls.synchronizer, resource->context);
}

static void note_death(struct callbacks *c, const struct cupti_notice *notice)
{
	uint32_t expected = 0;

	if (!atomic_compare_exchange_strong(&c->is_dead, &expected, 1))
		return;
	c->result = notice->result;
	snprintf(c->message, sizeof c->message, "%s", notice->message ? notice->message : "");
	atomic_store_explicit(&c->is_dead, 2, memory_order_release);
}

void callbacks_take(void *state, uint32_t domain, uint32_t callback, const void *information)
{
	struct callbacks *c = state;

	if (domain == CUPTI_DRIVER_API || domain == CUPTI_RUNTIME_API)
		calls_note(&c->calls, domain, callback, information);
	else if (domain == CUPTI_RESOURCE)
		note_resource(c, callback, information);
	else if (domain == CUPTI_STATE && callback == CUPTI_FATAL_ERROR)
		note_death(c, information);
}
