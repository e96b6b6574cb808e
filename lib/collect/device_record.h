/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts a collector's record (<proftap/collector.h>) to the form that it has in a ring
 * (lib/wire/device.h).
 */
#ifndef COLLECT_DEVICE_RECORD_H
#define COLLECT_DEVICE_RECORD_H

#include <proftap/collector.h>
#include <stdint.h>

#include "lib/wire/device.h"

/*
 * Fills |entry| from |record|, which is shorter if the plug-in is older. Returns the entry's length
 * in bytes; 0: the record is invalid.
 */
uint32_t device_record_read(const struct ptap_device_record *record, struct device_entry *entry);

#endif
