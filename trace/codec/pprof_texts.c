/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of texts; see pprof_texts.h. */
#include "trace/codec/pprof_texts.h"

#include "trace/read/view.h"

const char *const pprof_texts[N_TEXTS] = {
	[TEXT_EMPTY] = "",
	[TEXT_SPANS] = "spans",
	[TEXT_COUNT] = "count",
	[TEXT_TIME] = "time",
	[TEXT_NANOSECONDS] = "nanoseconds",
	[TEXT_HOST] = "host",
	[TEXT_PROCESS] = "process",
	[TEXT_PID] = "pid",
	[TEXT_THREAD] = "thread",
	[TEXT_TID] = "tid",
	[TEXT_DEVICE] = "device",
	[TEXT_PRODUCER] = "made by proftap " PACKAGE_VERSION,
};

uint64_t pprof_text_of_host(uint32_t host)
{
	return N_TEXTS + (uint64_t)host;
}

uint64_t pprof_text_of_process(const struct view *v, uint32_t process)
{
	return pprof_text_of_host(0) + v->n_archives + process;
}

uint64_t pprof_text_of_track(const struct view *v, const struct view_track *track)
{
	return pprof_text_of_process(v, 0) + v->n_processes + (uint64_t)(track - v->tracks);
}

uint64_t pprof_text_of_name(const struct view *v, uint32_t name)
{
	return pprof_text_of_process(v, 0) + v->n_processes + v->n_tracks + name;
}
