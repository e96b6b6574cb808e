/* SPDX-License-Identifier: Apache-2.0 */
/* The table of methods; see service.h. */
#include "daemon/serve/calls/service.h"

#include "daemon/serve/calls/analysis.h"
#include "daemon/serve/calls/continuous_calls.h"
#include "daemon/serve/calls/monitor.h"
#include "daemon/serve/calls/new_session.h"
#include "daemon/serve/calls/open_spans_call.h"
#include "daemon/serve/calls/profile_calls.h"
#include "daemon/serve/calls/profiler.h"
#include "daemon/serve/calls/profiler_status.h"

#define ANALYSIS "/tensorflow.ProfileAnalysis/"

/* ContinuousProfiling and GetSnapShot are names of older builds (openxla/xla 237a2be, 19d4cd1). */
const struct rpc_method service_methods[] = {
	SERVICE_PROBES,
	{ANALYSIS "EnumSessions", SERVICE_MAX_REQUEST_BYTES, analysis_enum_sessions, RPC_UNARY},
	{ANALYSIS "GetSessionToolData", SERVICE_MAX_REQUEST_BYTES, analysis_get_data, RPC_UNARY},
	{ANALYSIS "NewSession", SERVICE_MAX_REQUEST_BYTES, new_session_handle, RPC_UNARY},
	{SERVICE_PROFILER "ContinuousProfiling", SERVICE_MAX_REQUEST_BYTES, continuous_call_start,
		RPC_UNARY},
	{SERVICE_PROFILER "GetSnapShot", SERVICE_MAX_REQUEST_BYTES,
		continuous_call_get_old_snapshot, RPC_UNARY},
	{SERVICE_PROFILER "GetSnapshot", SERVICE_MAX_REQUEST_BYTES, continuous_call_get_snapshot,
		RPC_UNARY},
	{SERVICE_PROFILER "Monitor", SERVICE_MAX_REQUEST_BYTES, monitor_handle, RPC_UNARY},
	{SERVICE_PROFILER "Profile", SERVICE_MAX_REQUEST_BYTES, profile_call_handle, RPC_UNARY},
	{SERVICE_PROFILER "StartContinuousProfiling", SERVICE_MAX_REQUEST_BYTES,
		continuous_call_start, RPC_UNARY},
	{SERVICE_PROFILER "StopContinuousProfiling", SERVICE_MAX_REQUEST_BYTES,
		continuous_call_stop, RPC_UNARY},
	{SERVICE_PROFILER "Terminate", SERVICE_MAX_REQUEST_BYTES, profile_call_handle_terminate,
		RPC_UNARY},
	{SERVICE_V1 "Capture", SERVICE_MAX_REQUEST_BYTES, profiler_handle_capture,
		RPC_SERVER_STREAM},
	{SERVICE_V1 "Start", SERVICE_MAX_REQUEST_BYTES, profiler_handle_start, RPC_UNARY},
	{SERVICE_V1 "Snapshot", SERVICE_MAX_REQUEST_BYTES, profiler_handle_snapshot,
		RPC_SERVER_STREAM},
	{SERVICE_V1 "Stop", SERVICE_MAX_REQUEST_BYTES, profiler_handle_stop, RPC_SERVER_STREAM},
	{SERVICE_V1 "Status", SERVICE_MAX_REQUEST_BYTES, profiler_handle_status, RPC_UNARY},
	{SERVICE_V1 "OpenSpans", SERVICE_MAX_REQUEST_BYTES, open_spans_call_handle, RPC_UNARY},
	{SERVICE_V1 "List", SERVICE_MAX_REQUEST_BYTES, profiler_handle_list, RPC_UNARY},
};
const size_t n_service_methods = sizeof service_methods / sizeof *service_methods;
