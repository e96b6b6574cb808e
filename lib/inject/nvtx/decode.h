/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extended payloads of an event: each field of a known layout is an argument, an array is one as text ("[1, 2, 3]"); of bytes that
 * nobody can read it is said how many there are (`payload_bytes`).
 */
#ifndef INJECT_NVTX_DECODE_H
#define INJECT_NVTX_DECODE_H

struct nvtx_domain;
struct nvtx_event;
struct nvtx_payload;
struct writer;

/* Of one event no more are read. */
#define DECODE_MAX_PAYLOADS 32

/* The name of |e|, where its payloads have one. */
void decode_message(struct nvtx_event *e);

void decode_payload(
	struct writer *w, const struct nvtx_domain *domain, const struct nvtx_payload *payload);

#endif
