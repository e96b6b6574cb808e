/* SPDX-License-Identifier: Apache-2.0 */
/* The fake libcupti: the driver that the program has loaded, as the real one finds it. */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "tests/cuda/fake_inside.h"

static void *find_in_driver(const char *name)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

	return driver ? dlsym(driver, name) : NULL;
}

static bool is_in_callback(void)
{
	return inside_is_any();
}

void driver_guard(void)
{
	void *symbol = find_in_driver(FAKE_GUARD_SYMBOL);
	fake_driver_guard guard;

	memcpy(&guard, &symbol, sizeof guard);
	if (guard)
		guard(is_in_callback);
}

bool driver_is_initialized(void)
{
	void *symbol = find_in_driver(FAKE_DRIVER_STATE_SYMBOL);
	fake_driver_state state;

	memcpy(&state, &symbol, sizeof state);
	return state && state();
}

void driver_set_context(uint32_t context, bool is_alive)
{
	void *symbol = find_in_driver(FAKE_DRIVER_CONTEXT_SYMBOL);
	fake_driver_context set;

	memcpy(&set, &symbol, sizeof set);
	if (set)
		set(context, is_alive);
}
