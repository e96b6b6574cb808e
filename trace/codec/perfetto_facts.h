/* SPDX-License-Identifier: Apache-2.0 */
/* What stands around the events of a Perfetto trace. 0 or a negative errno. */
#ifndef TRACE_CODEC_PERFETTO_FACTS_H
#define TRACE_CODEC_PERFETTO_FACTS_H

struct perfetto;

/* The clocks, and what is known of the recording as a whole. Comes first. */
int perfetto_put_facts(struct perfetto *w);
/* What each host's recording lost. Comes last. */
int perfetto_put_losses(struct perfetto *w);

#endif
