/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logs of threads that a test writes, and the trace that is made of them. Times are ticks since the
 * capture's start, 4 to a nanosecond.
 */
#ifndef TESTS_UNIT_LOG_FIXTURE_H
#define TESTS_UNIT_LOG_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/pipeline/assembly/assemble.h"
#include "daemon/pipeline/drain/drain.h"
#include "daemon/target/timeline.h"
#include "lib/wire/record.h"
#include "trace/model/space.h"

#define LOG_TICKS_PER_NS 4
/* The capture's start. The 48 bits of its records' times wrap around soon after it. */
#define LOG_START_TICKS ((UINT64_C(5) << RECORD_START_BITS) - 1000)
#define LOG_STOP_TICKS (LOG_START_TICKS + 4000000)
#define LOG_START_UNIX_NS INT64_C(1700000000000000000)

struct log_fixture {
	struct drain_budget budget;
	struct drain drain;
	struct timeline timeline;
	struct async_carry *carry; /* NULL: log_assemble() makes a whole trace */
	int64_t end_ns; /* agreed end of the capture; 0: none */
	int64_t stop_ns; /* time of LOG_STOP_TICKS */
	uint64_t ended; /* when the process had ended; 0: not before the stop */
	uint64_t max_ops; /* limit of device operations; 0: no limit */
	uint64_t window; /* since the start; events that ended before this time are left out */
	uint64_t settled; /* since the start; with |carry|, later marks are of the next part */
	struct space *space; /* result of log_assemble() */
	struct plane *plane;
};

extern struct log_fixture logs;

/* A checked fixture of a test case. */
void log_open(void);
void log_close(void);

struct thread_log *log_add(int32_t tid, const char *name);
void log_put_slot(struct thread_log *log, uint64_t word0, uint64_t word1);
void log_put(struct thread_log *log, enum record_kind kind, uint32_t string_id, uint64_t start,
	uint64_t duration, unsigned depth, unsigned n_extra);
/* A text in as many slots as it takes. */
void log_put_text(struct thread_log *log, uint32_t key, enum slot_type type, const char *text);
/* A span without arguments. */
void log_put_span(
	struct thread_log *log, const char *name, uint64_t start, uint64_t end, unsigned depth);
/* A span that was still open at the end. */
struct open_span *log_put_open(struct thread_log *log, const char *name, uint64_t start);

/* Sets logs.space and logs.plane. */
void log_assemble(void);
/* The same with |assembly|, which already has some of the logs' slots. Takes |assembly|. */
void log_assemble_with(struct assembly *assembly);

/* The event |i| of |line|, its name, and one of its stats; NULL: it has no such stat. */
const struct trace_event *log_event(size_t line, size_t i);
const char *log_event_name(size_t line, size_t i);
const struct trace_stat *log_event_stat(size_t line, size_t i, const char *name);
uint64_t log_plane_stat(const char *name); /* 0: there is no such stat */
bool log_has_warning(const char *words);

#endif
