/* SPDX-License-Identifier: Apache-2.0 */
/* Methods; see host_method.h. */
#include "daemon/host/calls/host_method.h"

#include <string.h>

#include "daemon/serve/calls/service.h"
#include "proftap/v1/profiler.pb-c.h"
#include "rpc/server.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

#define SESSION (HOST_METHOD_BEGINS | HOST_METHOD_BEGINS_SESSION)
#define ABOUT HOST_METHOD_IS_ABOUT_SESSION

#define PROFILE_REQUEST &tensorflow__profile_request__descriptor

static const struct host_method methods[] = {
	{.path = SERVICE_PROFILER "ContinuousProfiling",
		.request = PROFILE_REQUEST,
		.traits = SESSION},
	{.path = SERVICE_PROFILER "GetSnapShot", .traits = ABOUT},
	{.path = SERVICE_PROFILER "GetSnapshot", .traits = ABOUT},
	{.path = SERVICE_PROFILER "Monitor",
		.request = &tensorflow__monitor_request__descriptor,
		.traits = HOST_METHOD_BEGINS},
	{.path = SERVICE_PROFILER "Profile",
		.request = PROFILE_REQUEST,
		.traits = HOST_METHOD_BEGINS,
		.ledger = LEDGER_PROFILE},
	{.path = SERVICE_PROFILER "StartContinuousProfiling",
		.request = PROFILE_REQUEST,
		.traits = SESSION},
	{.path = SERVICE_PROFILER "StopContinuousProfiling", .traits = ABOUT},
	{.path = SERVICE_PROFILER "Terminate",
		.request = &tensorflow__terminate_request__descriptor},
	{.path = SERVICE_V1 "Capture",
		.request = &proftap__v1__capture_request__descriptor,
		.traits = HOST_METHOD_BEGINS,
		.ledger = LEDGER_CAPTURE},
	{.path = SERVICE_V1 "List",
		.request = &proftap__v1__list_request__descriptor,
		.traits = HOST_METHOD_LOOKS},
	/* It tells arguments of spans, as a capture does: so it is audited. */
	{.path = SERVICE_V1 "OpenSpans"},
	{.path = SERVICE_V1 "Snapshot",
		.request = &proftap__v1__snapshot_request__descriptor,
		.ledger = LEDGER_SNAPSHOT},
	{.path = SERVICE_V1 "Start",
		.request = &proftap__v1__start_request__descriptor,
		.traits = HOST_METHOD_BEGINS},
	{.path = SERVICE_V1 "Status", .traits = HOST_METHOD_LOOKS},
	{.path = SERVICE_V1 "Stop",
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
