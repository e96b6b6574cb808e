/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end and the children of this process. If a process exits during a capture, exit() waits up to
 * a second for the last records, and the driver is not called after that. A forked child keeps
 * nothing of its parent's capture.
 */
#ifndef PLUGINS_CUDA_PROCESS_H
#define PLUGINS_CUDA_PROCESS_H

#include <stdbool.h>

/*
 * From now on the exit and forks of this process are watched; repeated calls do nothing. CUDA must
 * be initialised: handlers of exit() run in the opposite order, so this one runs before the
 * driver's. |in_child| is called in a forked child, on the thread that forked.
 */
void process_watch(void (*in_child)(void));

/*
 * Allows calls of CUPTI until process_leave(). 0, or -ESHUTDOWN: the process exits, so CUPTI must
 * not be called.
 */
int process_enter(void);
void process_leave(void);

/*
 * Returns true if the process exits. Then the thread that has entered must finish and leave, since
 * exit() waits for it up to a second.
 */
bool process_is_exiting(void);

#endif
