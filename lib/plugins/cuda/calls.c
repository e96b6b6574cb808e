/* SPDX-License-Identifier: Apache-2.0 */
/* Calls into CUDA; see calls.h. */
#include "lib/plugins/cuda/calls.h"

#include <proftap/collector.h>
#include <string.h>

#include "lib/plugins/cuda/contexts.h"
#include "lib/plugins/cuda/cupti.h"
#include "lib/plugins/cuda/launches.h"
#include "lib/plugins/cuda/synchronizer.h"

enum call_class {
	ON_REQUEST, /* recorded if all calls are wanted */
	ALWAYS,
	GRAPH_LAUNCH, /* a graph's launch, always recorded */
	NEVER, /* never recorded: some programs make more of them than of all others */
};

static const uint32_t api_domains[CALLS_APIS] = {CUPTI_DRIVER_API, CUPTI_RUNTIME_API};

/* Calls by the beginning of their names; the first match counts. */
static const struct {
	const char *beginning;
	enum call_class class;
} call_rows[] = {
	{"cuGraphLaunch", GRAPH_LAUNCH},
	{"cuLaunch", ALWAYS},
	{"cuMemcpy", ALWAYS},
	{"cuMemset", ALWAYS},
	{"cuMemAlloc", ALWAYS},
	{"cuMemFree", ALWAYS},
	{"cuMemHostAlloc", ALWAYS},
	{"cuMemHostRegister", ALWAYS},
	{"cuMemHostUnregister", ALWAYS},
	{"cuMemPrefetch", ALWAYS},
	{"cuGraphInstantiate", ALWAYS},
	{"cuGraphExecUpdate", ALWAYS},
	{"cuGraphUpload", ALWAYS},
	{"cuModuleLoad", ALWAYS},
	{"cuLibraryLoad", ALWAYS},
	{"cuStreamSynchronize", ALWAYS},
	{"cuEventSynchronize", ALWAYS},
	{"cuCtxSynchronize", ALWAYS},
	{"INVALID", NEVER},
	{"cuCtxGet", NEVER},
	{"cuCtxSetCurrent", NEVER},
	{"cuCtxPushCurrent", NEVER},
	{"cuCtxPopCurrent", NEVER},
	{"cuDeviceGet", NEVER},
	{"cuDevicePrimaryCtxGetState", NEVER},
	{"cuGetProcAddress", NEVER},
	{"cuGetError", NEVER},
	{"cuKernelGet", NEVER},
	{"cuFuncGet", NEVER},
	{"cudaGetDevice", NEVER},
	{"cudaSetDevice", NEVER},
	{"cudaGetLastError", NEVER},
	{"cudaPeekAtLastError", NEVER},
	{"cudaEventCreate", NEVER},
	{"cudaEventDestroy", NEVER},
};

static enum call_class classify_call(const char *name)
{
	for (size_t i = 0; i < sizeof call_rows / sizeof call_rows[0]; i++)
		if (strncmp(name, call_rows[i].beginning, strlen(call_rows[i].beginning)) == 0)
			return call_rows[i].class;
	return ON_REQUEST;
}

static void choose_api_calls(struct calls_api *api, const struct cupti *cupti, uint32_t domain)
{
	const char *name = NULL;

	for (api->n_functions = 0; api->n_functions < CALLS_MAX; api->n_functions++) {
		if (cupti->get_callback_name(domain, api->n_functions, &name) || !name)
			break;
		api->classes[api->n_functions] = (uint8_t)classify_call(name);
	}
}

void calls_choose(struct calls *c, const struct cupti *cupti)
{
	c->cupti = cupti;
	for (uint32_t i = 0; i < CALLS_APIS; i++)
		choose_api_calls(&c->apis[i], cupti, api_domains[i]);
}

static void set_calls(const struct calls *c, void *subscriber, uint32_t enable, bool is_all)
{
	for (uint32_t i = 0; i < CALLS_APIS; i++)
		for (uint32_t function = 0; function < c->apis[i].n_functions; function++) {
			enum call_class class = c->apis[i].classes[function];

			if (class != NEVER && (is_all || class != ON_REQUEST))
				c->cupti->enable_callback(
					enable, subscriber, api_domains[i], function);
		}
}

void calls_enable(const struct calls *c, void *subscriber, bool is_all)
{
	set_calls(c, subscriber, 1, is_all);
}

void calls_disable(const struct calls *c, void *subscriber, bool is_all)
{
	set_calls(c, subscriber, 0, is_all);
}

void calls_begin(struct calls *c, const struct calls_wish *wish,
	const struct ptap_collector_services *services)
{
	atomic_store(&c->max, wish->max);
	atomic_store(&c->n_devices, wish->n_devices);
	atomic_store(&c->launches, wish->launches);
	atomic_store(&c->cupti_offset_ns, wish->cupti_offset_ns);
	atomic_store(&c->n, 0);
	atomic_store(&c->enders, services);
	atomic_store_explicit(&c->services, services, memory_order_release);
}

void calls_end(struct calls *c)
{
	atomic_store(&c->services, NULL);
}

static uint32_t find_call_device(struct calls *c, const struct cupti_call *call)
{
	uint32_t device = contexts_find(c->contexts, call->context_id);

	if (device != CONTEXTS_UNKNOWN)
		return device;
	if (!call->context || c->cupti->get_device_id(call->context, &device))
		return 0;
	contexts_note(c->contexts, call->context_id, device);
	return device;
}

/*
 * Reports a context to the synchronizer at its first call. A context may already be known from
 * records, but only a call has its handle.
 */
static void note_met_context(struct calls *c, const struct cupti_call *call)
{
	if (contexts_is_met(c->contexts, call->context_id) || !call->context)
		return;
	contexts_meet(c->contexts, call->context_id);
	synchronizer_note(c->synchronizer, call->context);
}

/* Two threads may both intern the name; then it has two numbers. */
static uint32_t find_call_name(struct calls_api *api,
	const struct ptap_collector_services *services, uint32_t function,
	const struct cupti_call *call)
{
	uint32_t name = atomic_load_explicit(&api->names[function], memory_order_relaxed);

	if (name || !call->function)
		return name;
	name = services->intern(call->function);
	atomic_store_explicit(&api->names[function], name, memory_order_relaxed);
	return name;
}

/*
 * The graph that the call launches; 0: none, or unknown. The executable graph is the first
 * parameter of all such calls.
 */
static uint32_t find_launched_graph(const struct calls *c, const struct cupti_call *call)
{
	uint32_t graph = 0;

	if (!call->parameters || !c->cupti->get_graph_exec_id ||
		c->cupti->get_graph_exec_id(*(void *const *)call->parameters, &graph))
		return 0;
	return graph;
}

static void note_launch(struct calls *c, const struct ptap_collector_services *services,
	uint32_t correlation, uint32_t graph)
{
	struct cuda_launches *launches = atomic_load_explicit(&c->launches, memory_order_relaxed);
	int64_t now_ns = launches ? services->monotonic_ns() : 0;

	if (launches)
		launches_note(launches, correlation, graph,
			(uint64_t)(now_ns + atomic_load(&c->cupti_offset_ns)));
}

static bool is_beyond_limit(struct calls *c)
{
	return atomic_fetch_add_explicit(&c->n, 1, memory_order_relaxed) >=
	       atomic_load_explicit(&c->max, memory_order_relaxed);
}

static void enter_call(struct calls *c, const struct ptap_collector_services *services,
	uint32_t api, uint32_t function, const struct cupti_call *call)
{
	uint32_t device = find_call_device(c, call);
	uint32_t graph =
		c->apis[api].classes[function] == GRAPH_LAUNCH ? find_launched_graph(c, call) : 0;
	/*
	 * A call of the runtime has the same correlation as the driver call in it. The work is
	 * joined with the driver call only.
	 */
	uint32_t correlation = api_domains[api] == CUPTI_DRIVER_API ? call->correlation : 0;

	*call->slot = 0;
	note_met_context(c, call);
	if (graph)
		note_launch(c, services, correlation, graph);
	if (device >= atomic_load_explicit(&c->n_devices, memory_order_relaxed) ||
		is_beyond_limit(c))
		return;
	*call->slot = services->call_begin(find_call_name(&c->apis[api], services, function, call),
		correlation, (uint16_t)device, call->context_id,
		graph ? PTAP_CALL_IS_GRAPH_LAUNCH : 0, graph);
}

/*
 * This also runs after calls_end(): an open call would otherwise enclose the program's later spans,
 * which may still be recorded.
 */
static void leave_call(struct calls *c, const struct cupti_call *call)
{
	/* 0: the call began before the recording, or is not recorded. */
	uint64_t begun = *call->slot;
	const struct ptap_collector_services *services = atomic_load(&c->enders);

	*call->slot = 0;
	if (begun && services)
		services->call_end(begun);
}

void calls_note(struct calls *c, uint32_t domain, uint32_t function, const struct cupti_call *call)
{
	const struct ptap_collector_services *services =
		atomic_load_explicit(&c->services, memory_order_acquire);
	uint32_t api = domain == CUPTI_RUNTIME_API;

	if (function >= c->apis[api].n_functions || !call->slot)
		return;
	if (call->site == CUPTI_EXIT)
		leave_call(c, call);
	else if (call->site == CUPTI_ENTER && services)
		enter_call(c, services, api, function, call);
}

uint64_t calls_count_recorded(const struct calls *c)
{
	uint64_t n = atomic_load(&c->n);
	uint64_t max = atomic_load(&c->max);

	return n < max ? n : max;
}

uint64_t calls_count_lost(const struct calls *c)
{
	return atomic_load(&c->n) - calls_count_recorded(c);
}
