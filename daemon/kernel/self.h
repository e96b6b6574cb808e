/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of this process in the kernel: OOM score, limits, scheduling, memory. */
#ifndef DAEMON_SELF_H
#define DAEMON_SELF_H

/* When memory runs out, the kernel kills this process before its target. */
void self_offer_to_oom_killer(void);

/*
 * Raises the limits of descriptors and of address space to the hard ones: the soft ones were meant
 * for the target.
 */
void self_raise_limits(void);

/* Makes a file beyond RLIMIT_FSIZE an error instead of a signal. */
void self_ignore_signals(void);

/*
 * Makes the scheduler prefer the calling thread, because spans are lost while it waits for a
 * processor. A short time slice makes the scheduler (Linux 6.12) run it soon after it wakes, even
 * among busy threads; a negative nice value needs rights. The kernel may refuse either.
 */
void self_ask_for_low_latency(void);

/*
 * Gives back the pages of this program's file that only its start needed. They are clean, so pages
 * needed again come from the page cache. Any thread may call it.
 */
void self_trim(void);

#endif
