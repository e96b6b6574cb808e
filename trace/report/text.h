/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the report as text. Each writes nothing if the trace has no data for it. */
#ifndef TRACE_REPORT_TEXT_H
#define TRACE_REPORT_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "trace/report/page.h"

struct digest;
struct functions;
struct launcher_list;
struct report_options;
struct row;
struct slow;
struct state_list;
struct view;
struct view_track;

struct text {
	struct page page;
	const struct digest *digest;
	const struct slow *slow;
	const struct launcher_list *launches;
	const struct functions *functions;
	const struct state_list *states;
	const struct report_options *options;
};

/* text_head.c. 0 or -ENOMEM. */
int text_put_head(struct text *t);
/* text_names.c */
void text_put_names(struct text *t);
void text_put_kernels(struct text *t);
void text_put_launches(struct text *t);
void text_put_asyncs(struct text *t);
void text_put_steps(struct text *t);
void text_put_each_thread(struct text *t);
/* text_functions.c */
void text_put_functions(struct text *t);
void text_put_waiting_functions(struct text *t);
void text_put_span_functions(struct text *t);
/* text_slow.c */
void text_put_slow(struct text *t);
/* text_times.c */
void text_put_threads(struct text *t);
void text_put_devices(struct text *t);
void text_put_states(struct text *t);
void text_put_idle(struct text *t);
void text_put_flows(struct text *t);
void text_put_counters(struct text *t);

/* --- helpers of all parts (text.c) --------------------------------------------------------- */

#define TEXT_LABEL_BYTES 1024
#define TEXT_TOP 20
#define TEXT_CUTS_BYTES 80

/* These return the limit of shown rows in a table, and the number of shown rows among |n|. */
size_t text_get_most(const struct text *t);
size_t text_count_shown(const struct text *t, size_t n);
/* Writes "… and 3 more names; --top 23 shows all", unless none is left. */
void text_put_rest(struct text *t, size_t n_left, const char *what);
/*
 * This and text_label_plane() make a label such as "train (4242)", with the host's name if there
 * are several. Names may have any bytes; one of more than 400 ends with "…". Both return |label|.
 */
const char *text_label_process(
	const struct view *view, size_t origin, char label[TEXT_LABEL_BYTES]);
/* Writes "[40 unfinished, 40 began before]"; empty if no span of the row was cut. */
void text_format_cuts(const struct row *row, char out[TEXT_CUTS_BYTES]);
/*
 * Returns the id that the thread has in its file; if several servers recorded it, in the first
 * one's file.
 */
int64_t text_get_tid(const struct view_track *track);
const char *text_label_plane(const struct text *t, size_t plane, char label[TEXT_LABEL_BYTES]);

#endif
