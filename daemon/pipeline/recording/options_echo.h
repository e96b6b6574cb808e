/* SPDX-License-Identifier: Apache-2.0 */
/* Serialises the options of a trace that no client's call asked for, as in a Profile call: traces contain them. */
#ifndef DAEMON_OPTIONS_ECHO_H
#define DAEMON_OPTIONS_ECHO_H

#include <stddef.h>
#include <stdint.h>

struct profile_options;

/* |repository| may be NULL. Owner: *out belongs to the caller (free). 0 or -ENOMEM. */
int options_echo(
	const struct profile_options *from, const char *repository, uint8_t **out, size_t *n_out);

#endif
