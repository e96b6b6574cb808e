/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The example counts its annotations itself, so that tests can compare a trace with numbers that do
 * not come from proftap. Your programs do not need this.
 *
 * Each call stands right before its annotation and counts it if the level is being recorded at that
 * moment, so the annotations count that *began* during a capture. A span that is open when the
 * capture stops is counted here and arrives in the trace with the stat `unfinished`. If a capture
 * starts or stops between the call here and the annotation, count and trace differ by one in that
 * thread. With --per-capture the pipeline works only inside of captures, and the numbers are equal.
 */
#ifndef EXAMPLES_COUNT_H
#define EXAMPLES_COUNT_H

/* Names the calling thread here, as ptap_thread_name() does in the trace. |name| is borrowed. */
void count_thread(const char *name);

/* |name| is a literal in all of these. A step is also counted as a span of its thread. */
void count_span(int level, const char *name);
void count_step(const char *name);
void count_counter(const char *name);

/*
 * Writes to |path|, in one piece: a line "thread TAB name TAB count" per thread and span name, then
 * "(steps) TAB name TAB count" and "(counters) TAB name TAB count". Returns 0 or a negative errno.
 */
int count_write(const char *path);

#endif
