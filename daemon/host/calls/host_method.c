/* SPDX-License-Identifier: Apache-2.0 */
/* Methods; see host_method.h. */
#include "daemon/host/calls/host_method.h"

#include <string.h>

#include "daemon/serve/calls/methods.h"
#include "proftap/v1/profiler.pb-c.h"
#include "rpc/server.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

#define SESSION (HOST_METHOD_BEGINS | HOST_METHOD_BEGINS_SESSION)
#define ABOUT HOST_METHOD_IS_ABOUT_SESSION

#define PROFILE_REQUEST &tensorflow__profile_request__descriptor

static const struct host_method methods[] = {
	{.path = METHODS_PROFILER "ContinuousProfiling",
		.request = PROFILE_REQUEST,
		.traits = SESSION},
	{.path = METHODS_PROFILER "GetSnapShot", .traits = ABOUT},
	{.path = METHODS_PROFILER "GetSnapshot", .traits = ABOUT},
	{.path = METHODS_PROFILER "Monitor",
		.request = &tensorflow__monitor_request__descriptor,
		.traits = HOST_METHOD_BEGINS},
	{.path = METHODS_PROFILER "Profile",
		.request = PROFILE_REQUEST,
		.traits = HOST_METHOD_BEGINS,
		.ledger = LEDGER_PROFILE},
	{.path = METHODS_PROFILER "StartContinuousProfiling",
		.request = PROFILE_REQUEST,
		.traits = SESSION},
	{.path = METHODS_PROFILER "StopContinuousProfiling", .traits = ABOUT},
	{.path = METHODS_PROFILER "Terminate",
		.request = &tensorflow__terminate_request__descriptor},
	{.path = METHODS_V1 "Capture",
		.request = &proftap__v1__capture_request__descriptor,
		.traits = HOST_METHOD_BEGINS,
		.ledger = LEDGER_CAPTURE},
	{.path = METHODS_V1 "List",
		.request = &proftap__v1__list_request__descriptor,
		.traits = HOST_METHOD_LOOKS},
	/* It tells arguments of spans, as a capture does: so it is audited. */
	{.path = METHODS_V1 "OpenSpans"},
	{.path = METHODS_V1 "Snapshot",
		.request = &proftap__v1__snapshot_request__descriptor,
		.ledger = LEDGER_SNAPSHOT},
	{.path = METHODS_V1 "Start",
		.request = &proftap__v1__start_request__descriptor,
		.traits = HOST_METHOD_BEGINS},
	{.path = METHODS_V1 "Status", .traits = HOST_METHOD_LOOKS},
	{.path = METHODS_V1 "Stop",
		.request = &proftap__v1__stop_request__descriptor,
		.ledger = LEDGER_STOP},
};

/* Of probes, and the like. */
static const struct host_method other = {.path = ""};

const struct host_method *host_method_of(const struct rpc_call *call)
{
	const char *path = rpc_call_get_method(call)->path;

	for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
		if (strcmp(path, methods[i].path) == 0)
			return &methods[i];
	return &other;
}

int host_method_has_options(const struct host_method *m)
{
	return m->request == PROFILE_REQUEST;
}
