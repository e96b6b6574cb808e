/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of programs; see log.h. */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

static const char *const area_names[N_LOG_AREAS] = {
	[LOG_AUDIT] = "audit",
	[LOG_CAPTURE] = "capture",
	[LOG_CLIENT] = "client",
	[LOG_COLLECT] = "collect",
	[LOG_LISTEN] = "listen",
	[LOG_RPC] = "rpc",
	[LOG_TARGET] = "target",
	[LOG_TRACE] = "trace",
};

static const char *const level_names[] = {
	[LOG_LEVEL_ERROR] = "error",
	[LOG_LEVEL_WARN] = "warn",
	[LOG_LEVEL_INFO] = "info",
	[LOG_LEVEL_DEBUG] = "debug",
};

#define N_LEVELS (sizeof level_names / sizeof level_names[0])

static struct {
	log_sink *sink;
	void *context;
	_Atomic enum log_level level;
} state = {.level = LOG_LEVEL_WARN};

void log_set_sink(log_sink *sink, void *context)
{
	state.sink = sink;
	state.context = context;
}

void log_set_level(enum log_level level)
{
	state.level = level;
}

void log_to_stderr(const struct log_message *message, void *context)
{
	fprintf(stderr, "%s: %s: %s\n", (const char *)context, log_area_get_name(message->area),
		message->text);
}

int log_level_parse(const char *text, enum log_level *out)
{
	for (size_t i = 0; i < N_LEVELS; i++) {
		if (strcmp(text, level_names[i]) == 0) {
			*out = (enum log_level)i;
			return 0;
		}
	}
	return -EINVAL;
}

const char *log_area_get_name(enum log_area area)
{
	return (unsigned int)area < N_LOG_AREAS ? area_names[area] : "?";
}

static bool log_is_wanted(enum log_level level, enum log_area area)
{
	return state.sink && (level <= state.level || area == LOG_AUDIT);
}

static void log_write_to_sink(struct log_message *message, const char *format, va_list ap)
{
	char text[1024];

	if (vsnprintf(text, sizeof text, format, ap) >= (int)sizeof text)
		utf8_mark_cut(text, sizeof text);
	message->text = text;
	state.sink(message, state.context);
}

void log_write(enum log_level level, enum log_area area, const char *format, ...)
{
	struct log_message message = {.level = level, .area = area};
	va_list ap;

	if (!log_is_wanted(level, area))
		return;
	va_start(ap, format);
	log_write_to_sink(&message, format, ap);
	va_end(ap);
}

void log_write_fields(enum log_level level, enum log_area area, const struct log_field *fields,
	size_t n_fields, const char *format, ...)
{
	struct log_message message = {
		.level = level, .area = area, .fields = fields, .n_fields = n_fields};
	va_list ap;

	if (!log_is_wanted(level, area))
		return;
	va_start(ap, format);
	log_write_to_sink(&message, format, ap);
	va_end(ap);
}
