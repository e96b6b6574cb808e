/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where NVTX enters: the functions that a program's NVTX looks up in the library that NVTX_INJECTION64_PATH names, once in each
 * module that has annotations. docs/internals/nvtx.md. Return 1, or 0: it stays as without a tool.
 */
#ifndef INJECT_NVTX_H
#define INJECT_NVTX_H

#include <proftap/proftap.h>

#include "lib/inject/nvtx/abi.h"

struct nvtx_extension;

PTAP_API int InitializeInjectionNvtx2(nvtx_get_table *get_table);
/* The same, by the name that libnvToolsExt.so looks up if there is no other. */
PTAP_API int InitializeInjectionNvtx(nvtx_get_table *get_table);
/* Of an extension: payload_abi.h. */
PTAP_API int InitializeInjectionNvtxExtension(struct nvtx_extension *extension);

#endif
