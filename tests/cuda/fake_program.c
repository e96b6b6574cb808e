/* SPDX-License-Identifier: Apache-2.0 */
/* The fake libcupti: what a program does, as its script says, and the script's entry. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "tests/cuda/fake_inside.h"

#define DRIVER_API 1u
#define RUNTIME_API 2u
#define RESOURCE 3u
#define STATE 6u

/* The layout of cupti_callbacks.h. */
struct call_data {
	uint32_t site;
	const char *function;
	const void *parameters;
	void *result;
	const char *symbol;
	void *context;
	uint32_t context_id;
	uint64_t *slot;
	uint32_t correlation;
};

struct resource_data {
	void *context;
	void *handle;
	void *descriptor;
};

struct graph_data {
	void *graph;
	void *original_graph;
	void *node;
	void *original_node;
	uint32_t type;
	void *dependency;
	void *executable;
};

struct notice_data {
	int32_t result;
	const char *message;
};

/* A few of the real numbers. Here all others are event queries, which programs call very often. */
static const struct {
	uint32_t domain;
	uint32_t callback;
	const char *name;
} functions[] = {
	{DRIVER_API, 17, "cuCtxSynchronize"},
	{DRIVER_API, 126, "cuStreamSynchronize"},
	{DRIVER_API, 243, "cuMemAlloc_v2"},
	{DRIVER_API, 277, "cuMemcpyHtoDAsync_v2"},
	{DRIVER_API, 279, "cuMemcpyDtoHAsync_v2"},
	{DRIVER_API, 307, "cuLaunchKernel"},
	{DRIVER_API, 319, "cuMemcpyPeerAsync"},
	{DRIVER_API, 514, "cuGraphLaunch"},
	{DRIVER_API, 442, "cuLaunchKernel_ptsz"},
	{DRIVER_API, 5, "cuDeviceGetName"},
	{RUNTIME_API, 211, "cudaLaunchKernel_v7000"},
};

/* How many driver callbacks there are, by version. */
static const struct {
	uint32_t since;
	uint32_t n;
} tables[] = {
	{0, 677},
	{24, 763},
	{28, 784},
	{130000, 807},
	{130100, 846},
	{130400, 877},
};

struct call {
	struct call_data data;
	uint64_t slot;
	uint32_t domain;
	uint32_t callback;
};

#define MAX_DEPTH 8

static _Thread_local struct call calls[MAX_DEPTH];
static _Thread_local int depth;

#pragma GCC visibility push(default)
const struct fake *fake_get(void);
#pragma GCC visibility pop

const char *program_name(uint32_t domain, uint32_t callback)
{
	uint32_t n = 0;

	for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
		if (knob(FAKE_VERSION) >= tables[i].since)
			n = tables[i].n;
	if (callback >= (domain == DRIVER_API ? n : 440))
		return NULL;
	for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
		if (functions[i].domain == domain && functions[i].callback == callback)
			return functions[i].name;
	if (callback == 0)
		return "INVALID";
	return domain == DRIVER_API ? "cuEventQuery" : "cudaEventQuery_v3020";
}

static const char *find_function(const char *name, uint32_t *domain, uint32_t *callback)
{
	for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
		if (strcmp(functions[i].name, name) == 0) {
			*domain = functions[i].domain;
			*callback = functions[i].callback;
			return functions[i].name;
		}
	broken("no function %s", name);
}

/* Numbers have 32 bits and wrap around. */
static uint32_t next_correlation(void)
{
	uint32_t next = (uint32_t)knob(FAKE_CORRELATION) + 1;

	knob_set(FAKE_CORRELATION, next ? next : 1);
	return (uint32_t)knob(FAKE_CORRELATION);
}

static uint32_t begin_call_in(const char *function, void *parameters, uint32_t context)
{
	struct call *c;

	if (depth == MAX_DEPTH)
		broken("too deep");
	c = &calls[depth++];
	memset(c, 0, sizeof *c);
	c->data.function = find_function(function, &c->domain, &c->callback);
	c->data.parameters = parameters;
	c->data.context = (void *)(uintptr_t)context;
	c->data.context_id = context;
	/* A driver call inside a runtime call has the same correlation. */
	c->data.correlation = depth > 1 ? calls[depth - 2].data.correlation : next_correlation();
	c->slot = UINT64_C(0xdeadbeefdeadbeef);
	c->data.slot = &c->slot;
	if (knob(FAKE_FINALIZE_WAITS))
		release_all();
	subscriber_call(c->domain, c->callback, &c->data);
	return c->data.correlation;
}

static uint32_t begin_call(const char *function, void *parameters)
{
	return begin_call_in(function, parameters, 1);
}

static void end_call(void)
{
	struct call *c = &calls[depth - 1];

	c->data.site = 1;
	subscriber_call_late(c->domain, c->callback, &c->data);
	depth--;
}

static void complete_record(struct fake_record *r)
{
	if (!r->start_ns)
		r->start_ns = now_ns();
	if (!r->end_ns)
		r->end_ns = r->start_ns + 1000;
	if (!r->context)
		r->context = 1;
}

static void record(const struct fake_record *r)
{
	struct fake_record copy = *r;

	complete_record(&copy);
	if (activity_is_enabled(copy.kind))
		buffers_append(&copy);
}

static uint32_t call(const char *function, const struct fake_record *work, size_t n)
{
	uintptr_t graph = n ? work[0].graph : 0;
	uint32_t correlation =
		begin_call_in(function, &graph, n && work[0].context ? work[0].context : 1);

	for (size_t i = 0; i < n; i++) {
		struct fake_record r = work[i];

		r.correlation = correlation;
		if (r.graph && knob(FAKE_FORGETS_GRAPHS))
			r.correlation = 1;
		record(&r);
	}
	end_call();
	return correlation;
}

static void make_node(uint64_t node, uint64_t original)
{
	struct graph_data graph = {
		.node = (void *)(uintptr_t)node, .original_node = (void *)(uintptr_t)original};
	struct resource_data resource = {.descriptor = &graph};

	subscriber_call(RESOURCE, original ? 20 : 13, &resource);
}

static void make_context(uint32_t context)
{
	struct resource_data resource = {.context = (void *)(uintptr_t)context};

	driver_set_context(context, true);
	subscriber_call(RESOURCE, 1, &resource);
}

/*
 * As in the real library, the callback comes before the context is destroyed. The context's records
 * are complete by then, unless the script holds the device.
 */
static void destroy_context(uint32_t context)
{
	struct resource_data resource = {.context = (void *)(uintptr_t)context};

	subscriber_call(RESOURCE, 2, &resource);
	driver_set_context(context, false);
}

static void die(int result, const char *message)
{
	struct notice_data notice = {result, message};

	subscriber_call(STATE, 1, &notice);
	subscriber_end();
	activity_end();
}

static void reset(void)
{
	buffers_reset();
	record_reset();
	knobs_reset();
	asked_reset();
	subscriber_reset();
	activity_reset();
	sampling_reset();
	driver_guard();
}

/* Without a script nobody calls fake->reset(), but the library works all the same. */
__attribute__((constructor)) static void begin(void)
{
	reset();
}

const struct fake *fake_get(void)
{
	static const struct fake fake = {
		.reset = reset,
		.set = knob_set,
		.get = knob,
		.refuse = asked_fail,
		.take_slot = subscriber_take,
		.release = release_all,
		.call = call,
		.begin_call = begin_call,
		.end_call = end_call,
		.record = record,
		.hold_device = buffers_hold_device,
		.let_device_go = buffers_let_device_go,
		.make_node = make_node,
		.make_context = make_context,
		.destroy_context = destroy_context,
		.die = die,
		.count = asked_count,
		.is_before = asked_is_before,
		.is_enabled = activity_is_enabled,
		.is_subscribed = subscriber_is_there,
		.count_callbacks = subscriber_count_callbacks,
		.get_attribute = activity_get_attribute,
		.count_buffers = buffers_count,
		.ask_for_buffer = buffers_ask,
		.give_buffers_back = buffers_give_back,
		.write = record_write,
		.now_ns = now_ns,
	};

	return &fake;
}
