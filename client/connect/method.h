/* SPDX-License-Identifier: Apache-2.0 */
/* The methods that the client calls. */
#ifndef CLIENT_METHOD_H
#define CLIENT_METHOD_H

#define METHOD_V1 "/proftap.v1.Profiler/"
#define METHOD_STOCK "/tensorflow.ProfilerService/"

#define CAPTURE_PATH METHOD_V1 "Capture"
#define START_PATH METHOD_V1 "Start"
#define SNAPSHOT_PATH METHOD_V1 "Snapshot"
#define STOP_PATH METHOD_V1 "Stop"
#define STATUS_PATH METHOD_V1 "Status"
#define OPEN_SPANS_PATH METHOD_V1 "OpenSpans"
#define LIST_PATH METHOD_V1 "List"

#define PROFILE_PATH METHOD_STOCK "Profile"
#define TERMINATE_PATH METHOD_STOCK "Terminate"
#define MONITOR_PATH METHOD_STOCK "Monitor"

#endif
