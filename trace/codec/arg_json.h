/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments as JSON, for all formats made of it. */
#ifndef TRACE_CODEC_ARG_JSON_H
#define TRACE_CODEC_ARG_JSON_H

struct item;
struct item_arg;
struct sink;

/*
 * The value: numbers as numbers with all their digits, what is no number ("nan", "inf", "-inf") as a text, bytes as a text in
 * base64.
 */
void arg_json_value(struct sink *s, const struct item_arg *arg);
/* The same, but what fits into no int64_t is a text: viewers get such numbers wrong. */
void arg_json_viewer_value(struct sink *s, const struct item_arg *arg);

typedef void (*arg_json_put)(struct sink *s, const struct item_arg *arg);

/* All of them as one object, each by |put|. */
void arg_json_object(struct sink *s, const struct item *item, arg_json_put put);

#endif
