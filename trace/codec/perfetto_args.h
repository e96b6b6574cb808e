/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments as debug annotations, into the event that is being written. */
#ifndef TRACE_CODEC_PERFETTO_ARGS_H
#define TRACE_CODEC_PERFETTO_ARGS_H

#include <stddef.h>
#include <stdint.h>

struct item_arg;
struct perfetto_interned;

/* The bytes that they take at most. */
size_t perfetto_args_measure(const struct item_arg *args, size_t n);
/* The entries of keys that the sequence does not know yet. */
uint8_t *perfetto_args_intern(
	uint8_t *at, const struct item_arg *args, size_t n, struct perfetto_interned *keys);
/* The annotations, whose keys are known. */
uint8_t *perfetto_args_put(
	uint8_t *at, const struct item_arg *args, size_t n, const struct perfetto_interned *keys);

#endif
