/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens the view that a command's operands and options describe, for convert, report, diff and
 * view.
 */
#ifndef CLIENT_OPEN_VIEW_H
#define CLIENT_OPEN_VIEW_H

#include <stddef.h>

#include "trace/read/grouping.h"
#include "trace/read/selection.h"
#include "trace/read/view.h"

struct diag;

/* The settings of OPEN_VIEW_OPTIONS and OPEN_VIEW_GROUP_OPTIONS. */
struct view_settings {
	enum view_align align;
	int64_t *shifts_ns; /* NULL: none */
	size_t n_shifts;
	struct selection selection;
	struct grouping grouping;
	/* Gets messages about files that cannot be read; NULL: such a file is an error. */
	struct names *unreadable;
	/* A --pid that is not in the trace selects nothing and is not an error. */
	bool may_match_nothing;
};

#define VIEW_SETTINGS_INIT                                             \
	{                                                              \
		.selection = SELECTION_INIT, .grouping = GROUPING_INIT \
	}

void view_settings_deinit(struct view_settings *s);

/*
 * Parse the values of options. |settings| is a struct view_settings. 0, or a negative errno with
 * |d|.
 */
int view_settings_set_align(void *settings, const char *value, struct diag *d);
int view_settings_set_from(void *settings, const char *value, struct diag *d);
int view_settings_set_to(void *settings, const char *value, struct diag *d);
int view_settings_set_min_duration(void *settings, const char *value, struct diag *d);
int view_settings_set_name(void *settings, const char *value, struct diag *d);
int view_settings_set_exclude(void *settings, const char *value, struct diag *d);
int view_settings_set_thread(void *settings, const char *value, struct diag *d);
int view_settings_set_pid(void *settings, const char *value, struct diag *d);
int view_settings_set_iterations(void *settings, const char *value, struct diag *d);
int view_settings_set_primary(void *settings, const char *value, struct diag *d);
int view_settings_set_secondary(void *settings, const char *value, struct diag *d);
int view_settings_set_system_primary(void *settings, const char *value, struct diag *d);
int view_settings_set_system_secondary(void *settings, const char *value, struct diag *d);

/* Rows for a command's table of options; |member| is the struct view_settings in its settings. */
#define OPEN_VIEW_CALL(settings, member, name, set, argument, help)                           \
	{                                                                                     \
		name, 0, ARGUMENT_CALL, offsetof(settings, member), 0, 0, set, argument, help \
	}

#define OPEN_VIEW_OPTIONS(settings, member)                                                       \
	OPEN_VIEW_CALL(settings, member, "from", view_settings_set_from, "TIME",                  \
		"only events that end at TIME of the trace or later, as in 250us, 20ms, "         \
		"1.5s"),                                                                          \
		OPEN_VIEW_CALL(settings, member, "to", view_settings_set_to, "TIME",              \
			"only events that begin before TIME"),                                    \
		OPEN_VIEW_CALL(settings, member, "name", view_settings_set_name, "REGEX",         \
			"only events with a matching name"),                                      \
		OPEN_VIEW_CALL(settings, member, "exclude", view_settings_set_exclude, "REGEX",   \
			"only events without a matching name"),                                   \
		OPEN_VIEW_CALL(settings, member, "min_duration", view_settings_set_min_duration,  \
			"TIME", "only spans that last TIME or longer"),                           \
		OPEN_VIEW_CALL(settings, member, "iterations", view_settings_set_iterations,      \
			"LIST",                                                                   \
			"only events that begin in these steps, as in [1,[3-4]]; in a trace "     \
			"without steps, only these launches of each kernel"),                     \
		OPEN_VIEW_CALL(settings, member, "thread", view_settings_set_thread, "LIST",      \
			"only these threads: names (with * and ?) or tids"),                      \
		OPEN_VIEW_CALL(settings, member, "pid", view_settings_set_pid, "LIST",            \
			"only these programs and devices: pids or names"),                        \
		{"truncate_kernels", 0, ARGUMENT_FLAG,                                            \
			offsetof(settings, member.selection.truncates_kernels), 0, 0, NULL, NULL, \
			"cut arguments and template parameters off the names of kernels"},        \
		OPEN_VIEW_CALL(settings, member, "align", view_settings_set_align, "HOW",         \
			"time line of several files: epoch (default, by their clocks), start, "   \
			"or a time to add to each, as in 0,-5ms")

/* Also accepts the names that Neuron's tools have for these options. */
#define OPEN_VIEW_GROUP_OPTIONS(settings, member)                                                 \
	OPEN_VIEW_CALL(settings, member, "primary_group", view_settings_set_primary, "LIST",      \
		"properties that group rows into a process of the viewer; default "               \
		"host,pid; see proftap-convert(1)"),                                              \
		OPEN_VIEW_CALL(settings, member, "secondary_group", view_settings_set_secondary,  \
			"LIST", "properties that group events into a row; default tid"),          \
		OPEN_VIEW_CALL(settings, member, "system_trace_primary_group",                    \
			view_settings_set_system_primary, "LIST", "the same as --primary_group"), \
		OPEN_VIEW_CALL(settings, member, "system_trace_secondary_group",                  \
			view_settings_set_system_secondary, "LIST",                               \
			"the same as --secondary_group")

/*
 * Opens all trace files at |places| (files, runs, log directories) as one view, which borrows
 * |settings|. *path is the path of the file, or of the directory of the first if there are several;
 * the caller frees it. 0, or a negative errno with |d|; |d| is empty if no file can be read and
 * settings->unreadable has the reasons.
 */
int open_view(char *const *places, size_t n_places, const struct view_settings *settings,
	struct view **out, char **path, struct diag *d);

#endif
