/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's records, read from its buffers and handed on. They come in any order, even a kernel
 * before the call that launched it; the server joins them. Only the collectors' thread uses this.
 */
#ifndef PLUGINS_CUDA_RECORDS_H
#define PLUGINS_CUDA_RECORDS_H

#include <proftap/collector.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/plugins/cuda/names.h"

#define LOSSES_REASONS (PTAP_DEVICE_LOSS_NAMES + 1)

struct cuda_losses {
	uint64_t n[LOSSES_REASONS][PTAP_DEVICE_KINDS];
};

static inline void losses_add(
	struct cuda_losses *l, enum ptap_device_loss reason, enum ptap_device_kind kind, uint64_t n)
{
	l->n[reason][kind] += n;
}

struct contexts;
struct cupti;
struct cuda_launches;

struct records {
	const struct ptap_collector_services *services;
	const struct cupti *cupti;
	struct contexts *contexts;
	struct cuda_launches *launches; /* NULL: CUPTI's correlations are right */
	struct cuda_names names;
	struct cuda_losses losses;
	/*
	 * The capture's time, in CUPTI's clock: activities that ended before it or began after it
	 * are left out.
	 */
	uint64_t from_ns;
	uint64_t until_ns;
	uint64_t max_wanted;
	uint64_t n_wanted;
	uint64_t n_emitted; /* includes descriptions of streams */
	uint32_t n_devices; /* only the first devices are wanted */
};

/* Reads one buffer. 0, or the result of emit() when the capture is no longer wanted. */
int records_read(struct records *r, uint8_t *buffer, size_t n_bytes);

/* Hands on a record that was made elsewhere. Returns the result of emit(). */
int records_emit(struct records *r, const struct ptap_device_record *record);

/* Emits the losses, and clears them. 0, or the result of emit(). */
int losses_emit(
	struct cuda_losses *l, const struct ptap_collector_services *services, uint64_t at_ns);

uint64_t losses_sum(const struct cuda_losses *l);

#endif
