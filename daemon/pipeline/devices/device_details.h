/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The facts in devices' records besides their times. Equal ones are kept once, as keys of keys.h: a
 * kernel may be launched a million times in one way.
 */
#ifndef DAEMON_DEVICE_DETAILS_H
#define DAEMON_DEVICE_DETAILS_H

#include <stdint.h>

#include "lib/wire/device.h"

struct device_wait {
	struct device_waited waited;
	uint64_t stream; /* UINT64_MAX: all of the context */
};

struct device_detail {
	uint8_t kind; /* enum device_kind */
	uint8_t collector;
	uint16_t device;
	uint32_t context;
	uint32_t name; /* string id; STRING_ID_LOST: none */
	uint32_t reserved;
	union {
		struct device_kernel kernel;
		struct device_copied copy;
		struct device_filled set;
		struct device_wait sync;
		struct device_memory_change memory;
		struct device_graph graph;
	} of;
};

_Static_assert(sizeof(struct device_detail) == 56, "no padding: it is compared as bytes");

/* The graph and its node that the work was executed for; 0: none. */
static inline uint32_t device_detail_get_graph(const struct device_detail *d)
{
	switch (d->kind) {
	case DEVICE_KERNEL:
		return d->of.kernel.graph;
	case DEVICE_COPY:
		return d->of.copy.graph;
	case DEVICE_SET:
		return d->of.set.graph;
	default:
		return 0;
	}
}

static inline uint64_t device_detail_get_node(const struct device_detail *d)
{
	switch (d->kind) {
	case DEVICE_KERNEL:
		return d->of.kernel.graph_node;
	case DEVICE_COPY:
		return d->of.copy.graph_node;
	case DEVICE_SET:
		return d->of.set.graph_node;
	default:
		return 0;
	}
}

#endif
