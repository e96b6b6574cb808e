/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes the records that the kernel writes into the rings of perf events: bytes in, fields out.
 * perf_event_open(2) describes the bytes. Names, numbers of registers and copies of stacks come
 * from the sampled program, so each field is checked against the end of its record.
 *
 * Threads: any; there is no state.
 */
#ifndef DAEMON_PERF_RECORD_H
#define DAEMON_PERF_RECORD_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* --- how records are laid out ----------------------------------------------------------------- */

#define PERF_REGISTERS_MAX 33

/* Registers that have a name on each kind of processor. */
enum perf_register {
	PERF_REGISTER_IP, /* the instruction pointer */
	PERF_REGISTER_SP, /* the stack pointer */
	PERF_REGISTER_FP, /* the frame pointer */
	PERF_REGISTER_LR, /* the return address of a function that calls no other; not on x86-64 */
	N_PERF_REGISTERS
};

#define PERF_NO_REGISTER 64

/* The registers of a kind of processor, by the kernel's numbers (its <asm/perf_regs.h>). */
struct perf_processor {
	uint64_t mask; /* those that a sample has */
	uint8_t number[N_PERF_REGISTERS]; /* or PERF_NO_REGISTER */
};

extern const struct perf_processor perf_x86_64;
extern const struct perf_processor perf_aarch64;

/* A layout lists the fields that each sample of a set of events has. */
struct perf_layout {
	const struct perf_processor *processor; /* borrowed */
	/* PERF_SAMPLED_ALWAYS, and any of PERF_SAMPLE_CALLCHAIN, _REGS_USER and _STACK_USER */
	uint64_t sample_type;
	/*
	 * Processor time between two samples. A sample whose period is less than half of it is of
	 * PERF_USE_SWITCHES (perf_event.h): no thread is switched so often. 0: there are none.
	 */
	uint64_t period_ns;
};

/* Fields that samples always have. Other records end with those that tell thread and time. */
#define PERF_SAMPLED_ALWAYS                                                             \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
		PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

/*
 * Returns the processor that this program was compiled for; NULL: it is none of the two, and its
 * samples have no registers.
 */
const struct perf_processor *perf_processor_get_own(void);

/* --- decoded records -------------------------------------------------------------------------- */

/* Numbers of eight bytes in a record. Borrowed from it. */
struct perf_words {
	const uint8_t *bytes;
	size_t n;
};

/* Gets the number |i|, which is below |w|->n. */
static inline uint64_t perf_words_get(const struct perf_words *w, size_t i)
{
	uint64_t word;

	__builtin_memcpy(&word, w->bytes + 8 * i, sizeof word);
	return word;
}

/* The registers with which the thread ran in user mode, or entered the kernel. */
struct perf_registers {
	const struct perf_processor *processor; /* borrowed; the bits of its mask are the numbers */
	unsigned bits; /* 64 or 32: the program's kind; 0: there are none (a kernel thread) */
	size_t n; /* the number of bits in the mask, or 0 */
	uint64_t v[PERF_REGISTERS_MAX]; /* ascending by number */
};

/* Gets a register; 0 if the sample does not have it. */
uint64_t perf_registers_get(const struct perf_registers *r, enum perf_register which);

struct perf_sample {
	uint64_t ip;
	/* The thread gives up the processor here; a record of that switch follows. */
	bool is_switch;
	/* processor time that the sample stands for; if is_switch, of no use */
	uint64_t period;
	bool is_in_kernel; /* |ip| is an address of the kernel */
	/* The three below are empty if the layout does not have them. */
	struct perf_registers registers;
	/*
	 * Addresses from the innermost, which is |ip|, to the outermost. Numbers from
	 * PERF_CONTEXT_MAX on are no addresses, but tell whose the following ones are:
	 * PERF_CONTEXT_KERNEL, PERF_CONTEXT_USER. The first number is one of these.
	 */
	struct perf_words chain;
	/* A copy of the stack from the stack pointer upwards. Borrowed from the record. */
	const uint8_t *stack;
	size_t n_stack_bytes;
	bool is_stack_cut; /* the copy is full, so the stack may go on */
};

enum perf_switch {
	PERF_SWITCH_IN,
	PERF_SWITCH_OUT, /* the thread waits for something */
	PERF_SWITCH_PREEMPTED, /* the thread could go on, but another one has the processor */
};

/* A new name of the thread. */
struct perf_comm {
	const char *name; /* terminated; borrowed from the record */
	bool is_exec; /* the process runs another program since then */
};

/* A thread that began or ended. */
struct perf_task {
	pid_t pid;
	pid_t tid;
	pid_t parent_pid; /* equals |pid| if the thread began in an existing process */
	pid_t parent_tid;
};

#define PERF_BUILD_ID_MAX_BYTES 20

/* A new executable mapping of the process. */
struct perf_mapping {
	uint64_t address;
	uint64_t n_bytes;
	uint64_t file_offset;
	uint32_t protection; /* PROT_… */
	uint8_t build_id[PERF_BUILD_ID_MAX_BYTES];
	size_t n_build_id_bytes; /* 0: not known; then the three below are */
	uint32_t device_major;
	uint32_t device_minor;
	uint64_t inode;
	const char *path; /* terminated; "//anon", "[vdso]", …; borrowed from the record */
};

enum perf_kind {
	PERF_KIND_SAMPLE,
	PERF_KIND_SWITCH,
	PERF_KIND_COMM,
	PERF_KIND_FORK,
	PERF_KIND_EXIT,
	PERF_KIND_MAPPING,
	PERF_KIND_LOST, /* the kernel dropped records here, because the ring was full */
	PERF_KIND_THROTTLE, /* the kernel takes no more samples in this tick, they were too many */
	PERF_KIND_UNTHROTTLE,
};

struct perf_record {
	enum perf_kind kind;
	/* of the event; a thread that inherited the event has the id of the one that was opened */
	uint64_t id;
	/*
	 * The thread that the record is about, in our pid namespace; for PERF_KIND_FORK, the
	 * parent. 0: it is in another namespace; -1: it has just ended.
	 */
	pid_t pid;
	pid_t tid;
	uint32_t cpu;
	int64_t at_ns; /* CLOCK_MONOTONIC, as perf_event.h sets it */
	union {
		struct perf_sample sample;
		enum perf_switch change;
		struct perf_comm comm;
		struct perf_task task; /* PERF_KIND_FORK, PERF_KIND_EXIT */
		struct perf_mapping mapping;
		uint64_t n_lost; /* records of any kind */
	};
};

/* Outcomes of perf_record_decode(). */
#define PERF_UNUSED 1 /* a record of another type */
#define PERF_BROKEN 2 /* the record is cut, or its fields contradict each other */

/*
 * Decodes the record of |n| bytes at |bytes|, which needs no alignment. Returns 0, or one of the
 * outcomes above; then the contents of *out are undefined. *out borrows from |bytes|.
 */
int perf_record_decode(
	const struct perf_layout *layout, const void *bytes, size_t n, struct perf_record *out);

#endif
