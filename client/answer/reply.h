/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a ProfileResponse piece by piece and passes its XSpace on without keeping it, because
 * replies may have 2 GB. The XSpace is the field xspace (8) or the tool_data (6) called
 * "xplane.pb", which servers send to stock clients. Only the kind of field that comes first is
 * read. Several fields xspace are parts of one XSpace (protobuf merges by concatenation).
 */
#ifndef CLIENT_REPLY_H
#define CLIENT_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reply {
	/*
	 * Given by the caller; gets the XSpace. Returns 0, or a negative errno, which ends the
	 * reading.
	 */
	int (*write)(const uint8_t *data, size_t n, void *context);
	void *context;

	/* Results. */
	bool is_empty_trace;
	bool has_xspace; /* |write| got a whole XSpace, which may have 0 bytes */
	uint64_t xspace_bytes;
	uint32_t n_tools; /* the number of tool_data; at most one of them is the XSpace */
	/* The name of the first tool_data, with "…" if it was cut; not trusted. */
	char first_tool[64];

	/* The reader's state. */
	int state; /* enum reply_state in reply.c */
	int source; /* the field that gives the XSpace; 0: none yet */
	bool is_in_tool; /* inside a ProfileToolData */
	uint64_t tool_left_bytes; /* the bytes of the ProfileToolData not read yet */
	uint64_t varint;
	unsigned int varint_shift;
	uint32_t field; /* the number of the current field */
	uint32_t wire;
	uint64_t left_bytes; /* the bytes left of the current length-delimited or fixed field */
	char name[64]; /* the name of the current tool_data, maybe cut */
	size_t name_bytes;
};

#define REPLY_INIT(write_, context_)                     \
	{                                                \
		.write = (write_), .context = (context_) \
	}

/*
 * Returns 0, -EBADMSG, or the error of |write|. The signature is that of rpc_pending_read();
 * |reply| is a struct reply.
 */
int reply_feed(const uint8_t *data, size_t n, void *reply);
/* Returns 0, or -EBADMSG when the message ended in the middle of a field. */
int reply_end(const struct reply *reply);

#endif
