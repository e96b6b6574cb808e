/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes an XSpace into the trace model, so that tests see what the encoder wrote. It is also the
 * reference for trace/read/archive.h: both decoders accept the same bytes.
 */
#ifndef TESTS_UNIT_XSPACE_DECODE_H
#define TESTS_UNIT_XSPACE_DECODE_H

#include <stddef.h>
#include <stdint.h>

struct chunks;
struct diag;
struct space;

/*
 * Reads an XSpace of any origin (JAX, TensorFlow, proftap). The bytes are untrusted: a bad one
 * gives -EBADMSG and a text with its offset and what is wrong there. Line timestamps, whether since
 * the epoch or relative, are added to the event offsets; picoseconds are rounded to nanoseconds.
 * The caller owns *out (space_free).
 */
int xspace_decode(const uint8_t *data, size_t n_bytes, struct space **out, struct diag *d);

/* Returns the bytes in one block, which the caller frees; NULL when memory ran out. */
uint8_t *xspace_flatten(const struct chunks *c);

#endif
