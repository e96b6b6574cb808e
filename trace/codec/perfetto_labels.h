/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the viewer shows beside a process: its host, where there are several. A grouping's process has made-up ids: there it is the
 * programs and devices that are drawn as it, with the kernel's pids.
 */
#ifndef TRACE_CODEC_PERFETTO_LABELS_H
#define TRACE_CODEC_PERFETTO_LABELS_H

#include <stddef.h>
#include <stdint.h>

struct view;

#define PERFETTO_LABELS 9 /* the last of so many says that there are more */
#define PERFETTO_LABEL_BYTES 256 /* longer ones end with "…" */

struct perfetto_labels {
	char v[PERFETTO_LABELS][PERFETTO_LABEL_BYTES];
	size_t n;
};

/*
 * Those of the process. With a grouping |track| is the first of its tracks, and then the first of the next one's; otherwise it is left
 * alone.
 */
void perfetto_labels_make(
	struct perfetto_labels *l, const struct view *v, uint32_t process, size_t *track);

#endif
