/* SPDX-License-Identifier: Apache-2.0 */
/* The items of a view as the track events of a Perfetto trace. */
#ifndef TRACE_CODEC_PERFETTO_EVENTS_H
#define TRACE_CODEC_PERFETTO_EVENTS_H

struct perfetto;

/* Those of all tracks, each a sequence. 0 or a negative errno with the diag. */
int perfetto_put_events(struct perfetto *w);

#endif
