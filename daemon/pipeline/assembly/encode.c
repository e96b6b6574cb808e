/* SPDX-License-Identifier: Apache-2.0 */
/* From the trace model to a delivery; see encode.h. */
#include "daemon/pipeline/assembly/encode.h"

#include <inttypes.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/assembly/shorten.h"
#include "trace/model/space.h"
#include "trace/xspace/xspace.h"

/* For the sentence about it. */
#define WARNING_BYTES 1024

/* Everything but the events in the spool, and the gaps for them. */
static int encode_frame(
	const struct encode_request *request, struct chunks *frame, struct xspace_gaps *gaps)
{
	int r;

	frame->cancel = request->cancel;
	r = xspace_encode_around(request->space, frame, gaps);
	frame->cancel = NULL;
	return r;
}

static int make_delivery(const struct encode_request *request, struct chunks *frame,
	const struct xspace_gaps *gaps, struct delivery **out)
{
	return gaps->n ? delivery_new_from_spool(frame, gaps, request->spool, out)
		       : delivery_new_from_chunks(frame, out);
}

static int add_warning(struct space *space, const struct shortened *cut)
{
	return space_add_warning(space,
		"%" PRIu64
		" events of the first %.3f s are left out: the whole trace is larger than "
		"this client can take (2 GiB); it is complete from then on; use proftap capture, or "
		"record less",
		cut->n_events, (double)cut->until_ns / 1e9);
}

/* Leaves out what is too much. */
static int fit(const struct encode_request *request, uint64_t n_bytes, uint64_t *n_left_out)
{
	struct shortened cut = {.n_events = 0};
	int r = shorten(request->space, n_bytes + WARNING_BYTES - request->max_bytes, &cut);

	*n_left_out = cut.n_events;
	return !r && cut.n_events ? add_warning(request->space, &cut) : r;
}

int encode(const struct encode_request *request, struct delivery **out, uint64_t *n_left_out)
{
	_cleanup_(xspace_gaps_deinit) struct xspace_gaps gaps = {NULL, 0, 0, 0};
	_cleanup_(chunks_deinit) struct chunks frame = CHUNKS_INIT;
	int r = encode_frame(request, &frame, &gaps);
	uint64_t n_bytes = frame.total_bytes + gaps.n_bytes;

	*n_left_out = 0;
	if (!r && request->max_bytes && n_bytes > request->max_bytes) {
		r = fit(request, n_bytes, n_left_out);
		chunks_deinit(&frame);
		xspace_gaps_deinit(&gaps);
		if (!r)
			r = encode_frame(request, &frame, &gaps);
	}
	return r ? r : make_delivery(request, &frame, &gaps, out);
}
