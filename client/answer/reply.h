/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a ProfileResponse as it comes, piece by piece, and hands the XSpace in it on without keeping
 * it: replies may have 2 GB. The XSpace is either the field xspace (8) or, from servers that were
 * asked by stock clients' rules, the tool_data (6) called "xplane.pb". The first kind that comes
 * counts; an xspace in several parts is one (protobuf merges by concatenation).
 */
#ifndef CLIENT_REPLY_H
#define CLIENT_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reply {
	/* Given by the caller: gets the XSpace; 0 or a negative errno, which ends the reading. */
	int (*write)(const uint8_t *data, size_t n, void *context);
	void *context;

	/* The answers. */
	bool is_empty_trace;
	bool has_xspace; /* |write| got a whole XSpace, maybe of 0 bytes */
	uint64_t xspace_bytes;
	uint32_t n_tools; /* tool_data: files, of which only one can be the XSpace */
	char first_tool
		[64]; /* the name of the first, with "…" where it was cut; a stranger's words */

	/* The reader's own. */
	int state; /* enum reply_state in reply.c */
	int source; /* the field that gives the XSpace; 0: none yet */
	bool is_in_tool; /* inside a ProfileToolData */
	uint64_t tool_left_bytes; /* of that, behind the current position */
	uint64_t varint;
	unsigned int varint_shift;
	uint32_t field; /* its number */
	uint32_t wire;
	uint64_t left_bytes; /* of the current length-delimited or fixed field */
	char name[64]; /* of the current tool_data; a longer one is cut, and is not the XSpace's */
	size_t name_bytes;
};

#define REPLY_INIT(write_, context_)                     \
	{                                                \
		.write = (write_), .context = (context_) \
	}

/* 0, -EBADMSG, or what |write| returned. Fits rpc_pending_read() with |reply| as the context. */
int reply_feed(const uint8_t *data, size_t n, void *reply);
/* 0, or -EBADMSG when the message ended in the middle of a field. */
int reply_end(const struct reply *reply);

#endif
