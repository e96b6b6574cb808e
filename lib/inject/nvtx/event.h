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
#include <wchar.h>

#include "lib/record/guest.h"
#include "lib/record/range.h"

struct nvtx_attributes;
struct nvtx_domain;
struct nvtx_payload;
struct nvtx_string;

/*
 * bytes, of a name that is not registered; lib/record/args.c cuts at one less, and counts the cut
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

/* The data to record for it. Borrows |e|. */
struct range_what nvtx_event_describe(struct nvtx_event *e);

/* --- recording ----------------------------------------------------------------------------- */

/*
 * Push/pop ranges become spans of their thread, ranges that are started and ended become async spans,
 * marks become instants. All are of level 1, as are the spans of PTAP_SPAN().
 */

/*
 * The recording's word, or 0 while no recording has level 1. An event costs no more than this then.
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
 * Returns the number of a range that starts now, recorded or not. It contains the place of its
 * name, so that its end can be recorded even if its start was not. Never 0.
 */
uint64_t nvtx_start(struct nvtx_event *e);
void nvtx_end(uint64_t range_id, uint32_t word);

#endif
