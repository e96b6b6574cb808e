/* SPDX-License-Identifier: Apache-2.0 */
/* Formats a capture's options for collectors as lines of the form key=value. */
#ifndef DAEMON_COLLECT_OPTIONS_H
#define DAEMON_COLLECT_OPTIONS_H

#include <stddef.h>

struct profile_options;

/*
 * Writes the lines to |text|, with a terminating zero byte: device_tracer_level, each GPU option
 * with its value or its default, and the keys of advanced_configuration that are not in the
 * option table, because a collector of another vendor may know them. Returns 0, or -ENOSPC if
 * the lines are longer than |size| - 1.
 */
int collect_options_format(const struct profile_options *o, char *text, size_t size);

/*
 * Writes the keys that were set for a device's collector to |text|, with commas between them.
 * Returns their number.
 */
size_t collect_options_list(const struct profile_options *o, char *text, size_t size);

#endif
