/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX's payload extension, which enters by InitializeInjectionNvtxExtension(). Other extensions
 * (counters, memory, deferred events) work as without a tool.
 */
#define PTAP_IMPL_BUILDING
#include <string.h>

#include "lib/inject/nvtx/event.h"
#include "lib/inject/nvtx/nvtx.h"
#include "lib/inject/nvtx/payload_abi.h"
#include "lib/inject/nvtx/schema.h"
#include "lib/inject/nvtx/vocabulary.h"

#define unlikely(x) __builtin_expect(!!(x), 0)

static uint64_t register_schema(void *domain, const struct nvtx_schema_attributes *attributes)
{
	return nvtx_schema_register(nvtx_domain_of(domain), attributes);
}

static uint64_t register_enum(void *domain, const struct nvtx_enum_attributes *attributes)
{
	return nvtx_enumeration_register(nvtx_domain_of(domain), attributes);
}

static void mark_payloads(void *domain, const struct nvtx_payload *payloads, size_t n)
{
	uint32_t word = nvtx_get_word();
	struct nvtx_event e;

	if (unlikely(word)) {
		nvtx_event_from_payloads(&e, nvtx_domain_of(domain), payloads, n);
		nvtx_mark(&e, word);
	}
}

static int push_payloads(void *domain, const struct nvtx_payload *payloads, size_t n)
{
	uint32_t word = nvtx_get_word();
	struct nvtx_event e;

	if (unlikely(word)) {
		nvtx_event_from_payloads(&e, nvtx_domain_of(domain), payloads, n);
		nvtx_push(&e, word);
	}
	return NVTX_NO_LEVELS;
}

/*
 * Payloads at the end of a range become an instant there, so that their fields are not lost; the
 * span has the fields of its begin.
 */
static void mark_end(void *domain, const struct nvtx_payload *payloads, size_t n, uint32_t word)
{
	struct nvtx_event e;

	if (!n || !payloads)
		return;
	nvtx_event_from_payloads(&e, nvtx_domain_of(domain), payloads, n);
	if (!e.string && !e.text[0])
		e.text = "(end of range)";
	nvtx_mark(&e, word);
}

static int pop_payloads(void *domain, const struct nvtx_payload *payloads, size_t n)
{
	uint32_t word = nvtx_get_word();

	if (unlikely(word)) {
		mark_end(domain, payloads, n, word);
		nvtx_pop(nvtx_domain_of(domain), word);
	}
	return NVTX_NO_LEVELS;
}

static uint64_t start_payloads(void *domain, const struct nvtx_payload *payloads, size_t n)
{
	struct nvtx_event e;

	nvtx_event_from_payloads(&e, nvtx_domain_of(domain), payloads, n);
	return nvtx_start(&e);
}

static void end_payloads(
	void *domain, uint64_t range_id, const struct nvtx_payload *payloads, size_t n)
{
	uint32_t word = nvtx_get_word();

	if (unlikely(word)) {
		mark_end(domain, payloads, n, word);
		nvtx_end(range_id, word);
	}
}

/*
 * Always true: a program may ask once and keep the answer, and a recording may begin at any time.
 */
static uint8_t is_domain_enabled(void *domain)
{
	(void)domain;
	return 1;
}

#define SLOT(function) ((intptr_t)(function))

static const intptr_t payload_handlers[NVTX_PAYLOAD_SLOTS] = {
	[NVTX_PAYLOAD_SCHEMA_REGISTER] = SLOT(register_schema),
	[NVTX_PAYLOAD_ENUM_REGISTER] = SLOT(register_enum),
	[NVTX_PAYLOAD_MARK] = SLOT(mark_payloads),
	[NVTX_PAYLOAD_RANGE_PUSH] = SLOT(push_payloads),
	[NVTX_PAYLOAD_RANGE_POP] = SLOT(pop_payloads),
	[NVTX_PAYLOAD_RANGE_START] = SLOT(start_payloads),
	[NVTX_PAYLOAD_RANGE_END] = SLOT(end_payloads),
	[NVTX_PAYLOAD_DOMAIN_IS_ENABLED] = SLOT(is_domain_enabled),
};

int InitializeInjectionNvtxExtension(struct nvtx_extension *extension)
{
	struct nvtx_segment *segment;

	if (nvtx_mode_get() == NVTX_MODE_OFF)
		return 0;
	if (extension->size < sizeof *extension || extension->module != NVTX_EXTENSION_PAYLOAD ||
		extension->compatibility < NVTX_PAYLOAD_COMPATIBILITY || !extension->n_segments)
		return 1;
	segment = &extension->segments[0];
	for (size_t i = 0; i < NVTX_PAYLOAD_SLOTS && i < segment->n_slots; i++)
		segment->slots[i] = payload_handlers[i];
	return 1;
}
