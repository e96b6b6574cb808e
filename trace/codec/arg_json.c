/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments as JSON; see arg_json.h. */
#include "trace/codec/arg_json.h"

#include <math.h>
#include <string.h>

#include "trace/codec/sink.h"
#include "trace/read/cursor.h"

static void put_base64(struct sink *s, const uint8_t *data, size_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	sink_put(s, '"');
	for (size_t i = 0; i < n; i += 3) {
		size_t left = n - i;
		uint32_t group = (uint32_t)data[i] << 16 |
				 (left > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
				 (left > 2 ? data[i + 2] : 0);

		sink_put(s, digits[group >> 18]);
		sink_put(s, digits[group >> 12 & 63]);
		sink_put(s, left > 1 ? digits[group >> 6 & 63] : '=');
		sink_put(s, left > 2 ? digits[group & 63] : '=');
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
		put_base64(s, (const uint8_t *)arg->text, arg->n_bytes);
		return;
	}
}

void arg_json_object(struct sink *s, const struct item *item)
{
	sink_put(s, '{');
	for (size_t i = 0; i < item->n_args; i++) {
		const struct item_arg *arg = &item->args[i];

		if (i)
			sink_put(s, ',');
		sink_json(s, arg->key, strlen(arg->key));
		sink_put(s, ':');
		arg_json_value(s, arg);
	}
	sink_put(s, '}');
}
