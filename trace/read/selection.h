/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which items of a view are wanted. What can be known beforehand is found out once, when the view is opened: names, tracks, and
 * the times of the wanted steps.
 */
#ifndef TRACE_READ_SELECTION_H
#define TRACE_READ_SELECTION_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diag;
struct item;
struct view;
struct view_track;

/* Numbers from |first| to |last|, both included. */
struct selection_range {
	int64_t first;
	int64_t last;
};

/* What was asked for. SELECTION_INIT is everything. */
struct selection {
	int64_t from_ns; /* what ends before is left out; and what begins at or after |to_ns| */
	int64_t to_ns;
	int64_t min_duration_ns; /* of spans */
	regex_t name; /* of all items */
	bool has_name;
	regex_t exclude; /* names that are left out */
	bool has_exclude;
	const char *threads; /* "loader,worker-*,4242": names (as fnmatch(3)) or tids; NULL: all */
	const char *pids; /* "4242,train": pids or names of processes, likewise */
	struct selection_range *iterations; /* NULL: all */
	size_t n_iterations;
	bool truncates_kernels; /* no arguments, no template parameters in the names of kernels */
	int32_t device; /* only this one's tracks; SELECTION_HOSTS: only those of none */
	bool is_whole; /* digests look at the time in which the recording is not complete, too (digest.h) */
};

#define SELECTION_MAX_WORD 255
#define SELECTION_ALL_DEVICES (-1)
#define SELECTION_HOSTS (-2)
#define SELECTION_INIT                                                                    \
	{                                                                                 \
		.from_ns = INT64_MIN, .to_ns = INT64_MAX, .device = SELECTION_ALL_DEVICES \
	}

/* Each of the words of an option: 0, or -EINVAL or -ENOMEM with |d|, which begins with |option|. */
int selection_set_name(struct selection *s, const char *option, const char *value, struct diag *d);
int selection_set_exclude(
	struct selection *s, const char *option, const char *value, struct diag *d);
/* "[1,[3-4]]", "1,3-4" */
int selection_set_iterations(
	struct selection *s, const char *option, const char *value, struct diag *d);
/*
 * "loader,worker-*,4242"; a word is a pattern of fnmatch(3), a backslash makes a comma part of it, and one has 1 to
 * SELECTION_MAX_WORD bytes. |value| is borrowed.
 */
int selection_set_threads(
	struct selection *s, const char *option, const char *value, struct diag *d);
int selection_set_pids(struct selection *s, const char *option, const char *value, struct diag *d);
/* "10ms", "1.5s", "200us", "5ns"; a number alone is milliseconds. */
int selection_parse_time(const char *option, const char *value, int64_t *out_ns, struct diag *d);
void selection_deinit(struct selection *s);

/* Whether it is one of the iterations. */
bool selection_has_number(const struct selection *s, int64_t number);
/* Bytes of the first word of such a list of threads or pids. */
size_t selection_get_word_length(const char *words);
/* Whether the |n| bytes of |word|, one of such a list, are that |name|, as a pattern, or that |id|. */
bool selection_is_word(const char *word, size_t n, const char *name, int64_t id);
/* Whether everything is wanted. */
bool selection_is_all(const struct selection *s);

/* --- while a view is opened and read ------------------------------------------------------- */

/* A time in which a wanted step ran on a host. */
struct selection_window {
	uint32_t host;
	int64_t start_ns;
	int64_t end_ns;
};

/* What is known of the view beforehand. All zero where there is no selection. */
struct selected {
	uint8_t *names; /* for each of the view's names, whether it is wanted; NULL: all are */
	uint32_t n_names; /* as many, without those that kernels are called instead */
	uint32_t *
		kernels; /* for each of the view's names, what a kernel of that name is called; NULL: the same */
	struct selection_window *windows; /* by host and start; they do not overlap */
	size_t n_windows;
	size_t n_windows_allocated;
	uint8_t *
		has_steps; /* for each host, whether it has steps, so that windows count; NULL: iterations do not */
};

/* When tracks and names are there. 0, or a negative errno with |d|. */
int selection_prepare(struct view *view, struct diag *d);
void selected_deinit(struct selected *s);

/* Whether anything of the track can be wanted. */
bool selection_has_track(const struct view *view, const struct view_track *track);
/* |nth|: how many items of that name the track had before, if it is one of kernels. */
bool selection_has_item(const struct view *view, const struct view_track *track,
	const struct item *item, uint64_t nth);
/* Whether |nth| means something for the track: the cursor counts then. */
bool selection_counts(const struct view *view, const struct view_track *track);

#endif
