/* SPDX-License-Identifier: Apache-2.0 */
/* PROFTAP_NVTX; see mode.h. */
#include "lib/inject/nvtx/mode.h"

#include <stdatomic.h>
#include <string.h>

#include "base/env.h"

static enum nvtx_mode read_mode(void)
{
	const char *asked = env_get(ENV_PROFTAP_NVTX);

	if (env_is_on(ENV_PROFTAP_DISABLE) || (asked && strcmp(asked, "off") == 0))
		return NVTX_MODE_OFF;
	return asked && strcmp(asked, "xla") == 0 ? NVTX_MODE_XLA : NVTX_MODE_ON;
}

enum nvtx_mode nvtx_mode_get(void)
{
	static _Atomic int kept;
	int mode = atomic_load_explicit(&kept, memory_order_relaxed);

	if (!mode) {
		mode = (int)read_mode();
		atomic_store_explicit(&kept, mode, memory_order_relaxed);
	}
	return (enum nvtx_mode)mode;
}
