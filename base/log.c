/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of programs; see log.h. */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const area_names[N_LOG_AREAS] = {
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

void log_to_stderr(enum log_level level, enum log_area area, const char *text, void *context)
{
	(void)level;
	fprintf(stderr, "%s: %s: %s\n", (const char *)context, log_area_get_name(area), text);
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

void log_write(enum log_level level, enum log_area area, const char *format, ...)
{
	char text[1024];
	va_list ap;

	if (!state.sink || level > state.level)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	state.sink(level, area, text, state.context);
}
