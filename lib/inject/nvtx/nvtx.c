/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filling a module's tables; see nvtx.h. Nothing else is done here: NVTX is in the middle of its initialisation, and other threads
 * wait for it.
 */
#define PTAP_IMPL_BUILDING
#include "lib/inject/nvtx/nvtx.h"

#include "lib/inject/nvtx/handlers.h"
#include "lib/inject/nvtx/mode.h"

/* Of |n| handlers; a module of another version may have fewer slots, or more. */
static void fill(const struct nvtx_callbacks *callbacks, int module, nvtx_function *const *handlers,
	unsigned n)
{
	nvtx_function ***slots = NULL;
	unsigned n_slots = 0;

	if (!callbacks->get_module(module, &slots, &n_slots) || !slots)
		return;
	for (unsigned i = 1; i < n && i < n_slots; i++)
		if (handlers[i] && slots[i])
			*slots[i] = handlers[i];
}

static void tell_version(nvtx_get_table *get_table)
{
	const struct nvtx_version *version = get_table(NVTX_TABLE_VERSION);

	if (version && version->size >= sizeof *version && version->set_tool_version)
		version->set_tool_version(NVTX_VERSION);
}

int InitializeInjectionNvtx2(nvtx_get_table *get_table)
{
	const struct nvtx_callbacks *callbacks;

	if (nvtx_mode_get() == NVTX_MODE_OFF)
		return 0;
	callbacks = get_table(NVTX_TABLE_CALLBACKS);
	if (!callbacks || callbacks->size < sizeof *callbacks || !callbacks->get_module)
		return 0;
	tell_version(get_table);
	fill(callbacks, NVTX_MODULE_CORE, nvtx_core_handlers, NVTX_CORE_SLOTS);
	fill(callbacks, NVTX_MODULE_CORE2, nvtx_core2_handlers, NVTX_CORE2_SLOTS);
	return 1;
}

int InitializeInjectionNvtx(nvtx_get_table *get_table)
{
	return InitializeInjectionNvtx2(get_table);
}
