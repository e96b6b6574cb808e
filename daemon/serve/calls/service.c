/* SPDX-License-Identifier: Apache-2.0 */
/* The table of methods; see service.h. */
#include "daemon/serve/calls/service.h"

#include "daemon/serve/calls/methods.h"

#define ANALYSIS "/tensorflow.ProfileAnalysis/"

/* ContinuousProfiling and GetSnapShot are names of older builds (openxla/xla 237a2be, 19d4cd1). */
const struct rpc_method service_methods[] = {
	METHODS_OF_PROBES,
	{ANALYSIS "EnumSessions", METHODS_MAX_REQUEST_BYTES, analysis_enum_sessions, RPC_UNARY},
	{ANALYSIS "GetSessionToolData", METHODS_MAX_REQUEST_BYTES, analysis_get_data, RPC_UNARY},
	{ANALYSIS "NewSession", METHODS_MAX_REQUEST_BYTES, analysis_new_session, RPC_UNARY},
	{METHODS_PROFILER "ContinuousProfiling", METHODS_MAX_REQUEST_BYTES,
		stock_call_start_continuous, RPC_UNARY},
	{METHODS_PROFILER "GetSnapShot", METHODS_MAX_REQUEST_BYTES, stock_call_get_old_snapshot,
		RPC_UNARY},
	{METHODS_PROFILER "GetSnapshot", METHODS_MAX_REQUEST_BYTES, stock_call_get_snapshot,
		RPC_UNARY},
	{METHODS_PROFILER "Monitor", METHODS_MAX_REQUEST_BYTES, monitor_handle, RPC_UNARY},
	{METHODS_PROFILER "Profile", METHODS_MAX_REQUEST_BYTES, stock_call_profile, RPC_UNARY},
	{METHODS_PROFILER "StartContinuousProfiling", METHODS_MAX_REQUEST_BYTES,
		stock_call_start_continuous, RPC_UNARY},
	{METHODS_PROFILER "StopContinuousProfiling", METHODS_MAX_REQUEST_BYTES,
		stock_call_stop_continuous, RPC_UNARY},
	{METHODS_PROFILER "Terminate", METHODS_MAX_REQUEST_BYTES, stock_call_terminate, RPC_UNARY},
	{METHODS_V1 "Capture", METHODS_MAX_REQUEST_BYTES, profiler_handle_capture,
		RPC_SERVER_STREAM},
	{METHODS_V1 "Start", METHODS_MAX_REQUEST_BYTES, profiler_handle_start, RPC_UNARY},
	{METHODS_V1 "Snapshot", METHODS_MAX_REQUEST_BYTES, profiler_handle_snapshot,
		RPC_SERVER_STREAM},
	{METHODS_V1 "Stop", METHODS_MAX_REQUEST_BYTES, profiler_handle_stop, RPC_SERVER_STREAM},
	{METHODS_V1 "Status", METHODS_MAX_REQUEST_BYTES, profiler_handle_status, RPC_UNARY},
	{METHODS_V1 "OpenSpans", METHODS_MAX_REQUEST_BYTES, open_spans_call_handle, RPC_UNARY},
	{METHODS_V1 "List", METHODS_MAX_REQUEST_BYTES, profiler_handle_list, RPC_UNARY},
};
const size_t n_service_methods = sizeof service_methods / sizeof *service_methods;
