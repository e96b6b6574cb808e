/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels; see kernels.h. */
#include "trace/codec/kernels.h"

#include "trace/codec/codec.h"
#include "trace/codec/sink.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"

static bool is_kernel(const struct view_track *track, const struct item *item)
{
	return track->kind == TRACK_STREAM && item->kind == ITEM_SPAN && !item->is_step;
}

static int read_track(struct kernels *k, const struct view_track *track, struct diag *d)
{
	uint64_t n_others = 0;
	struct cursor c;
	struct item item;
	int rc = cursor_open(&c, k->view, track, d);

	while (rc >= 0 && k->sink->error == 0 && (rc = cursor_next(&c, &item)) > 0) {
		if (is_kernel(track, &item)) {
			k->result->n_items++;
			k->put(k, track, &item);
		} else {
			n_others++;
		}
	}
	cursor_close(&c);
	codec_lose(k->result, "events that are no kernels", n_others);
	return rc < 0 ? rc : k->sink->error;
}

int kernels_read(struct kernels *k, struct diag *d)
{
	int rc = 0;

	for (size_t i = 0; i < k->view->n_tracks && rc == 0; i++)
		rc = read_track(k, &k->view->tracks[i], d);
	return rc;
}
