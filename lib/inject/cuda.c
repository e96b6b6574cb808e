/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's injection; see cuda.h. */
#define PTAP_IMPL_BUILDING
#include "lib/inject/cuda.h"

#include "lib/inject/preload.h"

int InitializeInjection(void)
{
	preload_start();
	return 1;
}
