/* SPDX-License-Identifier: Apache-2.0 */
/* What the devices are, as the driver tells. */
#ifndef PLUGINS_CUDA_DEVICES_H
#define PLUGINS_CUDA_DEVICES_H

#include <stdint.h>

struct driver;
struct names;
struct ptap_collector_services;

struct devices {
	const struct driver *driver;
	int n; /* the first ones */
	uint32_t driver_version;
	uint32_t library_version;
};

/* Hands on one PTAP_DEVICE_INFO for each. 0, or what emit() answers. */
int devices_emit(const struct devices *d, struct names *names,
	const struct ptap_collector_services *services);

#endif
