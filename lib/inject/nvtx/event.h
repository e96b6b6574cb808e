/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One event of a program (a range that begins, or a mark): its name and what else it carries, as arguments: `category` (its
 * name, or the number), `payload`, `color` (#rrggbb, and the alpha if it is not opaque), and the fields of extended payloads.
 */
#ifndef INJECT_NVTX_EVENT_H
#define INJECT_NVTX_EVENT_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#include "lib/record/range.h"

struct nvtx_attributes;
struct nvtx_domain;
struct nvtx_payload;
struct nvtx_string;

/* Of a name that is not registered; lib/record/args.c cuts at one less, and counts that. */
#define NVTX_EVENT_NAME_BYTES 256

struct nvtx_event {
	const struct nvtx_domain *domain;
	struct nvtx_string *string; /* its message, when that is registered */
	const char *text; /* else */
	const struct nvtx_attributes *attributes; /* NULL: none */
	const struct nvtx_payload *payloads;
	size_t n_payloads;
	uint64_t range_id; /* of a range that is ended by it; 0: none */
	char narrow[NVTX_EVENT_NAME_BYTES + 1]; /* |text|, if it was of wide characters */
	char composed[NVTX_EVENT_NAME_BYTES + 1]; /* the name, if there is a domain before it */
};

/* All that an event points to is only read until it is recorded. */
void nvtx_event_from_text(struct nvtx_event *e, const struct nvtx_domain *domain, const char *text);
void nvtx_event_from_wide(
	struct nvtx_event *e, const struct nvtx_domain *domain, const wchar_t *text);
void nvtx_event_from_attributes(struct nvtx_event *e, const struct nvtx_domain *domain,
	const struct nvtx_attributes *attributes);
void nvtx_event_from_payloads(struct nvtx_event *e, const struct nvtx_domain *domain,
	const struct nvtx_payload *payloads, size_t n);

/* What is recorded of it. Borrows |e|. */
struct range_what nvtx_event_describe(struct nvtx_event *e);

#endif
