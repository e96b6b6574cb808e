/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that are no XSpaces. Several formats are protobuf messages, too, whose fields a reader of XSpaces passes over as unknown:
 * what is left is an empty trace, or one that has a string table as its host names.
 */
#ifndef TRACE_READ_OTHER_FORMAT_H
#define TRACE_READ_OTHER_FORMAT_H

#include <stddef.h>
#include <stdint.h>

/*
 * What the bytes are, and what to do, as far as their begin tells: a text of ours. NULL: they may be an XSpace, whole or not.
 */
const char *other_format_find(const uint8_t *data, size_t n_bytes);

#endif
