/* SPDX-License-Identifier: Apache-2.0 */
/* The host daemon's settings; see settings.h. */
#include "daemon/host/config/settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/diag.h"
#include "base/line_break.h"
#include "base/log.h"
#include "base/options.h"
#include "daemon/host/config/listener.h"

#define MAX_STOP_LIMIT_S 3600

static int check_listen(const char *text)
{
	return listener_check_address(text);
}

static int check_web(const char *text)
{
	return strcmp(text, SETTINGS_NONE) == 0 ? 0 : listener_check_address(text);
}

/*
 * Checks one name or address, without a port. A star is not allowed, since it would permit
 * requests with any host name.
 */
static bool is_host_name(const char *text, size_t n)
{
	if (n > 2 && text[0] == '[' && text[n - 1] == ']')
		return strspn(text + 1, "0123456789abcdefABCDEF:.") == n - 2;
	return n &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") >=
		       n;
}

static int check_names(const char *text)
{
	while (*text) {
		size_t n = strcspn(text, ",");

		if (!is_host_name(text, n) || (text[n] && !text[n + 1]))
			return -EINVAL;
		text += n + (text[n] == ',');
	}
	return 0;
}

/* Patterns are matched against names of programs, which have at most 63 bytes. */
static int check_patterns(const char *text)
{
	while (*text) {
		size_t n = strcspn(text, ",");

		if (!n || n > 63 || text[0] == ' ' || (text[n] && !text[n + 1]))
			return -EINVAL;
		text += n + (text[n] == ',');
	}
	return 0;
}

static int check_path(const char *text)
{
	return !text[0] || text[0] == '/' ? 0 : -EINVAL;
}

static int check_any(const char *text)
{
	(void)text;
	return 0;
}

static int check_log_level(const char *text)
{
	enum log_level level;

	return log_level_parse(text, &level);
}

/* Returns the number in |text|, or -1. */
static long parse_stop_limit(const char *text)
{
	char *end;
	long n = strtol(text, &end, 10);

	return isdigit((unsigned char)text[0]) && !*end && n <= MAX_STOP_LIMIT_S ? n : -1;
}

static int check_stop_limit(const char *text)
{
	return parse_stop_limit(text) < 0 ? -EINVAL : 0;
}

static int check_switch(const char *text)
{
	return strcmp(text, SETTINGS_YES) == 0 || strcmp(text, "no") == 0 ? 0 : -EINVAL;
}

#define TEXT(key) false, #key, offsetof(struct settings, key)
/* A setting that only a restart changes. */
#define FIXED(key) true, #key, offsetof(struct settings, key)

const struct setting settings_table[] = {
	{FIXED(listen), "127.0.0.1:9021", "ADDRESS:PORT on loopback, or unix:PATH", check_listen,
		"address of the gRPC services of this machine's programs; only a restart changes "
		"it"},
	{FIXED(web), "127.0.0.1:9022", "ADDRESS:PORT on loopback, unix:PATH, or none", check_web,
		"address of the web page, the HTTP API and the metrics; only a restart changes it"},
	{TEXT(web_names), "",
		"names or addresses without ports, separated by commas without spaces, or nothing",
		check_names,
		"host names, besides localhost, that are allowed in requests for the web page, "
		"such as the name of a proxy that passes Host on unchanged; requests with other "
		"names are refused"},
	{FIXED(registry), "", "an absolute path, or nothing", check_path,
		"socket where servers announce their programs; nothing: registry.sock in "
		"/run/proftap, or for users other than root in $XDG_RUNTIME_DIR/proftap; only a "
		"restart changes it"},
	{TEXT(operators), "proftap", "a group, or nothing", check_any,
		"group whose members may record every program, as root may; other users may "
		"record their own"},
	{FIXED(log_dir), "", "an absolute path, or nothing", check_path,
		"directory of the captures that the web page starts, and of the runs that it "
		"lists; nothing: /var/lib/proftap, or for users other than root proftap in "
		"$XDG_STATE_HOME or ~/.local/state"},
	{TEXT(log_level), "info", "error, warn, info or debug", check_log_level,
		"level of messages on standard error, or in the journal"},
	{TEXT(stop_limit_s), "60", "seconds, 0 to 3600", check_stop_limit,
		"time that running calls, such as captures, have to finish when the daemon is "
		"asked to exit; then they fail"},
	{TEXT(stock_servers), SETTINGS_YES, "yes or no", check_switch,
		"whether to include programs that have a profiler server of JAX or TensorFlow and "
		"none of proftap; the daemon sends one request to each socket on which such "
		"programs listen on all addresses"},
	{TEXT(recorder_metrics), "",
		"names of programs, with * and ?, separated by commas without spaces, or nothing",
		check_patterns,
		"programs whose flight recorder, if one runs, delivers the newest values of the "
		"program's counters and its last steps at each scrape of /metrics; * selects all"},
};
const size_t n_settings = sizeof settings_table / sizeof *settings_table;

static char *setting_get_text(struct settings *s, const struct setting *row)
{
	return (char *)s + row->offset;
}

void settings_init(struct settings *s)
{
	memset(s, 0, sizeof *s);
	for (size_t i = 0; i < n_settings; i++)
		strcpy(setting_get_text(s, &settings_table[i]), settings_table[i].default_text);
}

/* --- one setting ------------------------------------------------------------------------------ */

static const struct setting *setting_find(const char *key)
{
	for (size_t i = 0; i < n_settings; i++)
		if (argument_is_name(key, strlen(key), settings_table[i].key))
			return &settings_table[i];
	return NULL;
}

static const char *setting_find_nearest_key(const char *key)
{
	const char *best = settings_table[0].key;

	for (size_t i = 1; i < n_settings; i++)
		if (nearest_distance(key, settings_table[i].key) < nearest_distance(key, best))
			best = settings_table[i].key;
	return best;
}

int settings_set(struct settings *s, const char *key, const char *value, struct diag *d)
{
	const struct setting *row = setting_find(key);

	if (!row)
		return diag_set(d, -EINVAL, "%.64s: no such setting; the nearest known one is %s",
			key, setting_find_nearest_key(key));
	if (strlen(value) >= SETTINGS_TEXT_BYTES || row->check(value))
		return diag_set(d, -EINVAL, "%s: bad value \"%.64s\": must be %s", row->key, value,
			row->form);
	strcpy(setting_get_text(s, row), value);
	return 0;
}

/* Returns true if there is a setting |key|. */
static bool settings_is_key(const char *key)
{
	return setting_find(key) != NULL;
}

bool settings_is_path(const char *key)
{
	const struct setting *row = setting_find(key);

	return row && row->check == check_path;
}

void settings_print(const struct settings *s, FILE *out)
{
	for (size_t i = 0; i < n_settings; i++) {
		const struct setting *row = &settings_table[i];

		fputs(i ? "\n" : "", out);
		line_break_print(out, "# ", row->help, SETTINGS_WIDTH);
		fprintf(out, "# (%s; default \"%s\")\n%s = %s\n", row->form, row->default_text,
			row->key, (const char *)s + row->offset);
	}
}

int64_t settings_get_stop_limit_ms(const struct settings *s)
{
	return (int64_t)parse_stop_limit(s->stop_limit_s) * 1000;
}

void settings_keep_fixed(struct settings *read, const struct settings *now,
	void (*on_kept)(const struct setting *row))
{
	for (size_t i = 0; i < n_settings; i++) {
		const struct setting *row = &settings_table[i];
		const char *text = (const char *)now + row->offset;

		if (!row->is_fixed || strcmp(setting_get_text(read, row), text) == 0)
			continue;
		strcpy(setting_get_text(read, row), text);
		on_kept(row);
	}
}

/* --- the file --------------------------------------------------------------------------------- */

#define MAX_LINE_BYTES 1024

static char *skip_space(char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

static void cut_space(char *text)
{
	size_t n = strlen(text);

	while (n && isspace((unsigned char)text[n - 1]))
		n--;
	text[n] = '\0';
}

/* A '#' within a word, as in the name of a directory, begins no comment. */
static void cut_comment(char *line)
{
	for (char *p = line; (p = strchr(p, '#')); p++)
		if (p == line || isspace((unsigned char)p[-1])) {
			*p = '\0';
			return;
		}
}

/* Changes |line|. *column is the place of an error, from 0. */
static int read_line(struct settings *s, char *line, size_t *column, struct diag *d)
{
	char *key = skip_space(line);
	char *value;

	*column = (size_t)(key - line);
	cut_comment(line);
	cut_space(key);
	if (!*key)
		return 0;
	value = strchr(key, '=');
	if (!value)
		return diag_set(d, -EINVAL, "%.64s: no '='; a line is KEY = VALUE", key);
	*value++ = '\0';
	value = skip_space(value);
	cut_space(key);
	cut_space(value);
	if (settings_is_key(key))
		*column = (size_t)(value - line);
	return settings_set(s, key, value, d);
}

static int fail_at(
	const char *path, unsigned n_line, size_t column, const struct diag *why, struct diag *d)
{
	return diag_set(d, -EINVAL, "%.200s:%u:%zu: %.256s", path, n_line, column + 1, why->text);
}

static int read_lines(struct settings *s, FILE *file, const char *path, struct diag *d)
{
	char line[MAX_LINE_BYTES];
	struct diag why = DIAG_INIT;
	size_t column;

	for (unsigned n = 1; fgets(line, sizeof line, file); n++) {
		if (!strchr(line, '\n') && !feof(file)) {
			diag_set(&why, -EINVAL, "the line is longer than %d bytes",
				MAX_LINE_BYTES - 2);
			return fail_at(path, n, sizeof line - 1, &why, d);
		}
		if (read_line(s, line, &column, &why))
			return fail_at(path, n, column, &why, d);
	}
	return ferror(file) ? diag_set(d, -EIO, "%.200s: cannot be read", path) : 0;
}

int settings_load(struct settings *s, const char *path, struct diag *d)
{
	FILE *file = fopen(path, "re");
	struct settings read = *s;
	int r;

	if (!file)
		return diag_set(d, -errno, "%.200s: %s", path, errno_words(-errno));
	r = read_lines(&read, file, path, d);
	fclose(file);
	if (!r)
		*s = read;
	return r;
}
