/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state machine of reply.h. The input may be cut anywhere, so the state keeps the bytes of an
 * incomplete varint, or the number of bytes that are left of a field. No byte is trusted.
 */
#include "client/answer/reply.h"

#include <errno.h>
#include <string.h>

#include "base/utf8.h"

#define FIELD_TOOL_DATA 6
#define FIELD_EMPTY_TRACE 7
#define FIELD_XSPACE 8
#define TOOL_NAME 1
#define TOOL_DATA 2

enum wire {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_LEN = 2,
	WIRE_FIXED32 = 5,
};

enum reply_state {
	AT_TAG,
	AT_NUMBER, /* the value of a varint field */
	AT_LENGTH,
	AT_SKIP,
	AT_NAME,
	AT_XSPACE,
};

/*
 * Adds bytes to the varint. Returns the number of bytes taken; *is_done is set when the varint is
 * complete. Negative: the varint is too long.
 */
static int take_varint(struct reply *r, const uint8_t *data, size_t n, bool *is_done)
{
	*is_done = false;
	for (size_t i = 0; i < n; i++) {
		if (r->varint_shift > 63)
			return -EBADMSG;
		r->varint |= (uint64_t)(data[i] & 0x7f) << r->varint_shift;
		r->varint_shift += 7;
		if (!(data[i] & 0x80)) {
			*is_done = true;
			return (int)i + 1;
		}
	}
	return (int)n;
}

static uint64_t steal_varint(struct reply *r)
{
	uint64_t value = r->varint;

	r->varint = 0;
	r->varint_shift = 0;
	return value;
}

static int begin_field(struct reply *r)
{
	uint64_t tag = steal_varint(r);

	if (tag > UINT32_MAX || tag >> 3 == 0)
		return -EBADMSG;
	r->field = (uint32_t)tag >> 3;
	r->wire = (uint32_t)tag & 7;
	switch (r->wire) {
	case WIRE_VARINT:
		r->state = AT_NUMBER;
		return 0;
	case WIRE_LEN:
		r->state = AT_LENGTH;
		return 0;
	case WIRE_FIXED64:
	case WIRE_FIXED32:
		r->left_bytes = r->wire == WIRE_FIXED64 ? 8 : 4;
		r->state = AT_SKIP;
		return 0;
	default:
		return -EBADMSG;
	}
}

static int end_number(struct reply *r)
{
	uint64_t value = steal_varint(r);

	if (!r->is_in_tool && r->field == FIELD_EMPTY_TRACE)
		r->is_empty_trace = value != 0;
	r->state = AT_TAG;
	return 0;
}

/* Compares the whole name; a NUL in it does not end the name. */
static bool is_xplane(const struct reply *r)
{
	static const char name[] = "xplane.pb";

	return r->name_bytes == sizeof name - 1 && memcmp(r->name, name, sizeof name - 1) == 0;
}

/*
 * Returns true if the field whose length was just read carries the XSpace. If so, it becomes the
 * source.
 */
static bool is_xspace(struct reply *r)
{
	int source = r->is_in_tool ? FIELD_TOOL_DATA : FIELD_XSPACE;

	if (r->is_in_tool) {
		if (r->field != TOOL_DATA || !is_xplane(r))
			return false;
		/* A second file of that name does not continue the first. */
		if (r->source)
			return false;
	} else if (r->field != FIELD_XSPACE) {
		return false;
	}
	if (r->source && r->source != source)
		return false;
	r->source = source;
	r->has_xspace = true;
	return true;
}

static int begin_bytes(struct reply *r)
{
	r->left_bytes = steal_varint(r);
	if (r->is_in_tool && r->left_bytes > r->tool_left_bytes)
		return -EBADMSG;
	if (!r->is_in_tool && r->field == FIELD_TOOL_DATA) {
		r->is_in_tool = true;
		r->n_tools++;
		r->tool_left_bytes = r->left_bytes;
		r->name_bytes = 0;
		r->name[0] = '\0';
		r->state = AT_TAG;
	} else if (is_xspace(r)) {
		r->state = AT_XSPACE;
	} else if (r->is_in_tool && r->field == TOOL_NAME) {
		r->name_bytes = 0;
		r->name[0] = '\0';
		r->state = AT_NAME;
	} else {
		r->state = AT_SKIP;
	}
	return 0;
}

static void add_name(struct reply *r, const uint8_t *data, size_t n)
{
	size_t room = sizeof r->name - 1 - r->name_bytes;
	bool is_cut = n > room;

	if (is_cut)
		n = room;
	memcpy(r->name + r->name_bytes, data, n);
	r->name_bytes += n;
	r->name[r->name_bytes] = '\0';
	if (r->n_tools != 1)
		return;
	memcpy(r->first_tool, r->name, sizeof r->first_tool);
	if (is_cut)
		utf8_mark_cut(r->first_tool, sizeof r->first_tool);
}

static int take_bytes(struct reply *r, const uint8_t *data, size_t n)
{
	int error = 0;

	if (r->state == AT_NAME)
		add_name(r, data, n);
	if (r->state == AT_XSPACE) {
		r->xspace_bytes += n;
		error = r->write(data, n, r->context);
	}
	r->left_bytes -= n;
	return error;
}

/* Leaves fields and messages that have no bytes left. */
static void close_levels(struct reply *r)
{
	if (r->state >= AT_SKIP && r->left_bytes == 0)
		r->state = AT_TAG;
	if (r->state == AT_TAG && r->is_in_tool && r->tool_left_bytes == 0 && !r->varint_shift)
		r->is_in_tool = false;
}

static int take_number(struct reply *r, const uint8_t *data, size_t n, size_t *n_taken)
{
	bool is_done;
	int taken = take_varint(r, data, n, &is_done);

	if (taken < 0)
		return taken;
	*n_taken = (size_t)taken;
	if (r->is_in_tool)
		r->tool_left_bytes -= *n_taken;
	if (!is_done)
		/* The number must not go beyond the message that holds it. */
		return r->is_in_tool && r->tool_left_bytes == 0 ? -EBADMSG : 0;
	if (r->state == AT_TAG)
		return begin_field(r);
	return r->state == AT_LENGTH ? begin_bytes(r) : end_number(r);
}

static int take_some(struct reply *r, const uint8_t *data, size_t n, size_t *n_taken)
{
	if (r->state < AT_SKIP) {
		if (r->is_in_tool && n > r->tool_left_bytes)
			n = (size_t)r->tool_left_bytes;
		if (n == 0)
			return -EBADMSG;
		return take_number(r, data, n, n_taken);
	}
	if (n > r->left_bytes)
		n = (size_t)r->left_bytes;
	/*
	 * Fields of fixed size are checked here; those with a length were checked by begin_bytes().
	 */
	if (r->is_in_tool && n > r->tool_left_bytes)
		return -EBADMSG;
	*n_taken = n;
	if (r->is_in_tool)
		r->tool_left_bytes -= n;
	return take_bytes(r, data, n);
}

int reply_feed(const uint8_t *data, size_t n, void *reply)
{
	struct reply *r = reply;

	while (n > 0) {
		size_t n_taken = 0;
		int error = take_some(r, data, n, &n_taken);

		if (error)
			return error;
		data += n_taken;
		n -= n_taken;
		close_levels(r);
	}
	return 0;
}

int reply_end(const struct reply *r)
{
	return r->state == AT_TAG && !r->is_in_tool && !r->varint_shift ? 0 : -EBADMSG;
}
