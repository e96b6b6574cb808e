/* SPDX-License-Identifier: Apache-2.0 */
/* A collector's record as it lies in a ring: <proftap/collector.h> on the one side, lib/wire/device.h on the other. */
#ifndef COLLECT_DEVICE_RECORD_H
#define COLLECT_DEVICE_RECORD_H

#include <proftap/collector.h>
#include <stdint.h>

#include "lib/wire/device.h"

/*
 * Fills |entry| with what |record| says, of which an older plug-in may have fewer bytes. Returns how many bytes of it there
 * are; 0: it makes no sense.
 */
uint32_t device_record_read(const struct ptap_device_record *record, struct device_entry *entry);

#endif
