/* SPDX-License-Identifier: Apache-2.0 */
/* What goes into the slots of a program's tables; NULL: nothing. */
#ifndef INJECT_NVTX_HANDLERS_H
#define INJECT_NVTX_HANDLERS_H

#include "lib/inject/nvtx/abi.h"

extern nvtx_function *const nvtx_core_handlers[NVTX_CORE_SLOTS];
extern nvtx_function *const nvtx_core2_handlers[NVTX_CORE2_SLOTS];

#endif
