/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One event of a program (the begin of a range, or a mark): its name and its arguments: `category`
 * (its name, or the number), `payload`, `color` (#rrggbb, and the alpha if it is not opaque), and
 * the fields of extended payloads.
 */
#ifndef INJECT_NVTX_EVENT_H
#define INJECT_NVTX_EVENT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <wchar.h>

#include "lib/record/args.h"
#include "lib/record/emit.h"
#include "lib/record/guest.h"
#include "lib/record/range.h"
#include "lib/record/strings.h"

struct nvtx_attributes;
struct nvtx_domain;
struct nvtx_payload;
struct nvtx_string;

/*
 * bytes of a name that is not registered: one more than lib/record/args.c keeps, so that it sees
 * that a longer name must be cut, and counts the cut
 */
#define NVTX_EVENT_NAME_BYTES 256

struct nvtx_event {
	const struct nvtx_domain *domain;
	struct nvtx_string *string; /* its message, if that is a registered string */
	const char *text; /* its message otherwise */
	const struct nvtx_attributes *attributes; /* NULL: none */
	const struct nvtx_payload *payloads;
	size_t n_payloads;
	uint64_t range_id; /* of the range that it starts or ends; 0: none */
	char narrow[NVTX_EVENT_NAME_BYTES + 1]; /* |text|, converted from wide characters */
	char composed[NVTX_EVENT_NAME_BYTES + 1]; /* the name with a domain in front */
};

/* An event borrows all pointers until it is recorded. */
void nvtx_event_from_text(struct nvtx_event *e, const struct nvtx_domain *domain, const char *text);
void nvtx_event_from_wide(
	struct nvtx_event *e, const struct nvtx_domain *domain, const wchar_t *text);
void nvtx_event_from_attributes(struct nvtx_event *e, const struct nvtx_domain *domain,
	const struct nvtx_attributes *attributes);
void nvtx_event_from_payloads(struct nvtx_event *e, const struct nvtx_domain *domain,
	const struct nvtx_payload *payloads, size_t n);

/* Returns the data to record for |e|, with pointers into |e|. */
struct range_what nvtx_event_describe(struct nvtx_event *e);

/* --- recording ----------------------------------------------------------------------------- */

/*
 * Push/pop ranges become spans of their thread, ranges that are started and ended become async
 * spans, marks become instants. All are of level 1, as are the spans of PTAP_SPAN().
 */

/*
 * The recording's word, or 0 while no recording has level 1; an event then costs this check only.
 */
static inline uint32_t nvtx_get_word(void)
{
	uint32_t word = atomic_load_explicit(&guest_get()->word, memory_order_relaxed);

	return word & 3u ? word : 0;
}

/* |word| must not be 0. */
void nvtx_push(struct nvtx_event *e, uint32_t word);
void nvtx_pop(const struct nvtx_domain *domain, uint32_t word);
void nvtx_mark(struct nvtx_event *e, uint32_t word);

/*
 * Returns the number of a range that starts now, recorded or not. It contains the place of the
 * range's name in the store of strings, so that its end can be recorded even if its start was not.
 * Never 0.
 */
uint64_t nvtx_start(struct nvtx_event *e);
void nvtx_end(uint64_t range_id, uint32_t word);

/* Writes an NVTX event's arguments into slots. Arguments without room are left out, and counted. */

struct nvtx_writer {
	struct ring *ring;
	struct slot *slots;
	uint32_t room; /* slots */
	uint32_t n; /* slots written so far */
};

/* The string id of |text|. |kept| is always used with the same text. */
static inline uint32_t writer_key(uint32_t *kept, const char *text)
{
	uint32_t id = __atomic_load_n(kept, __ATOMIC_ACQUIRE);

	return unlikely(!id) ? site_register(kept, text) : id;
}

static inline void writer_number(
	struct nvtx_writer *w, uint32_t key, enum slot_type type, uint64_t bits)
{
	if (unlikely(w->n == w->room)) {
		count_loss(w->ring, LOSS_CUT);
		return;
	}
	w->slots[w->n++] = (struct slot){{slot_word0(key, type, 0), bits}};
}

static inline void writer_f64(struct nvtx_writer *w, uint32_t key, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	writer_number(w, key, SLOT_F64, bits);
}

static inline void writer_text(struct nvtx_writer *w, uint32_t key, const char *text)
{
	w->n += args_write_text(w->ring, w->slots + w->n, w->room - w->n, key, text);
}

/*
 * Extended payloads of an event: each field of a known layout becomes an argument, an array becomes
 * one as text ("[1, 2, 3]"). Unreadable bytes are reported by their number (`payload_bytes`).
 */

/* Further payloads of an event are ignored. */
#define DECODE_MAX_PAYLOADS 32

/* Sets the name of |e|, if one of its payloads carries it. */
void decode_message(struct nvtx_event *e);

void decode_payload(struct nvtx_writer *w, const struct nvtx_domain *domain,
	const struct nvtx_payload *payload);

#endif
