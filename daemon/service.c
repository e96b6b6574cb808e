/* SPDX-License-Identifier: Apache-2.0 */
/* The table of methods; see service.h. */
#include "daemon/service.h"

#include "daemon/monitor.h"
#include "daemon/profile_calls.h"

#define PROFILER "/tensorflow.ProfilerService/"

const struct rpc_method service_methods[] = {
	{PROFILER "Monitor", SERVICE_MAX_REQUEST_BYTES, monitor_handle, RPC_UNARY},
	{PROFILER "Profile", SERVICE_MAX_REQUEST_BYTES, profile_call_handle, RPC_UNARY},
	{PROFILER "Terminate", SERVICE_MAX_REQUEST_BYTES, profile_call_handle_terminate, RPC_UNARY},
};
const size_t n_service_methods = sizeof service_methods / sizeof *service_methods;
