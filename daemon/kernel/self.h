/* SPDX-License-Identifier: Apache-2.0 */
/* This process's own standing with the kernel: who goes first, who runs first, and how large it is. */
#ifndef DAEMON_SELF_H
#define DAEMON_SELF_H

/* When memory runs out, this process goes before the one it serves. */
void self_offer_to_oom_killer(void);

/* Descriptors and address space up to the hard limits: the soft ones were meant for the host. */
void self_raise_limits(void);

/* A file beyond RLIMIT_FSIZE is an error to report. */
void self_ignore_signals(void);

/*
 * For the calling thread: a drain that waits for a processor loses spans. A short slice makes the scheduler
 * (Linux 6.12) run it soon after it wakes, also among busy ones; a nice value needs rights. Either may be
 * refused.
 */
void self_ask_for_low_latency(void);

/*
 * Gives back the pages of this program's file that only its start touched. They are clean, so what is
 * needed again comes from the page cache. Any thread.
 */
void self_trim(void);

#endif
