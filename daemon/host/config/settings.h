/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings of the host daemon: one table for the configuration file, the command line and
 * --print-config. A file has a `key = value` on each line; '#' begins a comment at the line's start
 * and after white space.
 */
#ifndef DAEMON_SETTINGS_H
#define DAEMON_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct diag;

#define SETTINGS_TEXT_BYTES 256
/* Width of printed help, in columns. */
#define SETTINGS_WIDTH 100u
/* The value of a setting that is switched off. */
#define SETTINGS_NONE "none"
#define SETTINGS_YES "yes"

struct settings {
	char listen[SETTINGS_TEXT_BYTES]; /* "127.0.0.1:9021" */
	char web[SETTINGS_TEXT_BYTES]; /* "127.0.0.1:9022", or SETTINGS_NONE */
	char web_names[SETTINGS_TEXT_BYTES]; /* a comma list; "": none */
	char registry[SETTINGS_TEXT_BYTES]; /* a path; "": in the runtime directory */
	char operators[SETTINGS_TEXT_BYTES]; /* a group; "": none */
	char log_dir[SETTINGS_TEXT_BYTES]; /* a path; "": see its row */
	char log_level[SETTINGS_TEXT_BYTES];
	char stop_limit_s[SETTINGS_TEXT_BYTES]; /* a number */
	char stock_servers[SETTINGS_TEXT_BYTES]; /* SETTINGS_YES, or "no" */
	char recorder_metrics[SETTINGS_TEXT_BYTES]; /* patterns, a comma list; "": none */
};

struct setting {
	bool is_fixed; /* only a restart changes it */
	const char *key;
	size_t offset; /* of its text in struct settings */
	const char *default_text;
	const char *form; /* describes valid values */
	int (*check)(const char *text); /* 0, or -EINVAL */
	const char *help;
};

extern const struct setting settings_table[];
extern const size_t n_settings;

void settings_init(struct settings *s);

/*
 * Sets |key|, in which '-' may stand for '_'. 0, or -EINVAL with |d|, which names the nearest key,
 * or the valid values.
 */
int settings_set(struct settings *s, const char *key, const char *value, struct diag *d);

/* Returns true if |key| is a setting whose value is a path. */
bool settings_is_path(const char *key);

/*
 * Reads the file at |path|. 0; -EINVAL with |d| beginning "PATH:LINE:COLUMN: ", or another negative
 * errno with |d|. After an error |s| is unchanged.
 */
int settings_load(struct settings *s, const char *path, struct diag *d);

/* Returns the time for which calls may go on when the daemon is told to end. */
int64_t settings_get_stop_limit_ms(const struct settings *s);

/*
 * For a reload: copies the settings that only a restart changes from |now| to |read|, and calls
 * |on_kept| for each that differs.
 */
void settings_keep_fixed(struct settings *read, const struct settings *now,
	void (*on_kept)(const struct setting *row));

/* Prints |s| in the form of a file, each key with its help. */
void settings_print(const struct settings *s, FILE *out);

#endif
