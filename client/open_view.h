/* SPDX-License-Identifier: Apache-2.0 */
/* The view that a command's operands and options mean: what convert, diff and view have in common. */
#ifndef CLIENT_OPEN_VIEW_H
#define CLIENT_OPEN_VIEW_H

#include <stddef.h>

#include "client/command.h"
#include "trace/read/view.h"

struct diag;

/* What the options in OPEN_VIEW_OPTIONS set; zero is the default. */
struct view_settings {
	struct view_options options;
};

int open_view_set_align(void *view_settings, const char *value, struct diag *d);

/* Rows for a command's table; |member| is its struct view_settings. */
#define OPEN_VIEW_OPTIONS(settings, member)                                                       \
	{                                                                                         \
		"align", 0, COMMAND_OPTION_CALL, offsetof(settings, member), 0, 0,                \
			open_view_set_align, "HOW",                                               \
			"lays several files over each other by their clocks: epoch (default) or " \
			"start"                                                                   \
	}

/*
 * All trace files at |places| (files, runs, log directories) as one view. *path is that of the first file, or of the run
 * where there are several; the caller frees it. 0, or a negative errno with |d|.
 */
int open_view(char *const *places, size_t n_places, const struct view_settings *settings,
	struct view **out, char **path, struct diag *d);

#endif
