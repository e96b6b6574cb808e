/* SPDX-License-Identifier: Apache-2.0 */
/* Events; see event.h. */
#define PTAP_IMPL_BUILDING
#include "lib/inject/nvtx/event.h"

#include <string.h>

#include "lib/inject/nvtx/abi.h"
#include "lib/inject/nvtx/decode.h"
#include "lib/inject/nvtx/payload_abi.h"
#include "lib/inject/nvtx/vocabulary.h"
#include "lib/inject/nvtx/wide.h"
#include "lib/inject/nvtx/writer.h"

static void init(struct nvtx_event *e, const struct nvtx_domain *domain)
{
	memset(e, 0, offsetof(struct nvtx_event, narrow));
	e->domain = domain;
	e->text = "";
}

/* --- what a program gives ------------------------------------------------------------------ */

void nvtx_event_from_text(struct nvtx_event *e, const struct nvtx_domain *domain, const char *text)
{
	init(e, domain);
	if (text)
		e->text = text;
}

static void set_wide(struct nvtx_event *e, const wchar_t *text)
{
	if (!text)
		return;
	wide_to_utf8(e->narrow, sizeof e->narrow, text, sizeof *text, SIZE_MAX);
	e->text = e->narrow;
}

void nvtx_event_from_wide(
	struct nvtx_event *e, const struct nvtx_domain *domain, const wchar_t *text)
{
	init(e, domain);
	set_wide(e, text);
}

static void set_message(struct nvtx_event *e, const struct nvtx_attributes *attributes)
{
	switch (attributes->message_type) {
	case NVTX_MESSAGE_CHARS:
		if (attributes->message.chars)
			e->text = attributes->message.chars;
		break;
	case NVTX_MESSAGE_WIDE:
		set_wide(e, attributes->message.wide);
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
	init(e, domain);
	/* Of versions that have less there is none. */
	if (!attributes || attributes->size < sizeof *attributes)
		return;
	e->attributes = attributes;
	set_message(e, attributes);
	if (attributes->payload_type == NVTX_PAYLOAD_EXTENDED && attributes->n_payloads > 0) {
		e->payloads = (const struct nvtx_payload *)(uintptr_t)attributes->payload.u64;
		e->n_payloads = e->payloads ? (size_t)attributes->n_payloads : 0;
		decode_message(e);
	}
}

void nvtx_event_from_payloads(struct nvtx_event *e, const struct nvtx_domain *domain,
	const struct nvtx_payload *payloads, size_t n)
{
	init(e, domain);
	e->payloads = payloads;
	e->n_payloads = payloads ? n : 0;
	decode_message(e);
}

/* --- arguments ----------------------------------------------------------------------------- */

static void write_category(struct writer *w, const struct nvtx_event *e)
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

static void write_payload(struct writer *w, const struct nvtx_attributes *attributes)
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

static char *put_hex(char *to, uint32_t byte)
{
	static const char digits[] = "0123456789abcdef";

	to[0] = digits[byte >> 4 & 15];
	to[1] = digits[byte & 15];
	return to + 2;
}

static void write_color(struct writer *w, const struct nvtx_attributes *attributes)
{
	static uint32_t key;
	uint32_t argb = attributes->color;
	uint32_t alpha = argb >> 24;
	char text[10] = "#";
	char *end = text + 1;

	if (attributes->color_type != NVTX_COLOR_ARGB)
		return;
	end = put_hex(end, argb >> 16);
	end = put_hex(end, argb >> 8);
	end = put_hex(end, argb);
	/* Python's nvtx has colors without one. */
	if (alpha && alpha != 0xff)
		end = put_hex(end, alpha);
	*end = '\0';
	writer_text(w, writer_key(&key, "color"), text);
}

static uint32_t fill(struct ring *ring, struct slot *slots, uint32_t room, const void *context)
{
	static uint32_t message_key;
	const struct nvtx_event *e = context;
	struct writer w = {ring, slots, room, 0};

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

/* The message, with its domain before it. */
static const char *compose(struct nvtx_event *e)
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
		.name = e->string ? e->string->name : compose(e),
		.id = e->string ? &e->string->id : NULL,
		.context = e,
	};

	if (e->attributes || e->n_payloads || e->range_id)
		what.fill = fill;
	return what;
}
