/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of counters: each counter has a track, which is described before its first sample. */
#ifndef TRACE_CODEC_PERFETTO_SAMPLES_H
#define TRACE_CODEC_PERFETTO_SAMPLES_H

#include <stdbool.h>

struct item;
struct perfetto_sequence;

/* Whether its value is a number, as those of Perfetto's counters are. */
bool perfetto_is_sample(const struct item *item);
/* Puts one that perfetto_is_sample(). 0 or a negative errno. */
int perfetto_put_sample(struct perfetto_sequence *s, const struct item *item);

#endif
