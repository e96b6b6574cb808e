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
/* All of them as one object. */
void arg_json_object(struct sink *s, const struct item *item);

#endif
