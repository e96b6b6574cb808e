/* SPDX-License-Identifier: Apache-2.0 */
/* Events: their names and arguments, and their way into rings; see event.h. */
#define PTAP_IMPL_BUILDING
#include "lib/inject/nvtx/event.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "lib/inject/nvtx/abi.h"
#include "lib/inject/nvtx/payload_abi.h"
#include "lib/inject/nvtx/vocabulary.h"
#include "lib/inject/nvtx/wide.h"
#include "lib/record/range.h"

static void init_event(struct nvtx_event *e, const struct nvtx_domain *domain)
{
	memset(e, 0, offsetof(struct nvtx_event, narrow));
	e->domain = domain;
	e->text = "";
}

/* --- the program's data -------------------------------------------------------------------- */

void nvtx_event_from_text(struct nvtx_event *e, const struct nvtx_domain *domain, const char *text)
{
	init_event(e, domain);
	if (text)
		e->text = text;
}

static void set_wide_text(struct nvtx_event *e, const wchar_t *text)
{
	if (!text)
		return;
	wide_to_utf8(e->narrow, sizeof e->narrow, text, sizeof *text, SIZE_MAX);
	e->text = e->narrow;
}

void nvtx_event_from_wide(
	struct nvtx_event *e, const struct nvtx_domain *domain, const wchar_t *text)
{
	init_event(e, domain);
	set_wide_text(e, text);
}

static void set_event_message(struct nvtx_event *e, const struct nvtx_attributes *attributes)
{
	switch (attributes->message_type) {
	case NVTX_MESSAGE_CHARS:
		if (attributes->message.chars)
			e->text = attributes->message.chars;
		break;
	case NVTX_MESSAGE_WIDE:
		set_wide_text(e, attributes->message.wide);
		break;
	case NVTX_MESSAGE_REGISTERED:
		e->string = attributes->message.registered;
		break;
	default:
		break;
	}
}

void nvtx_event_from_attributes(struct nvtx_event *e, const struct nvtx_domain *domain,
	const struct nvtx_attributes *attributes)
{
	init_event(e, domain);
	/* No version has fewer attributes. */
	if (!attributes || attributes->size < sizeof *attributes)
		return;
	e->attributes = attributes;
	set_event_message(e, attributes);
	if (attributes->payload_type == NVTX_PAYLOAD_EXTENDED && attributes->n_payloads > 0) {
		e->payloads = (const struct nvtx_payload *)(uintptr_t)attributes->payload.u64;
		e->n_payloads = e->payloads ? (size_t)attributes->n_payloads : 0;
		decode_message(e);
	}
}

void nvtx_event_from_payloads(struct nvtx_event *e, const struct nvtx_domain *domain,
	const struct nvtx_payload *payloads, size_t n)
{
	init_event(e, domain);
	e->payloads = payloads;
	e->n_payloads = payloads ? n : 0;
	decode_message(e);
}

/* --- arguments ----------------------------------------------------------------------------- */

static void write_category(struct nvtx_writer *w, const struct nvtx_event *e)
{
	static uint32_t key;
	uint32_t number = e->attributes->category;
	const char *name;

	if (!number)
		return;
	name = nvtx_category_get(e->domain, number);
	if (name)
		writer_text(w, writer_key(&key, "category"), name);
	else
		writer_number(w, writer_key(&key, "category"), SLOT_U64, number);
}

static void write_payload(struct nvtx_writer *w, const struct nvtx_attributes *attributes)
{
	static uint32_t kept_key;
	uint32_t key;

	if (attributes->payload_type == NVTX_PAYLOAD_NONE)
		return;
	key = writer_key(&kept_key, "payload");
	switch (attributes->payload_type) {
	case NVTX_PAYLOAD_U64:
		writer_number(w, key, SLOT_U64, attributes->payload.u64);
		break;
	case NVTX_PAYLOAD_I64:
		writer_number(w, key, SLOT_I64, attributes->payload.u64);
		break;
	case NVTX_PAYLOAD_F64:
		writer_f64(w, key, attributes->payload.f64);
		break;
	case NVTX_PAYLOAD_U32:
		writer_number(w, key, SLOT_U64, attributes->payload.u32);
		break;
	case NVTX_PAYLOAD_I32:
		writer_number(w, key, SLOT_I64, (uint64_t)(int64_t)attributes->payload.i32);
		break;
	case NVTX_PAYLOAD_F32:
		writer_f64(w, key, (double)attributes->payload.f32);
		break;
	default:
		break;
	}
}

static char *append_hex(char *to, uint32_t byte)
{
	static const char digits[] = "0123456789abcdef";

	to[0] = digits[byte >> 4 & 15];
	to[1] = digits[byte & 15];
	return to + 2;
}

static void write_color(struct nvtx_writer *w, const struct nvtx_attributes *attributes)
{
	static uint32_t key;
	uint32_t argb = attributes->color;
	uint32_t alpha = argb >> 24;
	char text[10] = "#";
	char *end = text + 1;

	if (attributes->color_type != NVTX_COLOR_ARGB)
		return;
	end = append_hex(end, argb >> 16);
	end = append_hex(end, argb >> 8);
	end = append_hex(end, argb);
	/* Python's nvtx sets colors without alpha. */
	if (alpha && alpha != 0xff)
		end = append_hex(end, alpha);
	*end = '\0';
	writer_text(w, writer_key(&key, "color"), text);
}

static uint32_t write_event_args(
	struct ring *ring, struct slot *slots, uint32_t room, const void *context)
{
	static uint32_t message_key;
	const struct nvtx_event *e = context;
	struct nvtx_writer w = {ring, slots, room, 0};

	if (e->range_id)
		writer_number(&w, 0, SLOT_U64, e->range_id);
	if (e->string && !e->string->place && e->text && e->text[0])
		writer_text(&w, writer_key(&message_key, "message"), e->text);
	if (e->attributes) {
		write_category(&w, e);
		write_payload(&w, e->attributes);
		write_color(&w, e->attributes);
	}
	for (size_t i = 0; i < e->n_payloads; i++)
		decode_payload(&w, e->domain, &e->payloads[i]);
	return w.n;
}

/* --- names --------------------------------------------------------------------------------- */

/* The message, with its domain in front. */
static const char *compose_name(struct nvtx_event *e)
{
	size_t n_prefix = e->domain->n_prefix;
	size_t n;

	if (!n_prefix)
		return e->text;
	if (n_prefix > NVTX_EVENT_NAME_BYTES)
		n_prefix = NVTX_EVENT_NAME_BYTES;
	n = strnlen(e->text, NVTX_EVENT_NAME_BYTES - n_prefix);
	memcpy(e->composed, e->domain->prefix, n_prefix);
	memcpy(e->composed + n_prefix, e->text, n);
	e->composed[n_prefix + n] = '\0';
	return e->composed;
}

struct range_what nvtx_event_describe(struct nvtx_event *e)
{
	struct range_what what = {
		.name = e->string ? e->string->name : compose_name(e),
		.id = e->string ? &e->string->id : NULL,
		.context = e,
	};

	if (e->attributes || e->n_payloads || e->range_id)
		what.fill = write_event_args;
	return what;
}

/* --- recording ----------------------------------------------------------------------------- */

/*
 * A range's number consists of the count of ranges that were started, with this one, and the place
 * of its name in the store.
 */
#define PLACE_BITS 24
#define PLACE_MASK ((UINT64_C(1) << PLACE_BITS) - 1)

void nvtx_push(struct nvtx_event *e, uint32_t word)
{
	struct range_what what = nvtx_event_describe(e);

	range_push(e->domain->owner, word, &what);
}

void nvtx_pop(const struct nvtx_domain *domain, uint32_t word)
{
	range_pop(domain->owner, word);
}

void nvtx_mark(struct nvtx_event *e, uint32_t word)
{
	struct range_what what = nvtx_event_describe(e);

	range_point(word, RECORD_INSTANT, &what);
}

static _Atomic uint64_t n_ranges_started;

uint64_t nvtx_start(struct nvtx_event *e)
{
	uint32_t word = nvtx_get_word();
	struct range_what what;

	if (!e->string)
		e->string = nvtx_string_get_passing(e->domain, e->text);
	e->range_id = (atomic_fetch_add_explicit(&n_ranges_started, 1, memory_order_relaxed) + 1)
			      << PLACE_BITS |
		      e->string->place;
	if (word) {
		what = nvtx_event_describe(e);
		range_point(word, RECORD_ASYNC_BEGIN, &what);
	}
	return e->range_id;
}

/* A program may end a range that it never started. */
static bool was_started(uint64_t range_id)
{
	uint64_t number = range_id >> PLACE_BITS;

	return number && number <= atomic_load_explicit(&n_ranges_started, memory_order_relaxed);
}

void nvtx_end(uint64_t range_id, uint32_t word)
{
	struct nvtx_event e = {
		.string = nvtx_string_at((uint32_t)(range_id & PLACE_MASK)),
		.range_id = range_id,
	};
	struct range_what what;

	if (!e.string || !was_started(range_id))
		return;
	what = nvtx_event_describe(&e);
	range_point(word, RECORD_ASYNC_END, &what);
}
