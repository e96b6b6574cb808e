/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the host daemon is told: one table for the configuration file, for the command line, and for --print-config. A file has a
 * `key = value` on each line; '#' begins a comment, at the line's start and behind white space.
 */
#ifndef DAEMON_SETTINGS_H
#define DAEMON_SETTINGS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct diag;

#define SETTINGS_TEXT_BYTES 256
/* Of what is printed of them. */
#define SETTINGS_WIDTH 100u
/* It is off. */
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
	int is_fixed; /* a reload does not change it */
	const char *key;
	size_t offset; /* of its text in struct settings */
	const char *default_text;
	const char *form; /* what it may be, for people */
	int (*check)(const char *text); /* 0, or -EINVAL */
	const char *help;
};

extern const struct setting settings_table[];
extern const size_t n_settings;

void settings_init(struct settings *s);

/* Sets |key| (with '-' for '_' as well). 0, or -EINVAL with |d|, which names the nearest key, or what the value may be. */
int settings_set(struct settings *s, const char *key, const char *value, struct diag *d);

int settings_is_key(const char *key);
/* Whether |key| is one whose value is a path. */
int settings_is_path(const char *key);

/*
 * Reads the file at |path|. 0; -EINVAL with |d| beginning "PATH:LINE:COLUMN: ", or another negative errno with |d|; then |s| is as
 * it was.
 */
int settings_load(struct settings *s, const char *path, struct diag *d);

/* How long captures may go on when the daemon is told to end. */
int64_t settings_get_stop_limit_ms(const struct settings *s);

/*
 * Of a reload: makes the fixed ones of |read| what they are in |now|, and tells |on_kept| of each that was to be another.
 */
void settings_keep_fixed(struct settings *read, const struct settings *now,
	void (*on_kept)(const struct setting *row));

/* As a file that would be read as |s|, each key with its help. */
void settings_print(const struct settings *s, FILE *out);

#endif
