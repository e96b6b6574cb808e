/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end and the children of this process. A process that exits in the middle of a capture gives it a moment for its last records, and
 * the driver is not asked for anything once it goes. A forked child has nothing of its parent's capture.
 */
#ifndef PLUGINS_CUDA_PROCESS_H
#define PLUGINS_CUDA_PROCESS_H

/*
 * From now on both are watched; once. CUDA must be initialised: handlers of exit() run in the opposite order, so this one runs before the
 * driver's. |in_child| is called in a forked child, on the thread that forked.
 */
void process_watch(void (*in_child)(void));

/* CUPTI is going to be called, until process_leave(). 0, or -ESHUTDOWN: the process exits, so it must not be. */
int process_enter(void);
void process_leave(void);

/* Raised: who has entered shall come to an end and leave, for exit() waits for it, a second at most. */
int process_is_exiting(void);

#endif
