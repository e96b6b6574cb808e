/* SPDX-License-Identifier: Apache-2.0 */
/* CPU samples of the processes of a recording, as a sampler (sampler.h) takes them. */
#ifndef DAEMON_SAMPLES_H
#define DAEMON_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

#include "base/grow.h"
#include "trace/model/stacks.h"

/* A moment at which a thread was running. */
struct cpu_sample {
	int64_t at_ns; /* CLOCK_MONOTONIC */
	uint32_t thread; /* index into the process's threads */
	uint32_t stack; /* index into the process's stacks */
	uint32_t cpu; /* number of the processor */
	bool is_cut; /* the outermost frames were beyond the copy of the stack */
};

struct sampled_thread {
	pid_t tid;
	char name[16]; /* the kernel's; the last one of the recording */
};

enum thread_state {
	THREAD_RUNNING,
	THREAD_PREEMPTED, /* it could run, and waited for a processor */
	THREAD_BLOCKED, /* it waited for something, or waited for a processor after that */
	N_THREAD_STATES
};

/* A time in which a thread was in one state. */
struct thread_interval {
	int64_t start_ns; /* CLOCK_MONOTONIC */
	int64_t end_ns;
	uint32_t thread; /* index into the process's threads */
	uint32_t stack; /* of a blocked thread; STACKS_NONE: unknown */
	uint32_t n_waits; /* times of waiting that the stack stands for: most have none */
	uint32_t reason; /* index into the stacks' texts: what a blocked thread waits for, or "" */
	uint32_t cpu; /* of a running thread: number of the processor */
	enum thread_state state;
};

/*
 * One process. Its samples are in the order in which they were taken from the rings, not in that of
 * their times.
 */
struct sampled_process {
	pid_t pid;
	struct sampled_thread *threads;
	size_t n_threads;
	size_t n_threads_allocated;
	struct cpu_sample *v;
	size_t n;
	size_t n_allocated;
	struct stacks stacks; /* their frames have names */
	uint64_t n_cut; /* samples whose outermost frames were beyond the copy of the stack */
	uint64_t n_left_out; /* samples and intervals for which there was no memory */
	struct thread_interval *intervals; /* those of a thread are in the order of time */
	size_t n_intervals;
	size_t n_intervals_allocated;
	uint64_t n_short; /* waits that are left out, because they were short and too many */
};

/* All zero is empty. */
struct samples {
	int64_t period_ns; /* processor time that a sample stands for; 0: nothing was sampled */
	struct sampled_process *processes;
	size_t n;
	size_t n_allocated;
	uint64_t n_lost; /* records that the kernel dropped; most records are samples */
	uint64_t n_throttles; /* pauses that the kernel made because samples took it too long */
	int error; /* -ENOMEM: samples are missing */
};

/* Returns the index of a thread, which is added if it is new; UINT32_MAX: out of memory. */
static inline uint32_t sampled_process_take_thread(struct sampled_process *p, pid_t tid)
{
	for (size_t i = p->n_threads; i-- > 0;)
		if (p->threads[i].tid == tid)
			return (uint32_t)i;
	if (grow(&p->threads, &p->n_threads_allocated, p->n_threads + 1))
		return UINT32_MAX;
	p->threads[p->n_threads] = (struct sampled_thread){.tid = tid};
	return (uint32_t)p->n_threads++;
}

static inline void sampled_process_deinit(struct sampled_process *p)
{
	free(p->threads);
	free(p->v);
	free(p->intervals);
	stacks_deinit(&p->stacks);
	*p = (struct sampled_process){.pid = p->pid};
}

static inline void samples_deinit(struct samples *s)
{
	for (size_t i = 0; i < s->n; i++)
		sampled_process_deinit(&s->processes[i]);
	free(s->processes);
	*s = (struct samples){.n = 0};
}

#endif
