/* SPDX-License-Identifier: Apache-2.0 */
/* What is missing in a capture, by reason and kind. Of the thread of collectors only. */
#ifndef PLUGINS_CUDA_LOSSES_H
#define PLUGINS_CUDA_LOSSES_H

#include <proftap/collector.h>
#include <stdint.h>

#define LOSSES_REASONS (PTAP_DEVICE_LOSS_NAMES + 1)

struct losses {
	uint64_t n[LOSSES_REASONS][PTAP_DEVICE_KINDS];
};

static inline void losses_add(
	struct losses *l, enum ptap_device_loss reason, enum ptap_device_kind kind, uint64_t n)
{
	l->n[reason][kind] += n;
}

/* Hands them on, and forgets them. 0, or what emit() answers. */
int losses_emit(struct losses *l, const struct ptap_collector_services *services, uint64_t at_ns);

uint64_t losses_sum(const struct losses *l);

#endif
