/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's records, read out of its buffers and handed on. They come in any order, also a kernel before the call that launched it; who
 * joins them is the server. Of the thread of collectors only.
 */
#ifndef PLUGINS_CUDA_RECORDS_H
#define PLUGINS_CUDA_RECORDS_H

#include <proftap/collector.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/plugins/cuda/losses.h"
#include "lib/plugins/cuda/names.h"

struct contexts;
struct cupti;
struct launches;

struct records {
	const struct ptap_collector_services *services;
	const struct cupti *cupti;
	struct contexts *contexts;
	struct launches *launches; /* NULL: CUPTI remembers them itself */
	struct names names;
	struct losses losses;
	/* What ended before, or began after, is of no capture. In CUPTI's clock. */
	uint64_t from_ns;
	uint64_t until_ns;
	uint64_t max_wanted;
	uint64_t n_wanted;
	uint64_t n_emitted; /* and what is known of streams */
	uint32_t n_devices; /* the first ones are wanted */
};

/* Reads one buffer. 0, or what emit() answers when nobody wants any more. */
int records_read(struct records *r, uint8_t *buffer, size_t n_bytes);

/* Hands on one that was made elsewhere; what emit() answers. */
int records_emit(struct records *r, const struct ptap_device_record *record);

/*
 * For those who read one kind: whether a record of those times on that device is to be handed on; what is not, but should have
 * been, is counted.
 */
int records_wants(struct records *r, enum ptap_device_kind kind, uint64_t start_ns, uint64_t end_ns,
	uint32_t device);

/* Fill |to|, which is empty but for size and kind, from a record; 0: it is not to be handed on. */
typedef int (*record_reader)(struct records *r, const void *record, struct ptap_device_record *to);
int record_read_kernel(struct records *r, const void *record, struct ptap_device_record *to);
int record_read_graph(struct records *r, const void *record, struct ptap_device_record *to);
int record_read_copy(struct records *r, const void *record, struct ptap_device_record *to);
int record_read_peer_copy(struct records *r, const void *record, struct ptap_device_record *to);
int record_read_set(struct records *r, const void *record, struct ptap_device_record *to);
int record_read_wait(struct records *r, const void *record, struct ptap_device_record *to);
int record_read_overhead(struct records *r, const void *record, struct ptap_device_record *to);
int record_read_memory(struct records *r, const void *record, struct ptap_device_record *to);
int record_read_memory_pool(struct records *r, const void *record, struct ptap_device_record *to);
int record_read_context(struct records *r, const void *record, struct ptap_device_record *to);
int record_read_stream(struct records *r, const void *record, struct ptap_device_record *to);

/* The correlation of what a graph executed, see launches.h; of other work as it is. */
uint64_t records_correlate(
	struct records *r, uint32_t correlation, uint32_t graph, uint64_t node, uint64_t start_ns);

/* A stream's number; that for none becomes ours for none. */
static inline uint64_t record_stream(uint32_t stream)
{
	return stream == UINT32_MAX ? UINT64_MAX : stream;
}

#endif
