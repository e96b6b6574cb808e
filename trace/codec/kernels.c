/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels; see kernels.h. */
#include "trace/codec/kernels.h"

#include "trace/codec/codec.h"
#include "trace/codec/sink.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"

static bool is_kernel(const struct view_track *track, const struct item *item)
{
	return track->kind == TRACK_STREAM && !track->is_derived && item->kind == ITEM_SPAN &&
	       !item->is_step;
}

static int read_item(void *kernels, const struct item *item)
{
	struct kernels *k = kernels;

	if (!is_kernel(k->track, item)) {
		k->n_others++;
		return 0;
	}
	k->result->n_items++;
	k->put(k, item);
	return k->sink->error;
}

int kernels_read(struct kernels *k, struct diag *d)
{
	int rc = 0;

	for (size_t i = 0; i < k->view->n_tracks && rc == 0; i++) {
		k->track = &k->view->tracks[i];
		rc = cursor_read(k->view, k->track, read_item, k, d);
	}
	codec_lose(k->result, "events that are no kernels", k->n_others);
	return rc;
}
