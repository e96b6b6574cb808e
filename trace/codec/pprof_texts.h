/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands where in a profile's string table, which is written behind all that refers to it: our own texts, then the view's
 * hosts, processes, tracks and names.
 */
#ifndef TRACE_CODEC_PPROF_TEXTS_H
#define TRACE_CODEC_PPROF_TEXTS_H

#include <stdint.h>

struct view;
struct view_track;

enum pprof_text {
	TEXT_EMPTY,
	TEXT_SPANS,
	TEXT_COUNT,
	TEXT_TIME,
	TEXT_NANOSECONDS,
	TEXT_HOST,
	TEXT_PROCESS,
	TEXT_PID,
	TEXT_THREAD,
	TEXT_TID,
	TEXT_DEVICE,
	TEXT_PRODUCER,
	N_TEXTS,
};

extern const char *const pprof_texts[N_TEXTS];

uint64_t pprof_text_of_host(uint32_t host);
uint64_t pprof_text_of_process(const struct view *v, uint32_t process);
uint64_t pprof_text_of_track(const struct view *v, const struct view_track *track);
uint64_t pprof_text_of_name(const struct view *v, uint32_t name);

#endif
