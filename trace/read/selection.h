/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A selection defines the wanted items of a view. view_open() prepares it: it marks the wanted
 * names, and finds the times of the wanted steps.
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

/* The selection that a user requests. SELECTION_INIT selects everything. */
struct selection {
	int64_t from_ns; /* items that end earlier are left out */
	int64_t to_ns; /* items that begin at this time or later are left out */
	int64_t min_duration_ns; /* shorter spans are left out */
	regex_t name; /* names of wanted items */
	bool has_name;
	regex_t exclude; /* names of items that are left out */
	bool has_exclude;
	/* "loader,worker-*,4242": patterns of fnmatch(3) for names, or tids; NULL: all */
	const char *threads;
	const char *pids; /* "4242,train": pids, or patterns for names of processes; NULL: all */
	struct selection_range *iterations; /* NULL: all */
	size_t n_iterations;
	bool truncates_kernels; /* names of kernels lose arguments and template parameters */
	int32_t device; /* only tracks of this device; SELECTION_HOSTS: only those of no device */
	/* Digests include the time in which the recording is not complete (digest.h) */
	bool is_whole;
};

#define SELECTION_MAX_WORD 255
#define SELECTION_ALL_DEVICES (-1)
#define SELECTION_HOSTS (-2)
#define SELECTION_INIT                                                                    \
	{                                                                                 \
		.from_ns = INT64_MIN, .to_ns = INT64_MAX, .device = SELECTION_ALL_DEVICES \
	}

/*
 * These parse the value of an option: 0, or -EINVAL or -ENOMEM with |d|, which begins with
 * |option|.
 */
int selection_set_name(struct selection *s, const char *option, const char *value, struct diag *d);
int selection_set_exclude(
	struct selection *s, const char *option, const char *value, struct diag *d);
/* |value| is like "[1,[3-4]]" or "1,3-4". */
int selection_set_iterations(
	struct selection *s, const char *option, const char *value, struct diag *d);
/*
 * |value| is like "loader,worker-*,4242": each word is a pattern of fnmatch(3) of 1 to
 * SELECTION_MAX_WORD bytes, and a backslash makes a comma part of it. |value| is borrowed.
 */
int selection_set_threads(
	struct selection *s, const char *option, const char *value, struct diag *d);
int selection_set_pids(struct selection *s, const char *option, const char *value, struct diag *d);
/* |value| is like "10ms", "1.5s", "200us" or "5ns"; a number alone is in milliseconds. */
int selection_parse_time(const char *option, const char *value, int64_t *out_ns, struct diag *d);
void selection_deinit(struct selection *s);

/* Returns the length of the first word of a list of threads or pids. */
size_t selection_get_word_length(const char *words);
/*
 * True if the |n| bytes of |word|, of a list of threads or pids, match |name| as a pattern, or are
 * |id|.
 */
bool selection_is_word(const char *word, size_t n, const char *name, int64_t id);
/* True if everything is wanted. */
bool selection_is_all(const struct selection *s);

/* --- while a view is opened and read ------------------------------------------------------- */

/* A time in which a wanted step ran on a host. */
struct selection_window {
	uint32_t host;
	int64_t start_ns;
	int64_t end_ns;
};

/* A selection that is prepared for a view. All zero if there is no selection. */
struct selected {
	uint8_t *names; /* 1 for each of the view's names that is wanted; NULL: all are */
	uint32_t n_names; /* length of |names|, which has no truncated names of kernels */
	/* The truncated name for each of the view's names; NULL: kernels keep their names */
	uint32_t *kernels;
	struct selection_window *windows; /* sorted by host and start; they do not overlap */
	size_t n_windows;
	size_t n_windows_allocated;
	/* 1 for each host with steps, to which windows apply; NULL: no iterations are selected */
	uint8_t *has_steps;
};

/*
 * Prepares the selection of a view whose tracks and names are complete. 0, or a negative errno with
 * |d|.
 */
int selection_prepare(struct view *view, struct diag *d);
void selected_deinit(struct selected *s);

/* False if no item of the track can be wanted. */
bool selection_has_track(const struct view *view, const struct view_track *track);
/* |nth| is the number of earlier items of that name, if selection_counts(). */
bool selection_has_item(const struct view *view, const struct view_track *track,
	const struct item *item, uint64_t nth);
/*
 * True if the cursor has to count the track's items by name: on a host without steps, iteration N
 * of a name is its item N.
 */
bool selection_counts(const struct view *view, const struct view_track *track);

#endif
