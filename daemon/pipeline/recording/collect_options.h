/* SPDX-License-Identifier: Apache-2.0 */
/* Formats a capture's options for collectors: lines key=value. */
#ifndef DAEMON_COLLECT_OPTIONS_H
#define DAEMON_COLLECT_OPTIONS_H

#include <stddef.h>

struct profile_options;

/*
 * Writes to |text|, terminated: the level of devices, all options of GPUs with their set or default
 * values, and the keys of advanced_configuration that the option table does not have, which another
 * vendor's collector may know. 0, or -ENOSPC: they are longer than |size| - 1.
 */
int collect_options_format(const struct profile_options *o, char *text, size_t size);

/*
 * Writes the keys that were set for a device's collector to |text|, with commas between them.
 * Returns their number.
 */
size_t collect_options_list(const struct profile_options *o, char *text, size_t size);

#endif
