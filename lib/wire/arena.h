/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shared memory between a program and its server: one sealed memfd, mapped by both.
 *
 *   page 0 to 3     struct arena: control words, the program's requests, the server's last message
 *   strings         append-only: {uint32_t n_bytes; text} at multiples of 8; id = offset / 8, from 1
 *   rings           n_rings × ring_stride_bytes()
 *
 * The server trusts nothing in here: it checks seals and size, computes the layout again from
 * n_rings and ring_bytes (both bounded), copies out, then validates.
 */
#ifndef WIRE_ARENA_H
#define WIRE_ARENA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/wire/join.h"
#include "lib/wire/ring.h"

#define ARENA_MAGIC 0x70617431u /* "1tap" in memory */
/*
 * The versions of the arena's layout that this source supports. HIGH is raised with each change of
 * the head, a ring or a record, however small (tests/unit/test_layout.c fails until it is). LOW is
 * raised with it as long as no release uses the old layout; from 1.0 on a newer proftapd serves
 * older libraries of the same major version. Tests build others.
 */
#ifndef ARENA_VERSION_LOW
#define ARENA_VERSION_LOW 8u
#define ARENA_VERSION_HIGH 8u
#endif

#define ARENA_HEAD_BYTES 16384u
#define ARENA_STRINGS_BYTES (1u << 20)
#define ARENA_MAX_RINGS 1024u
#define ARENA_MIN_RING_BYTES (64u << 10)
#define ARENA_MAX_RING_BYTES (64u << 20)

/* Bits of the two robust futex words (the kernel's own: FUTEX_WAITERS, _OWNER_DIED, _TID_MASK). */
#define ARENA_TID_MASK 0x3fffffffu
#define ARENA_TOGGLE 0x40000000u /* in |owner| only: the same bit as OWNER_DIED, see control.c */
#define ARENA_WAITERS 0x80000000u

/*
 * The value of |guest| in a child that joins, until its control thread runs. It is no thread's id
 * (those are below 2^22).
 */
#define ARENA_GUEST_COMING ARENA_TID_MASK

enum arena_hello {
	ARENA_HELLO_NONE = 0,
	ARENA_HELLO_READY = 1,
	ARENA_HELLO_FAILED = 2, /* |message| has the reason */
	ARENA_HELLO_CLOSED = 3, /* the listener is closed: the port is free */
};

enum arena_op {
	ARENA_OP_PREPARE = 1, /* map the first |arg| rings */
	/*
	 * Record at level |arg| & 3, with the flags of enum arena_start. ptap_enabled() returns
	 * false for another |arg| >> ARENA_START_EARLY_SHIFT microseconds.
	 */
	ARENA_OP_START = 2,
	ARENA_OP_STOP = 3,
	/*
	 * Start the collectors' thread for the request in |collect|. It is acknowledged at once,
	 * whatever the result.
	 */
	ARENA_OP_COLLECT = 4,
};

enum arena_start {
	ARENA_START_OVERWRITES = 4, /* full rings overwrite their oldest entries */
	ARENA_START_GOES_ON = 8, /* the running recording goes on, with this level and this mode */
};

#define ARENA_START_EARLY_SHIFT 8
#define ARENA_START_MAX_EARLY_US 0xffffffu

enum arena_clock {
	ARENA_CLOCK_MONOTONIC = 0, /* ns */
	ARENA_CLOCK_TICKS = 1, /* raw ticks of the processor */
};

/*
 * A trace that the program requests. The library moves the state from NONE to ASKED, from RUNNING
 * to ENDING, from DONE to NONE, and back from ASKED to NONE when its wait times out; the server
 * makes all other moves. The library wakes the server by the futex |guest| until its request is
 * taken; the server wakes the library by |state|.
 */
enum arena_trace_state {
	ARENA_TRACE_NONE = 0,
	ARENA_TRACE_ASKED = 1, /* |log_dir| and |options| are filled */
	ARENA_TRACE_TAKEN = 2, /* the server checks and prepares the trace */
	ARENA_TRACE_RUNNING = 3, /* the trace is recorded, or waits for its start time */
	ARENA_TRACE_ENDING = 4, /* the recording must end now */
	ARENA_TRACE_DONE = 5, /* |result| and |message| are filled */
};

struct arena_trace {
	_Atomic uint32_t state; /* enum arena_trace_state */
	_Atomic int32_t result; /* 0: published; otherwise a negative errno */
	char message[512]; /* the error, terminated */
	char log_dir[1024]; /* an absolute path */
	char options[2048]; /* lines key=value */
};

/*
 * A snapshot of the flight recorder that the program requests. The library moves the state from
 * NONE to FILLING to ASKED and wakes the server by the futex |guest|. The server moves it to TAKEN,
 * and to NONE when the run is written or has failed: then |trouble| and the server's journal have
 * the reason.
 *
 * A thread that fills can be killed or stopped for long: the next request takes the place of a
 * filling that is older than ARENA_SNAPSHOT_FILLING_MS. So the word holds the time of the filling
 * and the index of its text, and this index changes each time. A thread that goes on late finds
 * another word than its own, and has written to a text that nobody reads.
 */
enum arena_snapshot_state {
	ARENA_SNAPSHOT_NONE = 0,
	ARENA_SNAPSHOT_FILLING = 1, /* a thread fills the text */
	ARENA_SNAPSHOT_ASKED = 2, /* the text is filled */
	ARENA_SNAPSHOT_TAKEN = 3, /* the server makes and writes the snapshot */
};

/* ms; filling takes microseconds */
#define ARENA_SNAPSHOT_FILLING_MS 1000u
#define ARENA_SNAPSHOT_TEXTS 4u

struct arena_snapshot {
	/*
	 * enum arena_snapshot_state | index of the text << 2 | CLOCK_MONOTONIC in ms of the filling
	 * << 4
	 */
	_Atomic uint32_t word;
	/* the error of the last run, a negative errno, or 0; by the server */
	_Atomic int32_t trouble;
	char why[ARENA_SNAPSHOT_TEXTS][128]; /* terminated */
};

static inline uint32_t arena_snapshot_state(uint32_t word)
{
	return word & 3u;
}

static inline uint32_t arena_snapshot_text(uint32_t word)
{
	return word >> 2 & (ARENA_SNAPSHOT_TEXTS - 1);
}

/* Returns |word| with another state. */
static inline uint32_t arena_snapshot_next(uint32_t word, enum arena_snapshot_state state)
{
	return (word & ~3u) | state;
}

/* Returns the word of a filling that begins at |now_ms| and follows |word|. */
static inline uint32_t arena_snapshot_fill(uint32_t word, uint64_t now_ms)
{
	uint32_t text = (arena_snapshot_text(word) + 1) & (ARENA_SNAPSHOT_TEXTS - 1);

	return (uint32_t)now_ms << 4 | text << 2 | ARENA_SNAPSHOT_FILLING;
}

/* Returns true if the time for the filling is over. The time wraps around after three days. */
static inline bool arena_snapshot_is_stale(uint32_t word, uint64_t now_ms)
{
	uint32_t age_ms = ((uint32_t)now_ms - (word >> 4)) & (UINT32_MAX >> 4);

	return arena_snapshot_state(word) == ARENA_SNAPSHOT_FILLING &&
	       age_ms > ARENA_SNAPSHOT_FILLING_MS;
}

/*
 * The collectors' (<proftap/collector.h>) part of a capture. The server moves the state from NONE
 * to ASKED with ARENA_OP_COLLECT, from RUNNING (or an earlier state) to ENDING, from ASKED or DONE
 * to NONE; the collectors' thread makes all other moves. Each wakes the other by |state|. The
 * thread also wakes the server by the futex |guest|, as a trace's request does, so that the server
 * waits in one place.
 *
 * A thread that does not return in time is left alone: the server goes on without it, |state| stays
 * ENDING, and no capture requests devices again until it is DONE.
 */
enum arena_collect_state {
	ARENA_COLLECT_NONE = 0,
	ARENA_COLLECT_ASKED = 1, /* |options| is filled */
	ARENA_COLLECT_TAKEN = 2, /* collectors are probed and opened */
	/* At least one collector records, or waits until the program uses its device. */
	ARENA_COLLECT_RUNNING = 3,
	ARENA_COLLECT_ENDING = 4, /* the collectors must end now */
	ARENA_COLLECT_DONE = 5, /* all records have been written */
};

/* The step of the collector |who| that the thread is in. */
enum arena_collect_step {
	ARENA_COLLECT_NOWHERE = 0, /* in the library's own code */
	ARENA_COLLECT_LOAD = 1,
	ARENA_COLLECT_PROBE = 2,
	ARENA_COLLECT_OPEN = 3,
	ARENA_COLLECT_ARM = 4,
	ARENA_COLLECT_START = 5,
	ARENA_COLLECT_POLL = 6,
	ARENA_COLLECT_STOP = 7,
	ARENA_COLLECT_DRAIN = 8,
	ARENA_COLLECT_STATS = 9,
	ARENA_COLLECT_CLOSE = 10,
	ARENA_COLLECT_FLUSH = 11,
	ARENA_COLLECT_STEPS
};

struct arena_collect {
	_Atomic uint32_t state; /* enum arena_collect_state */
	_Atomic uint32_t is_cancelled; /* by the server: the result is no longer wanted */
	_Atomic uint32_t ring; /* collectors' ring: index + 1; 0: none; see RING_WORD_DEVICES */
	/*
	 * The server raises it when it has dropped or handed over records that later ones need: the
	 * descriptions of devices and streams must be written again.
	 */
	_Atomic uint32_t repeat;
	/* The server raises it by 1 before it cuts a part of a recording. */
	_Atomic uint32_t hand_on;
	/*
	 * The thread sets it to the value of |hand_on| that it read, once all records that were
	 * complete at that reading are in the ring.
	 */
	_Atomic uint32_t handed_on;
	/* CLOCK_MONOTONIC of the begin of device recording; 0: no device is recorded. */
	_Atomic int64_t running_since_ns;
	_Atomic uint32_t n_said; /* bytes of |said| that are complete */
	_Atomic uint32_t step; /* enum arena_collect_step */
	char who[32]; /* terminated; set before |step| */
	char said[2048]; /* the trace's warnings, each with a line end */
	char options[3072]; /* lines key=value, terminated */
};

/* "unix:" and the path of a socket, terminated. */
#define ARENA_SOCKET_BYTES 128u

enum arena_flags {
	ARENA_ANY_LOCAL_USER = 1,
	ARENA_TICKS_ALLOWED = 2, /* this process may execute rdtsc */
	ARENA_FOLLOW_FORK = 4, /* forked children may join */
	ARENA_RECORDER = 8, /* run a flight recorder, from the hello on */
	/* PROFTAP_COLLECTOR names plug-ins: the server cannot see whether their device is used. */
	ARENA_COLLECTS = 16,
};

struct arena {
	/*
	 * These fields never move: they let peers without a common layout detect and report that.
	 */
	uint32_t magic;
	uint32_t version_low;
	uint32_t version_high;
	_Atomic int32_t hello_error; /* with ARENA_HELLO_FAILED: a negative errno */
	/* control: one futex word each way, and the command that they announce */
	_Alignas(64) _Atomic uint32_t owner; /* server thread's tid | WAITERS | toggle; robust */
	_Atomic uint32_t command; /* number of the newest command */
	_Atomic uint32_t ack; /* number of the newest command that is done */
	_Atomic uint32_t op; /* enum arena_op */
	_Atomic uint32_t arg;
	_Atomic uint32_t word; /* answer to START: the level word that was published */
	_Alignas(64) _Atomic uint32_t guest; /* control thread's tid | WAITERS; robust */
	_Alignas(64) _Atomic uint32_t hello; /* enum arena_hello */
	_Atomic uint32_t clock; /* enum arena_clock, decided by the server before its hello */
	_Alignas(64) char message[512]; /* the server's last message, terminated */

	/* written once, before the server runs */
	uint32_t flags; /* enum arena_flags */
	uint32_t n_rings;
	uint32_t ring_bytes; /* bytes, of data per ring, a power of two */
	uint64_t size_bytes; /* bytes, of the whole memfd */
	int32_t pid;
	uint16_t port;
	uint16_t log_level;
	uint64_t max_capture_bytes;
	char name[64];
	char address[64];

	_Alignas(64) _Atomic uint32_t strings_used; /* bytes taken from the string table */
	_Atomic uint32_t strings_ready; /* bytes of the table that have memory; by the program */
	_Atomic uint32_t rings_ready; /* rings below this are mapped on both sides */
	/* threads may map rings below this; the server sets it by the available memory */
	_Atomic uint32_t rings_allowed;
	_Atomic uint64_t lost_no_ring; /* annotations of threads that got no ring */
	/* claimed by threads (FREE to USED or BAD), freed by the server when the thread is gone */
	_Alignas(64) _Atomic uint8_t ring_state[ARENA_MAX_RINGS];

	_Alignas(64) char log_dir[1024];
	_Alignas(64) struct arena_trace trace;

	/*
	 * with ARENA_FOLLOW_FORK: the socket that children join at, by the server before its hello
	 */
	char join_name[JOIN_NAME_BYTES]; /* "": none */
	uint8_t join_secret[JOIN_SECRET_BYTES];
	/* failed joins, by the children */
	_Alignas(64) _Atomic uint32_t n_join_failures;
	_Atomic int32_t join_error; /* the last error, a negative errno */
	_Atomic uint32_t join_error_heard; /* |n_joins_heard| at the last failure */
	/* number of children that the server has answered, with whatever result; by the server */
	_Atomic uint32_t n_joins_heard;

	/* sockets, "unix:PATH"; "": none */
	/* the parent's server, where this one registers; by the library */
	char parent[ARENA_SOCKET_BYTES];
	/* this server's private socket, by the server before its hello */
	char own_socket[ARENA_SOCKET_BYTES];

	/* the flight recorder */
	char recorder_options[512]; /* with ARENA_RECORDER: lines key=value, terminated */
	_Alignas(64) _Atomic uint32_t recorder_is_on; /* by the server */
	struct arena_snapshot snapshot;

	/*
	 * CLOCK_MONOTONIC of the newest capture's begin; 0: there was none, or the library does not
	 * set it. The library sets it with its answer to START; the server does for a capture of
	 * level 0, which has no START.
	 */
	_Alignas(64) _Atomic int64_t recording_since_ns;

	/* These pages have memory only while a capture wants devices; the server allocates it. */
	_Alignas(4096) struct arena_collect collect;
};

/* bytes; the part of the head that has memory from the start */
#define ARENA_BASE_BYTES ((uint32_t)offsetof(struct arena, collect))

_Static_assert(sizeof(struct arena) <= ARENA_HEAD_BYTES, "the head fits into its pages");
_Static_assert(
	offsetof(struct arena, version_low) == 4 && offsetof(struct arena, version_high) == 8 &&
		offsetof(struct arena, hello_error) == 12 && offsetof(struct arena, owner) == 64 &&
		offsetof(struct arena, guest) == 128 && offsetof(struct arena, hello) == 192 &&
		offsetof(struct arena, message) == 256,
	"these fields are the same in all layouts");

static inline char *arena_strings(struct arena *a)
{
	return (char *)a + ARENA_HEAD_BYTES;
}

static inline uint64_t arena_rings_offset(void)
{
	return ARENA_HEAD_BYTES + ARENA_STRINGS_BYTES;
}

static inline struct ring *arena_ring(struct arena *a, uint32_t index, uint32_t ring_bytes)
{
	return (struct ring *)((char *)a + arena_rings_offset() +
			       index * ring_stride_bytes(ring_bytes));
}

static inline uint64_t arena_size_bytes(uint32_t n_rings, uint32_t ring_bytes)
{
	return arena_rings_offset() + n_rings * ring_stride_bytes(ring_bytes);
}

#endif
