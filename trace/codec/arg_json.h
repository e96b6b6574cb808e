/* SPDX-License-Identifier: Apache-2.0 */
/* Writes arguments as JSON, for all formats that contain JSON. */
#ifndef TRACE_CODEC_ARG_JSON_H
#define TRACE_CODEC_ARG_JSON_H

#include <stddef.h>

struct item;
struct item_arg;
struct sink;

/*
 * Writes the value: numbers with all their digits, but "nan", "inf" and "-inf" as texts; bytes as a
 * text in base64.
 */
void arg_json_value(struct sink *s, const struct item_arg *arg);
/* Writes the value, but numbers beyond int64_t as texts: viewers get such numbers wrong. */
void arg_json_viewer_value(struct sink *s, const struct item_arg *arg);

typedef void (*arg_json_put)(struct sink *s, const struct item_arg *arg);

/* Writes all arguments as one object, each value by |put|. */
void arg_json_object(struct sink *s, const struct item *item, arg_json_put put);

/* --- Base64 ----------------------------------------------------------------------------------- */

/* Base64, as in RFC 4648, section 4, with padding. */

#define BASE64_BYTES(n) (((n) + 2) / 3 * 4)

/* Writes BASE64_BYTES(n) characters, not terminated; returns the position after them. */
char *base64_encode(char *out, const void *data, size_t n);

#endif
