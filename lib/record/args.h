/* SPDX-License-Identifier: Apache-2.0 */
/* Turning a call's arguments into slots of a frame. */
#ifndef RECORD_ARGS_H
#define RECORD_ARGS_H

#include <stdint.h>

struct ptap_impl_arg;
struct ptap_impl_site;
struct ring;
struct ring_frame;
struct slot;

/* Both return the number of slots written, at most RECORD_MAX_EXTRA; what was cut is counted. */
uint32_t args_write(struct ring *ring, struct slot *slots, struct ptap_impl_site *site,
	const struct ptap_impl_arg *args, unsigned n_args);
uint32_t args_write_name(struct ring *ring, struct slot *slots, const char *name);

#endif
