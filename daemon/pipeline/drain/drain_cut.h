/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of a drain. A cut moves all that was copied out of the rings into a part, without copying
 * it again, and the drain goes on. Parts that follow one another can be joined again. A part is a
 * drain of its own, for assemble.h, and owns its logs (drain_deinit()).
 */
#ifndef DAEMON_DRAIN_CUT_H
#define DAEMON_DRAIN_CUT_H

struct drain;
struct thread_log;

/*
 * Moves all that |d| holds to |part|, which need not be initialised. 0, or -ENOMEM: then some logs
 * stayed where they are.
 */
int drain_cut(struct drain *d, struct drain *part);

/*
 * Appends |newer| to |older|; |newer| is empty afterwards. 0, or -ENOMEM: some records were lost.
 */
int drain_join(struct drain *older, struct drain *newer);

/* Adds |log|, which belongs to no ring, to |d|. Takes |log|, also on failure. 0 or -ENOMEM. */
int drain_take_log(struct drain *d, struct thread_log *log);

#endif
