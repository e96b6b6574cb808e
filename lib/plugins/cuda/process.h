/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end and the children of this process. A process that exits in the middle of a capture gives
 * it a moment for its last records, and the driver is not called after that. A forked child keeps
 * nothing of its parent's capture.
 */
#ifndef PLUGINS_CUDA_PROCESS_H
#define PLUGINS_CUDA_PROCESS_H

#include <stdbool.h>

/*
 * From now on both are watched; repeated calls do nothing. CUDA must be initialised: handlers of
 * exit() run in the opposite order, so this one runs before the driver's. |in_child| is called in a
 * forked child, on the thread that forked.
 */
void process_watch(void (*in_child)(void));

/*
 * Allows calls of CUPTI until process_leave(). 0, or -ESHUTDOWN: the process exits, so CUPTI must
 * not be called.
 */
int process_enter(void);
void process_leave(void);

/*
 * Whether the process exits: the thread that has entered must finish and leave, since exit() waits
 * for it, for a second at most.
 */
bool process_is_exiting(void);

#endif
