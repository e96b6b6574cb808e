/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proftap/proftap.h: let anyone ask this program "record the next N milliseconds".
 *
 *	ptap_server_start(9999);                     once; then: proftap capture 9999 500
 *	PTAP_SPAN("decode");                         a span until the end of the block
 *	PTAP_SPAN_ARGS("read", PTAP_I("bytes", n));  with arguments
 *	PTAP_STEP("train", step);                    a step: XProf's step tools work from it
 *	PTAP_COUNTER("queue", length);               a sample of a counter
 *	PTAP_FLOW_OUT("job", id);                    an arrow to where PTAP_FLOW_IN("job", id) stands
 *	PTAP_ASYNC_BEGIN("request", id);             a span that any thread may end
 *
 * Needs gcc or clang on Linux; C99 and up, C++11 and up. Link with -lproftap (pkg-config proftap).
 * <proftap/proftap.hpp> adds C++ objects; other languages call the functions whose names end in
 * _dyn.
 *
 * Names are string literals: their text is copied once per place in the source, the first time that
 * place is recorded. The _DYN forms take any string and copy it each time (up to 255 bytes; more is
 * cut, and the cuts are counted).
 *
 * Cost while nothing is recorded: one relaxed load and a branch; arguments are not evaluated. While
 * recording: one clock read at each end, a store into the thread's own ring in shared memory. No
 * lock, no malloc, no system call (but for each thread's first span, which maps its ring, and once
 * for 4 KiB of new names). A full ring drops the new record and counts it.
 *
 * Threads: everything here may be called from any thread. The annotations may also be used in a
 * signal handler: one that interrupts another annotation of its thread is dropped and counted.
 * After fork() the child is not recorded, unless |follow_fork| asks for it, and may start a server
 * of its own. If a signal handler interrupts an annotation and forks, the child drops that
 * annotation when it returns into it. If the signal comes within the few instructions that store
 * the annotation, records of the parent may be lost, uncounted. A child that ends or execs in the
 * handler does no harm. A span belongs to the thread that begins it, and ends before the one around
 * it. A span that longjmp leaves open is dropped and counted when the span around it ends. If
 * coroutines of one thread interleave, so is a span that began later than another one and has not
 * ended before it. An end in another thread (a coroutine or a fiber that was resumed there) ends
 * nothing and is counted; the span stays open. Work that moves from thread to thread, or
 * interleaves, is an async span: PTAP_ASYNC_BEGIN.
 *
 * -DPTAP_DISABLE turns every annotation into nothing; the server calls remain.
 */
#ifndef PROFTAP_PROFTAP_H
#define PROFTAP_PROFTAP_H

#include <stddef.h>
#include <stdint.h>

#include <proftap/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PTAP_API __attribute__((visibility("default")))

/* --- The server ---------------------------------------------------------------------------- */

/* The options of a server. Zero in a field means its default; fields are only ever appended. */
struct ptap_server_options {
	size_t size; /* sizeof(struct ptap_server_options); PTAP_SERVER_OPTIONS_INIT fills it */
	/*
	 * Numeric IPv4 or IPv6 address ("::1", "[::1]"), "localhost", or "unix:PATH", mode 0600;
	 * NULL: 127.0.0.1
	 */
	const char *address;
	uint16_t port; /* 0: any free one; see ptap_server_port() */
	const char *name; /* shown to people; NULL: the program's name */
	/*
	 * The only directory that the server reads and writes runs in for clients; it is made when
	 * needed. With one, clients may also have the server ask other servers for their traces:
	 * proftapd(8).
	 */
	const char *log_dir; /* NULL: none; at most 1,023 bytes; ptap_trace_start() takes its own */
	uint32_t ring_bytes; /* per thread; rounded up to a power of two, 64 KiB–64 MiB; 0: 1 MiB */
	/*
	 * The limit of a capture or snapshot, memory and file in the server; 0: 1 GiB, or a quarter
	 * of the memory that the cgroup and the machine have left when it begins, if that is less.
	 */
	uint64_t max_capture_bytes;
	int any_local_user; /* nonzero: other users of this machine may connect, too */
	int insecure; /* nonzero: allows an address that is not loopback, without encryption */
	int follow_fork; /* nonzero: forked children that annotate are recorded too; see below */
	int recorder; /* nonzero: runs a flight recorder, from the start on; see ptap_snapshot() */
	/*
	 * Options of the recorder, also of one that the environment asks for: "KEY=VALUE",
	 * separated by commas or line ends, at most 511 bytes; the keys of `proftap start
	 * --recorder -o`. The keys of triggers need |log_dir|. NULL: the defaults.
	 */
	const char *recorder_options;
};

/*
 * |follow_fork| (or PROFTAP_FOLLOW_FORK=1 in the environment) is for programs whose work is done in
 * forked children: each child of fork() that annotates becomes a process of its own in the same
 * server's traces, and so do its children, up to 256 at a time. The first annotation of a child
 * takes about half a millisecond and starts a thread: it must not be one in a signal handler. Until
 * then ptap_enabled() returns true there. ptap_server_port() is 0 in a child; ptap_server_start()
 * gives it a server of its own. Children of _Fork() or clone(), and those whose parents ended
 * before they annotated, are not followed.
 *
 * `struct ptap_server_options o = PTAP_SERVER_OPTIONS_INIT; o.port = 9999;`
 */
#define PTAP_SERVER_OPTIONS_INIT                                                                \
	{                                                                                       \
		sizeof(struct ptap_server_options), NULL, 0, NULL, NULL, 0, 0, 0, 0, 0, 0, NULL \
	}

/*
 * Starts a profiler server for this process on 127.0.0.1:|port| (0: any free port). When it returns
 * 0 the port answers. The server is a process of its own (proftapd); in this process there is one
 * more thread, asleep, and no descriptor.
 * In a program that has no other thread yet, PROFTAP_PARENT=unix:PATH is in the environment
 * afterwards, for the servers of the programs that it starts: they register with this one (see
 * proftap.h(3)). It stays there after a stop.
 * If the environment started a server at load time (PROFTAP_SERVER, proftap run), the first call
 * returns 0 and leaves that server at its own port.
 * Errors: PTAP_ERR_ADDRINUSE at once when the port is taken; PTAP_ERR_ALREADY for a second start;
 * PTAP_ERR_NOENT when proftapd cannot be found; others as in <proftap/error.h>. ptap_last_error()
 * has the details.
 * Threads: any; calls are serialised inside. Not from a signal handler.
 * Since: 0.1
 */
PTAP_API int ptap_server_start(uint16_t port);

/*
 * Does the same with options. |options| and its strings are only read during the call.
 * On "unix:PATH" (at most 107 bytes, made absolute) there is no port, and ptap_server_port() is 0.
 * The socket of a dead server of the same user is replaced, that of a living one never; the server
 * removes the path at its end.
 * Errors: also PTAP_ERR_INVAL for an address that is not numeric, or not loopback without
 * |insecure|.
 * Since: 0.1
 */
PTAP_API int ptap_server_start_with(const struct ptap_server_options *options);

/* The port in use; 0 when no server runs, or it listens on a path. Any thread may call it. */
PTAP_API int ptap_server_port(void);

/*
 * Stops the server; 0 also when there is none. A running capture ends early: its client gets the
 * data so far, with a warning. The port is free when this returns.
 * Threads: any. Not from a signal handler.
 * Since: 0.1
 */
PTAP_API int ptap_server_stop(void);

/* --- Traces that the program records itself ------------------------------------------------ */

/* One key of JAX's advanced_configuration, e.g. {"ptap_usage_interval_ms", "20"}. */
struct ptap_profile_option {
	const char *key;
	const char *value; /* as in `proftap capture -o KEY=VALUE` */
};

/*
 * The options of a trace, with the names of `proftap capture -o`. Start from
 * PTAP_PROFILE_OPTIONS_INIT: a level of zero means "none". Fields are only ever appended.
 */
struct ptap_profile_options {
	size_t size; /* sizeof(struct ptap_profile_options); the INIT fills it */
	int host_tracer_level; /* 0: none; 1: user; 2 (INIT): info, too; 3: verbose, too */
	int device_tracer_level; /* 0 or 1 (INIT): GPUs */
	int python_tracer_level; /* 0 (INIT) or 1 */
	uint64_t duration_ms; /* it ends by itself after this time; 0: at ptap_trace_stop() */
	uint64_t delay_ms; /* it begins this much later */
	uint64_t start_timestamp_ns; /* it begins at this Unix time; 0 or past: now */
	const char *session_id; /* the run's name: letters, digits, _ and -; NULL: the time */
	const struct ptap_profile_option *advanced_configuration; /* NULL: none */
	size_t n_advanced_configuration;
};

/* `struct ptap_profile_options o = PTAP_PROFILE_OPTIONS_INIT; o.host_tracer_level = 3;` */
#define PTAP_PROFILE_OPTIONS_INIT                                                    \
	{                                                                            \
		sizeof(struct ptap_profile_options), 2, 1, 0, 0, 0, 0, NULL, NULL, 0 \
	}

/*
 * Records this program until ptap_trace_stop(), into
 * <log_dir>/plugins/profile/<run>/<host>.xplane.pb. A relative |log_dir| counts from the current
 * working directory. No server need be running: one without a listener is started for the trace.
 * When this returns 0 annotations are recorded (or will be, after a delay) and the directories are
 * made. |options| may be NULL for the defaults; strings are only read during the call. When the
 * program ends without a stop, the trace is written up to its end.
 * Errors: PTAP_ERR_BUSY at once while a client records this program, and in a child that
 * |follow_fork| makes part of its ancestor's recordings (start the trace there; or call
 * ptap_server_start() here first, which takes the child out of them); PTAP_ERR_ALREADY for a second
 * start;
 * PTAP_ERR_ACCES, _NOSPC, _EXIST, _IO for the directory; PTAP_ERR_INVAL for a bad option
 * (ptap_last_error() names key, value and the nearest known key); others as ptap_server_start().
 * Threads: any; calls are serialised inside. Not from a signal handler.
 * Since: 0.1
 */
PTAP_API int ptap_trace_start(const char *log_dir, const struct ptap_profile_options *options);

/*
 * Ends the trace and returns when its file is complete and has its final name. 0 also when it had
 * ended before, by its duration or by ptap_server_stop().
 * Errors: PTAP_ERR_INVAL when no trace was started; PTAP_ERR_NOSPC, _IO when the file could not be
 * written; PTAP_ERR_NODATA when there was nothing to write; PTAP_ERR_SERVER when proftapd died. The
 * trace is over in each case.
 * Threads: any. Not from a signal handler.
 * Since: 0.1
 */
PTAP_API int ptap_trace_stop(void);

/* --- The flight recorder ------------------------------------------------------------------- */

/*
 * With |recorder| (or PROFTAP_RECORDER=1 in the environment, or after `proftap start TARGET
 * --recorder`) annotations are recorded all the time, into the same rings: the newest stay,
 * |ring_bytes| of each thread, the oldest are overwritten. `proftap snapshot TARGET` writes the
 * content of the rings. This call has the server write it into its |log_dir|, as a run with |why|
 * (at most 127 bytes; NULL: none) as its reason. The recording goes on.
 * Returns 0 when the server has the request, within some microseconds, 2 ms at most; it never waits
 * for the disk. When the file could not be written the next call returns an error, and the server's
 * journal has the reason. In a forked child that |follow_fork| makes part of its ancestor's
 * recordings the call uses the ancestor's server.
 * Errors: PTAP_ERR_NODATA when no recorder runs; PTAP_ERR_NOTSUP when the server has no |log_dir|;
 * PTAP_ERR_BUSY while an earlier snapshot is being written: then this one is not made.
 * PTAP_ERR_ACCES, _NOSPC, _NOMEM or _IO when the snapshot before could not be written, or |log_dir|
 * was not writable when the recorder was turned on: this one is tried all the same.
 * Threads: any. Not from a signal handler.
 * Since: 0.1
 */
PTAP_API int ptap_snapshot(const char *why);

/*
 * One line for people about the last failed call of this thread; "" if none failed.
 * Lifetime: until this thread's next failed call. (Texts of the last 16 threads that had a failed
 * call are kept.)
 */
PTAP_API const char *ptap_last_error(void);

/* The text of |error| from the list in <proftap/error.h>. Static. */
PTAP_API const char *ptap_error_text(int error);

/* The library's version at run time, "0.1.0" for example. Static. */
PTAP_API const char *ptap_version(void);

/*
 * Names the calling thread in traces (31 bytes; a cut name ends with "…"). The thread's name in the
 * system stays as it is. |name| is copied.
 */
PTAP_API void ptap_thread_name(const char *name);

/* --- Annotations as functions, for languages that cannot use the macros -------------------- */

/*
 * Each checks first whether anything is being recorded, and returns at once if not. Names are
 * copied at each call, up to 255 bytes (a cut one ends with "…", and is counted); NULL is "". The
 * functions cost one call more than the macros below, which C and C++ should use, and
 * -DPTAP_DISABLE does not remove them. ptap_enabled(level) is there as a function, too.
 *
 * Threads: any, also in a signal handler, like the macros of the same names.
 *
 * Since: 0.1
 */

/* A span of this thread, until its ptap_end(), which closes the innermost open one. */
PTAP_API void ptap_begin_dyn(const char *name);
/* Begins a step in the same way, with its number. */
PTAP_API void ptap_begin_step_dyn(const char *name, int64_t number);
PTAP_API void ptap_end(void);
PTAP_API void ptap_instant_dyn(const char *name);
/* A sample of a counter. NaN and infinity are not written. */
PTAP_API void ptap_counter_dyn(const char *name, double value);
/* See PTAP_FLOW_OUT and PTAP_ASYNC_BEGIN. */
PTAP_API void ptap_flow_out_dyn(const char *name, uint64_t id);
PTAP_API void ptap_flow_in_dyn(const char *name, uint64_t id);
PTAP_API void ptap_async_begin_dyn(const char *name, uint64_t id);
PTAP_API void ptap_async_end_dyn(const char *name, uint64_t id);

/* --- Inside of the annotations: not for users ---------------------------------------------- */

#define PTAP_IMPL_MAX_ARGS 8

/* A call site. Zeroed but for the name; the ids are filled at its first recording. */
struct ptap_impl_site {
	uint32_t id;
	uint32_t arg_ids[PTAP_IMPL_MAX_ARGS];
	const char *name;
};

/*
 * The state that begin hands to end: the ring, the capture's word, and the depth before the span.
 */
struct ptap_impl_token {
	void *ring;
	uint32_t word;
	uint32_t depth;
};

enum ptap_impl_arg_type {
	PTAP_IMPL_I64 = 1,
	PTAP_IMPL_U64,
	PTAP_IMPL_F64,
	PTAP_IMPL_STR,
	PTAP_IMPL_PTR,
};

struct ptap_impl_arg {
	const char *key;
	enum ptap_impl_arg_type type;
	union {
		int64_t i;
		uint64_t u;
		double f;
		const char *s;
		const void *p;
	} value;
};

/* The values of a record's kind. */
enum ptap_impl_mark_kind {
	PTAP_IMPL_ASYNC_BEGIN = 5,
	PTAP_IMPL_ASYNC_END,
	PTAP_IMPL_FLOW_OUT,
	PTAP_IMPL_FLOW_IN,
};

PTAP_API struct ptap_impl_token ptap_impl_begin(struct ptap_impl_site *site, uint32_t word);
PTAP_API struct ptap_impl_token ptap_impl_begin_dyn(const char *name, uint32_t word);
PTAP_API struct ptap_impl_token ptap_impl_begin_args(struct ptap_impl_site *site, uint32_t word,
	const struct ptap_impl_arg *args, unsigned n_args);
PTAP_API struct ptap_impl_token ptap_impl_begin_step(
	struct ptap_impl_site *site, uint32_t word, int64_t step);
PTAP_API void ptap_impl_open(struct ptap_impl_site *site, uint32_t word);
PTAP_API void ptap_impl_open_dyn(const char *name, uint32_t word);
PTAP_API void ptap_impl_open_step_dyn(const char *name, uint32_t word, int64_t step);
PTAP_API void ptap_impl_end(struct ptap_impl_token token);
PTAP_API void ptap_impl_end_top(uint32_t word);
PTAP_API void ptap_impl_instant(struct ptap_impl_site *site, uint32_t word);
PTAP_API void ptap_impl_instant_dyn(const char *name, uint32_t word);
PTAP_API void ptap_impl_counter_i(struct ptap_impl_site *site, uint32_t word, int64_t value);
PTAP_API void ptap_impl_counter_f(struct ptap_impl_site *site, uint32_t word, double value);
PTAP_API void ptap_impl_counter_dyn(const char *name, uint32_t word, double value);
PTAP_API void ptap_impl_mark(
	struct ptap_impl_site *site, uint32_t word, enum ptap_impl_mark_kind kind, uint64_t id);
PTAP_API void ptap_impl_mark_dyn(
	const char *name, uint32_t word, enum ptap_impl_mark_kind kind, uint64_t id);
#ifdef PTAP_IMPL_BUILDING
PTAP_API int ptap_enabled(int level);
#endif

#if !defined(PTAP_IMPL_BUILDING) && !defined(PTAP_DISABLE)
/*
 * Capture number × 4 + level, or 0. It lies in the library's own page, read through one hidden
 * pointer per module: an exported pointer would be copied into a PIE executable and miss every
 * change.
 */
extern const uint32_t ptap_impl_level_page[1024];
__attribute__((weak, visibility("hidden"))) const uint32_t *ptap_impl_level = ptap_impl_level_page;
#endif

#ifdef __cplusplus
}
#endif

#if !defined(PTAP_DISABLE) && !defined(PTAP_IMPL_BUILDING)

static inline uint32_t ptap_impl_word(void)
{
	return __atomic_load_n(ptap_impl_level, __ATOMIC_RELAXED);
}

/*
 * Returns |level|, but at least 1: a lower level would count as recorded even while nothing is
 * recorded and there is no ring.
 */
static inline int ptap_impl_at_least_1(int level)
{
	return level > 1 ? level : 1;
}

/*
 * Nonzero while spans of |level| (1–3) are recorded: a span that begins then is in the trace. Costs
 * as much as a disabled annotation.
 */
static inline int ptap_enabled(int level)
{
	if (__builtin_expect((int)(ptap_impl_word() & 3u) < ptap_impl_at_least_1(level), 1))
		return 0;
	/*
	 * Threads record some milliseconds before the agreed start. The word is loaded again to
	 * acquire the data that was written before it; -fsanitize=thread has no fences.
	 */
	(void)__atomic_load_n(ptap_impl_level, __ATOMIC_ACQUIRE);
	return !__atomic_load_n(ptap_impl_level + 1023, __ATOMIC_RELAXED);
}

static inline void ptap_impl_close(struct ptap_impl_token *token)
{
	if (__builtin_expect(token->ring != NULL, 0))
		ptap_impl_end(*token);
}

static inline struct ptap_impl_token ptap_impl_none(void)
{
	struct ptap_impl_token none = {NULL, 0, 0};
	return none;
}

static inline struct ptap_impl_arg ptap_impl_arg_i(const char *key, int64_t value)
{
	struct ptap_impl_arg arg;
	arg.key = key;
	arg.type = PTAP_IMPL_I64;
	arg.value.i = value;
	return arg;
}

static inline struct ptap_impl_arg ptap_impl_arg_u(const char *key, uint64_t value)
{
	struct ptap_impl_arg arg;
	arg.key = key;
	arg.type = PTAP_IMPL_U64;
	arg.value.u = value;
	return arg;
}

static inline struct ptap_impl_arg ptap_impl_arg_f(const char *key, double value)
{
	struct ptap_impl_arg arg;
	arg.key = key;
	arg.type = PTAP_IMPL_F64;
	arg.value.f = value;
	return arg;
}

static inline struct ptap_impl_arg ptap_impl_arg_s(const char *key, const char *value)
{
	struct ptap_impl_arg arg;
	arg.key = key;
	arg.type = PTAP_IMPL_STR;
	arg.value.s = value;
	return arg;
}

static inline struct ptap_impl_arg ptap_impl_arg_p(const char *key, const void *value)
{
	struct ptap_impl_arg arg;
	arg.key = key;
	arg.type = PTAP_IMPL_PTR;
	arg.value.p = value;
	return arg;
}

#define PTAP_IMPL_CAT2(a, b) a##b
#define PTAP_IMPL_CAT(a, b) PTAP_IMPL_CAT2(a, b)
#define PTAP_IMPL_SITE(n, text) \
	static struct ptap_impl_site PTAP_IMPL_CAT(ptap_impl_site_, n) = {0, {0}, "" text ""}
#define PTAP_IMPL_TOKEN(n)                                        \
	struct ptap_impl_token PTAP_IMPL_CAT(ptap_impl_token_, n) \
		__attribute__((cleanup(ptap_impl_close), unused)) = ptap_impl_none()

/* A scoped span whose token comes from |call|, evaluated only when |level| is recorded. */
#define PTAP_IMPL_SCOPED(n, level, text, call)                                                 \
	PTAP_IMPL_SITE(n, text);                                                               \
	PTAP_IMPL_TOKEN(n);                                                                    \
	do {                                                                                   \
		const uint32_t ptap_impl_w = ptap_impl_word();                                 \
		struct ptap_impl_site *const ptap_impl_s = &PTAP_IMPL_CAT(ptap_impl_site_, n); \
		if (__builtin_expect((int)(ptap_impl_w & 3u) >= (level), 0))                   \
			PTAP_IMPL_CAT(ptap_impl_token_, n) = call;                             \
	} while (0)

/* An annotation without an end: |call| runs when level 1 is recorded. */
#define PTAP_IMPL_ONCE(text, call)                                                       \
	do {                                                                             \
		static struct ptap_impl_site ptap_impl_site_once = {0, {0}, "" text ""}; \
		struct ptap_impl_site *const ptap_impl_s = &ptap_impl_site_once;         \
		const uint32_t ptap_impl_w = ptap_impl_word();                           \
		if (__builtin_expect((ptap_impl_w & 3u) != 0, 0))                        \
			(void)call;                                                      \
	} while (0)

#define PTAP_IMPL_DYN(call)                                       \
	do {                                                      \
		const uint32_t ptap_impl_w = ptap_impl_word();    \
		if (__builtin_expect((ptap_impl_w & 3u) != 0, 0)) \
			(void)call;                               \
	} while (0)

#define PTAP_IMPL_MARK(kind, text, id) \
	PTAP_IMPL_ONCE(text, (ptap_impl_mark(ptap_impl_s, ptap_impl_w, kind, (uint64_t)(id)), 0))
#define PTAP_IMPL_MARK_DYN(kind, text, id) \
	PTAP_IMPL_DYN((ptap_impl_mark_dyn(text, ptap_impl_w, kind, (uint64_t)(id)), 0))

#define PTAP_IMPL_SPAN(n, level, text) \
	PTAP_IMPL_SCOPED(n, level, text, ptap_impl_begin(ptap_impl_s, ptap_impl_w))

#define PTAP_IMPL_SPAN_DYN(n, text)                                     \
	PTAP_IMPL_TOKEN(n);                                             \
	do {                                                            \
		const uint32_t ptap_impl_w = ptap_impl_word();          \
		if (__builtin_expect((ptap_impl_w & 3u) != 0, 0))       \
			PTAP_IMPL_CAT(ptap_impl_token_, n) =            \
				ptap_impl_begin_dyn(text, ptap_impl_w); \
	} while (0)

#define PTAP_IMPL_SPAN_ARGS(n, text, ...)                                                     \
	PTAP_IMPL_SITE(n, text);                                                              \
	PTAP_IMPL_TOKEN(n);                                                                   \
	do {                                                                                  \
		const uint32_t ptap_impl_w = ptap_impl_word();                                \
		if (__builtin_expect((ptap_impl_w & 3u) != 0, 0)) {                           \
			const struct ptap_impl_arg ptap_impl_a[] = {__VA_ARGS__};             \
			PTAP_IMPL_CAT(ptap_impl_token_, n) = ptap_impl_begin_args(            \
				&PTAP_IMPL_CAT(ptap_impl_site_, n), ptap_impl_w, ptap_impl_a, \
				sizeof ptap_impl_a / sizeof ptap_impl_a[0]);                  \
		}                                                                             \
	} while (0)

/* --- The annotations ----------------------------------------------------------------------- */

/*
 * A span until the end of the block, in one thread. Put it where a declaration may stand, not
 * alone behind an `if`.
 */
#define PTAP_SPAN(name) PTAP_IMPL_SPAN(__COUNTER__, 1, name)
/*
 * With a level: 1 user (lower levels: the same), 2 info, 3 verbose. Recorded when the capture's
 * host_tracer_level >= level.
 */
#define PTAP_SPAN_LEVEL(level, name) \
	PTAP_IMPL_SPAN(__COUNTER__, ptap_impl_at_least_1((int)(level)), name)
/* The name is any string, copied now. */
#define PTAP_SPAN_DYN(name) PTAP_IMPL_SPAN_DYN(__COUNTER__, name)
/* With up to 8 arguments, copied now: about 450 bytes in all; longer ones are cut and counted. */
#define PTAP_SPAN_ARGS(name, ...) PTAP_IMPL_SPAN_ARGS(__COUNTER__, name, __VA_ARGS__)

/* Arguments of PTAP_SPAN_ARGS. The key is a literal; a NULL string is written as "(null)". */
#define PTAP_I(key, value) ptap_impl_arg_i("" key "", (int64_t)(value))
#define PTAP_U(key, value) ptap_impl_arg_u("" key "", (uint64_t)(value))
#define PTAP_F(key, value) ptap_impl_arg_f("" key "", (double)(value))
#define PTAP_S(key, value) ptap_impl_arg_s("" key "", value)
#define PTAP_P(key, value) ptap_impl_arg_p("" key "", value)

/* An explicit pair: PTAP_END closes the innermost open span of this thread, wherever it began. */
#define PTAP_BEGIN(name) PTAP_IMPL_ONCE(name, (ptap_impl_open(ptap_impl_s, ptap_impl_w), 0))
#define PTAP_BEGIN_DYN(name) PTAP_IMPL_DYN((ptap_impl_open_dyn(name, ptap_impl_w), 0))
#define PTAP_END() PTAP_IMPL_DYN((ptap_impl_end_top(ptap_impl_w), 0))

/* A step, until the end of the block: written as JAX's StepTraceAnnotation writes it. */
#define PTAP_STEP(name, number)                \
	PTAP_IMPL_SCOPED(__COUNTER__, 1, name, \
		ptap_impl_begin_step(ptap_impl_s, ptap_impl_w, (int64_t)(number)))

/* A point in time. */
#define PTAP_INSTANT(name) PTAP_IMPL_ONCE(name, (ptap_impl_instant(ptap_impl_s, ptap_impl_w), 0))
#define PTAP_INSTANT_DYN(name) PTAP_IMPL_DYN((ptap_impl_instant_dyn(name, ptap_impl_w), 0))

/*
 * A flow: an arrow from PTAP_FLOW_OUT to each later PTAP_FLOW_IN of the same name and id, in any
 * thread, and in any process that the same capture records. Both are points in time; put them
 * inside of the spans that the arrow leaves and enters. |id|: uint64_t, such as a sequence number
 * or the address of the job that is handed over; reused only after its last PTAP_FLOW_IN: arrows
 * come from the latest PTAP_FLOW_OUT.
 */
#define PTAP_FLOW_OUT(name, id) PTAP_IMPL_MARK(PTAP_IMPL_FLOW_OUT, name, id)
#define PTAP_FLOW_IN(name, id) PTAP_IMPL_MARK(PTAP_IMPL_FLOW_IN, name, id)
#define PTAP_FLOW_OUT_DYN(name, id) PTAP_IMPL_MARK_DYN(PTAP_IMPL_FLOW_OUT, name, id)
#define PTAP_FLOW_IN_DYN(name, id) PTAP_IMPL_MARK_DYN(PTAP_IMPL_FLOW_IN, name, id)

/*
 * An async span: from PTAP_ASYNC_BEGIN to PTAP_ASYNC_END of the same name and id, in the same
 * thread or in another one of this process; it need not nest with anything. It is shown on lines of
 * its own, named |name|, with the stat `id`. If it is open at the end of the capture it is cut
 * there, with the stat `unfinished`. If it began before the capture it is shown from the capture's
 * start, with the stat `started_before`. If two have the same name and id at once, an end belongs
 * to the latest begin. If a flight recorder has overwritten the record of a begin or of an end, the
 * other one is only counted.
 */
#define PTAP_ASYNC_BEGIN(name, id) PTAP_IMPL_MARK(PTAP_IMPL_ASYNC_BEGIN, name, id)
#define PTAP_ASYNC_END(name, id) PTAP_IMPL_MARK(PTAP_IMPL_ASYNC_END, name, id)
#define PTAP_ASYNC_BEGIN_DYN(name, id) PTAP_IMPL_MARK_DYN(PTAP_IMPL_ASYNC_BEGIN, name, id)
#define PTAP_ASYNC_END_DYN(name, id) PTAP_IMPL_MARK_DYN(PTAP_IMPL_ASYNC_END, name, id)

/* A sample of a counter: int64 or double, by the value's type. NaN and infinity are not written. */
#ifdef __cplusplus
extern "C++" {
static inline void ptap_impl_counter(struct ptap_impl_site *s, uint32_t w, double v)
{
	ptap_impl_counter_f(s, w, v);
}
static inline void ptap_impl_counter(struct ptap_impl_site *s, uint32_t w, float v)
{
	ptap_impl_counter_f(s, w, (double)v);
}
static inline void ptap_impl_counter(struct ptap_impl_site *s, uint32_t w, long double v)
{
	ptap_impl_counter_f(s, w, static_cast<double>(v));
}
template <typename T>
static inline void ptap_impl_counter(struct ptap_impl_site *s, uint32_t w, T v)
{
	ptap_impl_counter_i(s, w, (int64_t)v);
}
}
#define PTAP_COUNTER(name, value) \
	PTAP_IMPL_ONCE(name, (ptap_impl_counter(ptap_impl_s, ptap_impl_w, value), 0))
#else
#define PTAP_IMPL_IS_FLOAT(value)                                               \
	(__builtin_types_compatible_p(__typeof__((value) + 0), double) ||       \
		__builtin_types_compatible_p(__typeof__((value) + 0), float) || \
		__builtin_types_compatible_p(__typeof__((value) + 0), long double))
#define PTAP_COUNTER(name, value)                                                            \
	PTAP_IMPL_ONCE(                                                                      \
		name, (__builtin_choose_expr(PTAP_IMPL_IS_FLOAT(value), ptap_impl_counter_f, \
			       ptap_impl_counter_i)(ptap_impl_s, ptap_impl_w, value),        \
			      0))
#endif

#elif defined(PTAP_DISABLE)

/*
 * No argument is evaluated, and a variable that is only traced does not become "unused". The casts
 * are the same as above: sizeof takes no bit-field.
 */
int ptap_impl_ignore(int first, ...); /* never defined, never called */
#define ptap_enabled(level) ((int)(sizeof((int)(level)) * 0))
#define PTAP_SPAN(name) ((void)0)
#define PTAP_SPAN_LEVEL(level, name) ((void)sizeof((int)(level)))
#define PTAP_SPAN_DYN(name) ((void)sizeof(name))
#define PTAP_SPAN_ARGS(name, ...) ((void)sizeof(ptap_impl_ignore(0, __VA_ARGS__)))
#define PTAP_I(key, value) sizeof((int64_t)(value))
#define PTAP_U(key, value) sizeof((uint64_t)(value))
#define PTAP_F(key, value) sizeof((double)(value))
#define PTAP_S(key, value) sizeof(value)
#define PTAP_P(key, value) sizeof(value)
#define PTAP_BEGIN(name) ((void)0)
#define PTAP_BEGIN_DYN(name) ((void)sizeof(name))
#define PTAP_END() ((void)0)
#define PTAP_STEP(name, number) ((void)sizeof((int64_t)(number)))
#define PTAP_INSTANT(name) ((void)0)
#define PTAP_INSTANT_DYN(name) ((void)sizeof(name))
#define PTAP_COUNTER(name, value) ((void)sizeof((int64_t)(value)))
#define PTAP_FLOW_OUT(name, id) ((void)sizeof((uint64_t)(id)))
#define PTAP_FLOW_IN(name, id) ((void)sizeof((uint64_t)(id)))
#define PTAP_FLOW_OUT_DYN(name, id) ((void)(sizeof(name) + sizeof((uint64_t)(id))))
#define PTAP_FLOW_IN_DYN(name, id) ((void)(sizeof(name) + sizeof((uint64_t)(id))))
#define PTAP_ASYNC_BEGIN(name, id) ((void)sizeof((uint64_t)(id)))
#define PTAP_ASYNC_END(name, id) ((void)sizeof((uint64_t)(id)))
#define PTAP_ASYNC_BEGIN_DYN(name, id) ((void)(sizeof(name) + sizeof((uint64_t)(id))))
#define PTAP_ASYNC_END_DYN(name, id) ((void)(sizeof(name) + sizeof((uint64_t)(id))))

#endif

#endif
