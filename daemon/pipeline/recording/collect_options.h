/* SPDX-License-Identifier: Apache-2.0 */
/* What collectors are told of a capture's options: lines key=value. */
#ifndef DAEMON_COLLECT_OPTIONS_H
#define DAEMON_COLLECT_OPTIONS_H

#include <stddef.h>

struct profile_options;

/*
 * Into |text|, terminated: the level of devices, all options of GPUs, as set or as they are by default, and the keys of
 * advanced_configuration that no row of the table describes, which another vendor's collector may know. 0, or -ENOSPC: they are
 * longer than |size| - 1.
 */
int collect_options_format(const struct profile_options *o, char *text, size_t size);

/* Into |text|: the keys that were set and that ask a device's collector for something, with commas between them. How many. */
size_t collect_options_list(const struct profile_options *o, char *text, size_t size);

#endif
