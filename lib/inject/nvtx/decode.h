/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extended payloads of an event: each field of a known layout becomes an argument, an array becomes
 * one as text ("[1, 2, 3]"). Unreadable bytes are reported by their number (`payload_bytes`).
 */
#ifndef INJECT_NVTX_DECODE_H
#define INJECT_NVTX_DECODE_H

struct nvtx_domain;
struct nvtx_event;
struct nvtx_payload;
struct nvtx_writer;

/* Further payloads of an event are ignored. */
#define DECODE_MAX_PAYLOADS 32

/* Sets the name of |e|, if one of its payloads carries it. */
void decode_message(struct nvtx_event *e);

void decode_payload(struct nvtx_writer *w, const struct nvtx_domain *domain,
	const struct nvtx_payload *payload);

#endif
