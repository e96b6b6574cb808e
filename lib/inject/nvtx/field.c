/* SPDX-License-Identifier: Apache-2.0 */
/* Fields; see field.h. */
#include "lib/inject/nvtx/field.h"

#include <string.h>
#include <wchar.h>

#include "lib/inject/nvtx/payload_abi.h"
#include "lib/inject/nvtx/schema.h"

static const struct {
	uint8_t kind;
	uint8_t width;
} field_types[NVTX_TYPES] = {
	[NVTX_TYPE_CHAR] = {FIELD_TEXT, sizeof(char)},
	[NVTX_TYPE_UCHAR] = {FIELD_UNSIGNED, sizeof(char)},
	[NVTX_TYPE_SHORT] = {FIELD_SIGNED, sizeof(short)},
	[NVTX_TYPE_USHORT] = {FIELD_UNSIGNED, sizeof(short)},
	[NVTX_TYPE_INT] = {FIELD_SIGNED, sizeof(int)},
	[NVTX_TYPE_UINT] = {FIELD_UNSIGNED, sizeof(int)},
	[NVTX_TYPE_LONG] = {FIELD_SIGNED, sizeof(long)},
	[NVTX_TYPE_ULONG] = {FIELD_UNSIGNED, sizeof(long)},
	[NVTX_TYPE_LONGLONG] = {FIELD_SIGNED, sizeof(long long)},
	[NVTX_TYPE_ULONGLONG] = {FIELD_UNSIGNED, sizeof(long long)},
	[NVTX_TYPE_INT8] = {FIELD_SIGNED, 1},
	[NVTX_TYPE_UINT8] = {FIELD_UNSIGNED, 1},
	[NVTX_TYPE_INT16] = {FIELD_SIGNED, 2},
	[NVTX_TYPE_UINT16] = {FIELD_UNSIGNED, 2},
	[NVTX_TYPE_INT32] = {FIELD_SIGNED, 4},
	[NVTX_TYPE_UINT32] = {FIELD_UNSIGNED, 4},
	[NVTX_TYPE_INT64] = {FIELD_SIGNED, 8},
	[NVTX_TYPE_UINT64] = {FIELD_UNSIGNED, 8},
	[NVTX_TYPE_FLOAT] = {FIELD_FLOAT, sizeof(float)},
	[NVTX_TYPE_DOUBLE] = {FIELD_FLOAT, sizeof(double)},
	[NVTX_TYPE_LONGDOUBLE] = {FIELD_FLOAT, sizeof(long double)},
	[NVTX_TYPE_SIZE] = {FIELD_UNSIGNED, sizeof(size_t)},
	[NVTX_TYPE_ADDRESS] = {FIELD_ADDRESS, sizeof(void *)},
	[NVTX_TYPE_WCHAR] = {FIELD_TEXT, sizeof(wchar_t)},
	[NVTX_TYPE_CHAR8] = {FIELD_TEXT, 1},
	[NVTX_TYPE_CHAR16] = {FIELD_TEXT, 2},
	[NVTX_TYPE_CHAR32] = {FIELD_TEXT, 4},
	[NVTX_TYPE_BYTE] = {FIELD_BYTES, 1},
	[NVTX_TYPE_INT128] = {FIELD_BYTES, 16},
	[NVTX_TYPE_UINT128] = {FIELD_BYTES, 16},
	[NVTX_TYPE_FLOAT16] = {FIELD_HALF, 2},
	[NVTX_TYPE_FLOAT32] = {FIELD_FLOAT, 4},
	[NVTX_TYPE_FLOAT64] = {FIELD_FLOAT, 8},
	[NVTX_TYPE_FLOAT128] = {FIELD_BYTES, 16},
	[NVTX_TYPE_BF16] = {FIELD_BRAIN, 2},
	[NVTX_TYPE_TF32] = {FIELD_FLOAT, 4},
	[NVTX_TYPE_RANGE_ID] = {FIELD_UNSIGNED, 8},
	[NVTX_TYPE_CATEGORY] = {FIELD_UNSIGNED, 4},
	[NVTX_TYPE_COLOR] = {FIELD_UNSIGNED, 4},
	[NVTX_TYPE_SCOPE_ID] = {FIELD_UNSIGNED, 8},
	[NVTX_TYPE_PID_32] = {FIELD_UNSIGNED, 4},
	[NVTX_TYPE_PID_64] = {FIELD_UNSIGNED, 8},
	[NVTX_TYPE_TID_32] = {FIELD_UNSIGNED, 4},
	[NVTX_TYPE_TID_64] = {FIELD_UNSIGNED, 8},
	[NVTX_TYPE_CSTRING] = {FIELD_TEXT, 1},
	[NVTX_TYPE_CSTRING_UTF8] = {FIELD_TEXT, 1},
	[NVTX_TYPE_CSTRING_UTF16] = {FIELD_TEXT, 2},
	[NVTX_TYPE_CSTRING_UTF32] = {FIELD_TEXT, 4},
	[NVTX_TYPE_REGISTERED_STRING] = {FIELD_REGISTERED, sizeof(void *)},
};

bool field_from_type(struct field *f, uint64_t type)
{
	if (type >= NVTX_TYPES || !field_types[type].kind)
		return false;
	f->kind = field_types[type].kind;
	f->width = field_types[type].width;
	f->extent = FIELD_ONE;
	return true;
}

/* --- finding elements ---------------------------------------------------------------------- */

/* Reads the count from the field that counts; a negative one is 0. False: it cannot be read. */
static bool find_count(const struct field *f, const struct field_source *source, size_t *n)
{
	const struct field *counting = source->schema ? &source->schema->fields[f->n] : NULL;
	const char *at;
	size_t one;
	uint64_t bits;

	if (!counting || !field_find(counting, source, &at, &one))
		return false;
	bits = field_get(counting, at);
	*n = counting->kind == FIELD_SIGNED && (int64_t)bits < 0 ? 0 : (size_t)bits;
	return true;
}

bool field_find(
	const struct field *f, const struct field_source *source, const char **at, size_t *n)
{
	size_t left;

	if (f->offset > source->n)
		return false;
	left = (source->n - f->offset) / f->width;
	*at = source->bytes + f->offset;
	switch (f->extent) {
	case FIELD_ONE:
		*n = 1;
		break;
	case FIELD_FIXED:
		*n = f->n;
		break;
	case FIELD_COUNTED:
		if (!find_count(f, source, n))
			return false;
		break;
	default:
		*n = left;
		break;
	}
	return *n <= left;
}

/* --- elements ------------------------------------------------------------------------------ */

static uint64_t get_integer(const struct field *f, const char *at)
{
	uint64_t bits = 0;
	unsigned unused = 64 - 8u * f->width;

	/* All supported machines are little-endian. */
	memcpy(&bits, at, f->width);
	if (f->kind == FIELD_SIGNED)
		return (uint64_t)((int64_t)(bits << unused) >> unused);
	return bits;
}

static double get_half(uint32_t bits)
{
	uint32_t exponent = bits >> 10 & 31;
	double value = (double)(bits & 0x3ff);

	if (exponent == 31)
		value = value > 0 ? __builtin_nan("") : __builtin_inf();
	else if (exponent)
		value = (value + 1024) * (double)(UINT64_C(1) << exponent) / (1 << 25);
	else
		value /= 1 << 24;
	return bits & 0x8000 ? -value : value;
}

static float get_float(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

static double get_floating(const struct field *f, const char *at)
{
	long double extended;
	double value;

	if (f->kind == FIELD_HALF)
		return get_half((uint32_t)get_integer(f, at));
	if (f->kind == FIELD_BRAIN)
		return (double)get_float((uint32_t)get_integer(f, at) << 16);
	if (f->width == sizeof(float))
		return (double)get_float((uint32_t)get_integer(f, at));
	if (f->width == sizeof extended) {
		memcpy(&extended, at, sizeof extended);
		return (double)extended;
	}
	memcpy(&value, at, sizeof value);
	return value;
}

uint64_t field_get(const struct field *f, const char *at)
{
	double value;
	uint64_t bits;

	if (f->kind != FIELD_FLOAT && f->kind != FIELD_HALF && f->kind != FIELD_BRAIN)
		return get_integer(f, at);
	value = get_floating(f, at);
	memcpy(&bits, &value, sizeof bits);
	return bits;
}
