/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recognizes files that are no XSpaces. Other formats are protobuf messages, too, and a reader of
 * XSpaces would skip their fields as unknown: it would show an empty trace, or one with a string
 * table as its host names.
 */
#ifndef TRACE_READ_OTHER_FORMAT_H
#define TRACE_READ_OTHER_FORMAT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Returns a text that names the format of the bytes, and what to do about it; NULL if they may be
 * an XSpace, whole or not.
 */
const char *other_format_find(const uint8_t *data, size_t n_bytes);

#endif
