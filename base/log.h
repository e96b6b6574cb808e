/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of programs about their work: they have four levels, take one line each, and go to a
 * sink; without a sink nothing is written. Log where an error is handled, once, and never on the
 * hot path. Messages are lower-case fragments with the object's id.
 *
 * Threads: the sink is set before other threads start; any thread may set the level and write
 * messages.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stddef.h>

enum log_level {
	LOG_LEVEL_ERROR,
	LOG_LEVEL_WARN,
	LOG_LEVEL_INFO,
	LOG_LEVEL_DEBUG,
};

/* The part of a program that writes the message. The names are in log.c. */
enum log_area {
	LOG_AUDIT, /* written at every level: the clients and their recordings */
	LOG_CAPTURE,
	LOG_CLIENT,
	LOG_COLLECT,
	LOG_LISTEN,
	LOG_RPC,
	LOG_TARGET,
	LOG_TRACE,
	N_LOG_AREAS,
};

/* A part of a message, which some sinks (see log_write_fields()) store as a named field. */
struct log_field {
	const char *name; /* capital letters, digits and '_' */
	const char *value;
};

struct log_message {
	enum log_level level;
	enum log_area area;
	const char *text;
	const struct log_field *fields;
	size_t n_fields;
};

/* |message| and all that it points to are valid until the function returns. */
typedef void log_sink(const struct log_message *message, void *context);

/* NULL: silence. Several threads may call the sink at a time. */
void log_set_sink(log_sink *sink, void *context);
void log_set_level(enum log_level level); /* default: LOG_LEVEL_WARN */

/* A sink for programs: "proftapd: rpc: text" on standard error; |context| is the program's name. */
void log_to_stderr(const struct log_message *message, void *context);

/* Parses "error", "warn", "info" or "debug" (the value of PROFTAP_LOG). 0 or -EINVAL. */
int log_level_parse(const char *text, enum log_level *out);
const char *log_area_get_name(enum log_area area);

void log_write(enum log_level level, enum log_area area, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Writes a message with fields, for sinks that support them. */
void log_write_fields(enum log_level level, enum log_area area, const struct log_field *fields,
	size_t n_fields, const char *format, ...) __attribute__((format(printf, 5, 6)));

#define log_error(area, ...) log_write(LOG_LEVEL_ERROR, area, __VA_ARGS__)
#define log_warn(area, ...) log_write(LOG_LEVEL_WARN, area, __VA_ARGS__)
#define log_info(area, ...) log_write(LOG_LEVEL_INFO, area, __VA_ARGS__)
#define log_debug(area, ...) log_write(LOG_LEVEL_DEBUG, area, __VA_ARGS__)

#endif
