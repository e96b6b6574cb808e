/* SPDX-License-Identifier: Apache-2.0 */
/* Writes arguments as JSON. */
#include "trace/codec/arg_json.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "trace/codec/sink.h"
#include "trace/read/cursor.h"

static void put_base64(struct sink *s, const char *data, size_t n)
{
	char text[BASE64_BYTES(768)];

	sink_put(s, '"');
	for (size_t i = 0; i < n; i += 768) {
		size_t part = n - i < 768 ? n - i : 768;

		sink_write(s, text, (size_t)(base64_encode(text, data + i, part) - text));
	}
	sink_put(s, '"');
}

static void put_double(struct sink *s, double value)
{
	if (!isfinite(value))
		sink_put(s, '"');
	sink_double(s, value);
	if (!isfinite(value))
		sink_put(s, '"');
}

void arg_json_value(struct sink *s, const struct item_arg *arg)
{
	switch (arg->type) {
	case STAT_INT64:
		sink_int(s, arg->value.i64);
		return;
	case STAT_UINT64:
		sink_uint(s, arg->value.u64);
		return;
	case STAT_DOUBLE:
		put_double(s, arg->value.f64);
		return;
	case STAT_STRING:
		sink_json(s, arg->text, arg->n_bytes);
		return;
	case STAT_BYTES:
		put_base64(s, arg->text, arg->n_bytes);
		return;
	}
}

void arg_json_viewer_value(struct sink *s, const struct item_arg *arg)
{
	bool is_wide = arg->type == STAT_UINT64 && arg->value.u64 > INT64_MAX;

	if (is_wide)
		sink_put(s, '"');
	arg_json_value(s, arg);
	if (is_wide)
		sink_put(s, '"');
}

void arg_json_object(struct sink *s, const struct item *item, arg_json_put put)
{
	sink_put(s, '{');
	for (size_t i = 0; i < item->n_args; i++) {
		const struct item_arg *arg = &item->args[i];

		if (i)
			sink_put(s, ',');
		sink_json(s, arg->key, strlen(arg->key));
		sink_put(s, ':');
		put(s, arg);
	}
	sink_put(s, '}');
}

/* --- Base64 ----------------------------------------------------------------------------------- */

static char *base64_put_group(char *out, const uint8_t *p, size_t left)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t group =
		(uint32_t)p[0] << 16 | (left > 1 ? (uint32_t)p[1] << 8 : 0) | (left > 2 ? p[2] : 0);

	*out++ = digits[group >> 18];
	*out++ = digits[group >> 12 & 63];
	*out++ = left > 1 ? digits[group >> 6 & 63] : '=';
	*out++ = left > 2 ? digits[group & 63] : '=';
	return out;
}

char *base64_encode(char *out, const void *data, size_t n)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < n; i += 3)
		out = base64_put_group(out, p + i, n - i);
	return out;
}
