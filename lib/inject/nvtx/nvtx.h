/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entry of NVTX: the functions that a program's NVTX looks up in the library that
 * NVTX_INJECTION64_PATH names, once in each module with annotations; see docs/internals/nvtx.md.
 * They return 1, or 0: NVTX then works as without a tool. They only fill the module's tables: NVTX
 * is in the middle of its initialisation, and other threads wait for it.
 */
#ifndef INJECT_NVTX_H
#define INJECT_NVTX_H

#include <proftap/proftap.h>

#include "lib/inject/nvtx/abi.h"

struct nvtx_extension;

PTAP_API int InitializeInjectionNvtx2(nvtx_get_table *get_table);
/* The same function by another name, which libnvToolsExt.so looks up if the first is missing. */
PTAP_API int InitializeInjectionNvtx(nvtx_get_table *get_table);
/* The entry of an extension; see payload_abi.h. */
PTAP_API int InitializeInjectionNvtxExtension(struct nvtx_extension *extension);

/*
 * The use of a program's NVTX annotations, from PROFTAP_NVTX. It is read once in a process: programs ask
 * once, too, and keep the answer.
 */
enum nvtx_mode {
	NVTX_MODE_OFF = 1, /* "off", or PROFTAP_DISABLE: NVTX works as without a tool */
	NVTX_MODE_ON, /* the default: annotations are recorded, except XLA's */
	NVTX_MODE_XLA, /* "xla": XLA's, too; other profilers then miss them */
};

/* Any thread may call this. */
enum nvtx_mode nvtx_mode_get(void);

#endif
