/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares our declarations of CUPTI and the driver with NVIDIA's headers; see nvidia, which
 * defines NEWEST_X, the struct X with the highest number, and HAS_X if the headers have a name X.
 */
#include "tests/compile/nvidia.hpp"

#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_result.h>
#include <cupti_version.h>
#if __has_include(<cupti_pmsampling.h>)
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>
#endif

namespace ours
{
#include <proftap/collector.h>

#include "lib/plugins/cuda/cupti.h"
#include "lib/plugins/cuda/driver.h"
#include "lib/plugins/cuda/pm_cupti.h"
#include "lib/plugins/cuda/record_layout.h"
} // namespace ours

NUMBER(CUPTI_OK, CUPTI_SUCCESS);
NUMBER(CUPTI_INVALID_PARAMETER, CUPTI_ERROR_INVALID_PARAMETER);
NUMBER(CUPTI_INVALID_OPERATION, CUPTI_ERROR_INVALID_OPERATION);
NUMBER(CUPTI_OUT_OF_MEMORY, CUPTI_ERROR_OUT_OF_MEMORY);
NUMBER(CUPTI_MAX_LIMIT_REACHED, CUPTI_ERROR_MAX_LIMIT_REACHED);
NUMBER(CUPTI_NOT_COMPATIBLE, CUPTI_ERROR_NOT_COMPATIBLE);
NUMBER(CUPTI_NOT_INITIALIZED, CUPTI_ERROR_NOT_INITIALIZED);
NUMBER(CUPTI_INVALID_METRIC_NAME, CUPTI_ERROR_INVALID_METRIC_NAME);
NUMBER(CUPTI_INVALID_KIND, CUPTI_ERROR_INVALID_KIND);
NUMBER(CUPTI_HARDWARE_BUSY, CUPTI_ERROR_HARDWARE_BUSY);
NUMBER(CUPTI_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED);
NUMBER(CUPTI_VIRTUALIZED_DEVICE_NOT_SUPPORTED, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
NUMBER(CUPTI_INSUFFICIENT_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
NUMBER(CUPTI_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
#ifdef HAS_CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES
NUMBER(CUPTI_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES,
	CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
#endif
#ifdef HAS_CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED
NUMBER(CUPTI_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED,
	CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
#endif
#ifdef HAS_CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED
NUMBER(CUPTI_CMP_DEVICE_NOT_SUPPORTED, CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED);
#endif
#ifdef HAS_CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED
NUMBER(CUPTI_MIG_DEVICE_NOT_SUPPORTED, CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
#endif
#ifdef HAS_CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED
NUMBER(CUPTI_SLI_DEVICE_NOT_SUPPORTED, CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED);
#endif
#ifdef HAS_CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED
NUMBER(CUPTI_WSL_DEVICE_NOT_SUPPORTED, CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED);
#endif
#ifdef HAS_CUPTI_ERROR_INVALID_CHIP_NAME
NUMBER(CUPTI_INVALID_CHIP_NAME, CUPTI_ERROR_INVALID_CHIP_NAME);
#endif
NUMBER(CUPTI_UNKNOWN, CUPTI_ERROR_UNKNOWN);

NUMBER(CUPTI_DRIVER_API, CUPTI_CB_DOMAIN_DRIVER_API);
NUMBER(CUPTI_RUNTIME_API, CUPTI_CB_DOMAIN_RUNTIME_API);
NUMBER(CUPTI_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE);
NUMBER(CUPTI_ENTER, CUPTI_API_ENTER);
NUMBER(CUPTI_EXIT, CUPTI_API_EXIT);
NUMBER(CUPTI_CONTEXT_DESTROY_STARTING, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
NUMBER(CUPTI_NODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
NUMBER(CUPTI_NODE_CLONED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
NUMBER(CUPTI_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
NUMBER(CUPTI_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
NUMBER(CUPTI_KERNEL, CUPTI_ACTIVITY_KIND_KERNEL);
NUMBER(CUPTI_CONTEXT, CUPTI_ACTIVITY_KIND_CONTEXT);
NUMBER(CUPTI_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
NUMBER(CUPTI_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD);
NUMBER(CUPTI_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMCPY2);
NUMBER(CUPTI_STREAM, CUPTI_ACTIVITY_KIND_STREAM);
NUMBER(CUPTI_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
NUMBER(CUPTI_MEMORY2, CUPTI_ACTIVITY_KIND_MEMORY2);
NUMBER(CUPTI_MEMORY_POOL, CUPTI_ACTIVITY_KIND_MEMORY_POOL);
NUMBER(CUPTI_GRAPH_TRACE, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
NUMBER(CUPTI_DEVICE_BUFFER_POOL_LIMIT, CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT);
NUMBER(CUPTI_ZEROED_OUT_ACTIVITY_BUFFER, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
NUMBER(CUPTI_THREAD_ID_SYSTEM, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
NUMBER(CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
EQUAL(RECORD_IS_ASYNC, CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC);
NUMBER(COPY_H2D, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
NUMBER(COPY_D2H, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
NUMBER(COPY_H2A, CUPTI_ACTIVITY_MEMCPY_KIND_HTOA);
NUMBER(COPY_A2H, CUPTI_ACTIVITY_MEMCPY_KIND_ATOH);
NUMBER(COPY_A2A, CUPTI_ACTIVITY_MEMCPY_KIND_ATOA);
NUMBER(COPY_A2D, CUPTI_ACTIVITY_MEMCPY_KIND_ATOD);
NUMBER(COPY_D2A, CUPTI_ACTIVITY_MEMCPY_KIND_DTOA);
NUMBER(COPY_D2D, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD);
NUMBER(COPY_H2H, CUPTI_ACTIVITY_MEMCPY_KIND_HTOH);
NUMBER(COPY_P2P, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
NUMBER(PTAP_MEMORY_UNKNOWN, CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN);
NUMBER(PTAP_MEMORY_PAGEABLE, CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
NUMBER(PTAP_MEMORY_PINNED, CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
NUMBER(PTAP_MEMORY_DEVICE, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
NUMBER(PTAP_MEMORY_ARRAY, CUPTI_ACTIVITY_MEMORY_KIND_ARRAY);
NUMBER(PTAP_MEMORY_MANAGED, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED);
NUMBER(PTAP_MEMORY_DEVICE_STATIC, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC);
NUMBER(PTAP_MEMORY_MANAGED_STATIC, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC);
NUMBER(OBJECT_STREAM, CUPTI_ACTIVITY_OBJECT_STREAM);
NUMBER(OBJECT_DEVICE, CUPTI_ACTIVITY_OBJECT_DEVICE);
NUMBER(OBJECT_CONTEXT, CUPTI_ACTIVITY_OBJECT_CONTEXT);
NUMBER(OBJECT_THREAD, CUPTI_ACTIVITY_OBJECT_THREAD);

SIZE(cupti_call, CUpti_CallbackData);
FIELD(cupti_call, site, CUpti_CallbackData, callbackSite);
FIELD(cupti_call, function, CUpti_CallbackData, functionName);
FIELD(cupti_call, parameters, CUpti_CallbackData, functionParams);
FIELD(cupti_call, result, CUpti_CallbackData, functionReturnValue);
FIELD(cupti_call, symbol, CUpti_CallbackData, symbolName);
FIELD(cupti_call, context, CUpti_CallbackData, context);
FIELD(cupti_call, context_id, CUpti_CallbackData, contextUid);
FIELD(cupti_call, slot, CUpti_CallbackData, correlationData);
FIELD(cupti_call, correlation, CUpti_CallbackData, correlationId);
FIELD(cupti_resource, context, CUpti_ResourceData, context);
FIELD(cupti_resource, handle, CUpti_ResourceData, resourceHandle);
FIELD(cupti_resource, descriptor, CUpti_ResourceData, resourceDescriptor);
FIELD(cupti_graph, graph, CUpti_GraphData, graph);
FIELD(cupti_graph, original_graph, CUpti_GraphData, originalGraph);
FIELD(cupti_graph, executable, CUpti_GraphData, graphExec);
FIELD(cupti_graph, node, CUpti_GraphData, node);
FIELD(cupti_graph, original_node, CUpti_GraphData, originalNode);
#ifdef HAS_CUpti_StateData
NUMBER(CUPTI_STATE, CUPTI_CB_DOMAIN_STATE);
NUMBER(CUPTI_FATAL_ERROR, CUPTI_CBID_STATE_FATAL_ERROR);
FIELD(cupti_notice, result, CUpti_StateData, notification.result);
FIELD(cupti_notice, message, CUpti_StateData, notification.message);
#endif
#ifdef HAS_CUpti_SubscriberParams
FIELD(cupti_subscription, name, CUpti_SubscriberParams, subscriberName);
FIELD(cupti_subscription, holder, CUpti_SubscriberParams, oldSubscriberName);
FIELD(cupti_subscription, holder_bytes, CUpti_SubscriberParams, oldSubscriberSize);
EQUAL(CUPTI_API_VERSION < 130200 ? CUPTI_SUBSCRIPTION_BYTES_OLD : CUPTI_SUBSCRIPTION_BYTES,
	CUpti_SubscriberParams_STRUCT_SIZE);
#endif

FUNCTION(cupti, get_version, cuptiGetVersion);
FUNCTION(cupti, get_result_string, cuptiGetResultString);
FUNCTION(cupti, subscribe, cuptiSubscribe);
FUNCTION(cupti, unsubscribe, cuptiUnsubscribe);
FUNCTION(cupti, enable_callback, cuptiEnableCallback);
FUNCTION(cupti, get_callback_name, cuptiGetCallbackName);
FUNCTION(cupti, enable, cuptiActivityEnable);
FUNCTION(cupti, disable, cuptiActivityDisable);
FUNCTION(cupti, register_callbacks, cuptiActivityRegisterCallbacks);
FUNCTION(cupti, flush, cuptiActivityFlushAll);
FUNCTION(cupti, next_record, cuptiActivityGetNextRecord);
FUNCTION(cupti, get_dropped, cuptiActivityGetNumDroppedRecords);
FUNCTION(cupti, set_attribute, cuptiActivitySetAttribute);
FUNCTION(cupti, get_attribute, cuptiActivityGetAttribute);
FUNCTION(cupti, get_timestamp, cuptiGetTimestamp);
FUNCTION(cupti, set_thread_id_type, cuptiSetThreadIdType);
FUNCTION(cupti, get_device_id, cuptiGetDeviceId);
FUNCTION(cupti, finalize, cuptiFinalize);
#ifdef HAS_cuptiSubscribe_v2
FUNCTION(cupti, subscribe_by_name, cuptiSubscribe_v2);
#endif
#ifdef HAS_cuptiActivityEnableAndDump
FUNCTION(cupti, enable_and_dump, cuptiActivityEnableAndDump);
#endif
#ifdef HAS_cuptiActivityEnableAllSyncRecords
FUNCTION(cupti, enable_all_waits, cuptiActivityEnableAllSyncRecords);
#endif
#ifdef HAS_cuptiGetGraphExecId
FUNCTION(cupti, get_graph_exec_id, cuptiGetGraphExecId);
#endif
#ifdef HAS_cuptiGetGraphNodeId
FUNCTION(cupti, get_graph_node_id, cuptiGetGraphNodeId);
#endif
EQUAL((is_called_alike<ours::cupti_callback, CUpti_CallbackFunc>::value), true);
EQUAL((is_called_alike<ours::cupti_request, CUpti_BuffersCallbackRequestFunc>::value), true);
EQUAL((is_called_alike<ours::cupti_complete, CUpti_BuffersCallbackCompleteFunc>::value), true);

FIELD(kernel_record, registers, NEWEST_CUpti_ActivityKernel, registersPerThread);
FIELD(kernel_record, start_ns, NEWEST_CUpti_ActivityKernel, start);
FIELD(kernel_record, end_ns, NEWEST_CUpti_ActivityKernel, end);
FIELD(kernel_record, device, NEWEST_CUpti_ActivityKernel, deviceId);
FIELD(kernel_record, context, NEWEST_CUpti_ActivityKernel, contextId);
FIELD(kernel_record, stream, NEWEST_CUpti_ActivityKernel, streamId);
FIELD(kernel_record, grid[0], NEWEST_CUpti_ActivityKernel, gridX);
FIELD(kernel_record, grid[2], NEWEST_CUpti_ActivityKernel, gridZ);
FIELD(kernel_record, block[0], NEWEST_CUpti_ActivityKernel, blockX);
FIELD(kernel_record, block[2], NEWEST_CUpti_ActivityKernel, blockZ);
FIELD(kernel_record, static_shared, NEWEST_CUpti_ActivityKernel, staticSharedMemory);
FIELD(kernel_record, dynamic_shared, NEWEST_CUpti_ActivityKernel, dynamicSharedMemory);
FIELD(kernel_record, correlation, NEWEST_CUpti_ActivityKernel, correlationId);
FIELD(kernel_record, name, NEWEST_CUpti_ActivityKernel, name);
FIELD(kernel_record, graph_node, NEWEST_CUpti_ActivityKernel, graphNodeId);
FIELD(kernel_record, graph, NEWEST_CUpti_ActivityKernel, graphId);
FIELD(copy_record, direction, NEWEST_CUpti_ActivityMemcpy, copyKind);
FIELD(copy_record, from, NEWEST_CUpti_ActivityMemcpy, srcKind);
FIELD(copy_record, to, NEWEST_CUpti_ActivityMemcpy, dstKind);
FIELD(copy_record, flags, NEWEST_CUpti_ActivityMemcpy, flags);
FIELD(copy_record, bytes, NEWEST_CUpti_ActivityMemcpy, bytes);
FIELD(copy_record, start_ns, NEWEST_CUpti_ActivityMemcpy, start);
FIELD(copy_record, end_ns, NEWEST_CUpti_ActivityMemcpy, end);
FIELD(copy_record, device, NEWEST_CUpti_ActivityMemcpy, deviceId);
FIELD(copy_record, context, NEWEST_CUpti_ActivityMemcpy, contextId);
FIELD(copy_record, stream, NEWEST_CUpti_ActivityMemcpy, streamId);
FIELD(copy_record, correlation, NEWEST_CUpti_ActivityMemcpy, correlationId);
FIELD(copy_record, graph_node, NEWEST_CUpti_ActivityMemcpy, graphNodeId);
FIELD(copy_record, graph, NEWEST_CUpti_ActivityMemcpy, graphId);
FIELD(peer_copy_record, direction, NEWEST_CUpti_ActivityMemcpyPtoP, copyKind);
FIELD(peer_copy_record, from, NEWEST_CUpti_ActivityMemcpyPtoP, srcKind);
FIELD(peer_copy_record, to, NEWEST_CUpti_ActivityMemcpyPtoP, dstKind);
FIELD(peer_copy_record, flags, NEWEST_CUpti_ActivityMemcpyPtoP, flags);
FIELD(peer_copy_record, bytes, NEWEST_CUpti_ActivityMemcpyPtoP, bytes);
FIELD(peer_copy_record, start_ns, NEWEST_CUpti_ActivityMemcpyPtoP, start);
FIELD(peer_copy_record, end_ns, NEWEST_CUpti_ActivityMemcpyPtoP, end);
FIELD(peer_copy_record, device, NEWEST_CUpti_ActivityMemcpyPtoP, deviceId);
FIELD(peer_copy_record, context, NEWEST_CUpti_ActivityMemcpyPtoP, contextId);
FIELD(peer_copy_record, stream, NEWEST_CUpti_ActivityMemcpyPtoP, streamId);
FIELD(peer_copy_record, from_device, NEWEST_CUpti_ActivityMemcpyPtoP, srcDeviceId);
FIELD(peer_copy_record, to_device, NEWEST_CUpti_ActivityMemcpyPtoP, dstDeviceId);
FIELD(peer_copy_record, correlation, NEWEST_CUpti_ActivityMemcpyPtoP, correlationId);
FIELD(peer_copy_record, graph_node, NEWEST_CUpti_ActivityMemcpyPtoP, graphNodeId);
FIELD(peer_copy_record, graph, NEWEST_CUpti_ActivityMemcpyPtoP, graphId);
FIELD(set_record, value, NEWEST_CUpti_ActivityMemset, value);
FIELD(set_record, bytes, NEWEST_CUpti_ActivityMemset, bytes);
FIELD(set_record, start_ns, NEWEST_CUpti_ActivityMemset, start);
FIELD(set_record, end_ns, NEWEST_CUpti_ActivityMemset, end);
FIELD(set_record, device, NEWEST_CUpti_ActivityMemset, deviceId);
FIELD(set_record, context, NEWEST_CUpti_ActivityMemset, contextId);
FIELD(set_record, stream, NEWEST_CUpti_ActivityMemset, streamId);
FIELD(set_record, graph_node, NEWEST_CUpti_ActivityMemset, graphNodeId);
FIELD(set_record, correlation, NEWEST_CUpti_ActivityMemset, correlationId);
FIELD(set_record, flags, NEWEST_CUpti_ActivityMemset, flags);
FIELD(set_record, memory, NEWEST_CUpti_ActivityMemset, memoryKind);
FIELD(set_record, graph, NEWEST_CUpti_ActivityMemset, graphId);
FIELD(overhead_record, overhead, NEWEST_CUpti_ActivityOverhead, overheadKind);
FIELD(overhead_record, object_kind, NEWEST_CUpti_ActivityOverhead, objectKind);
FIELD(overhead_record, object, NEWEST_CUpti_ActivityOverhead, objectId);
FIELD(overhead_record, start_ns, NEWEST_CUpti_ActivityOverhead, start);
FIELD(overhead_record, end_ns, NEWEST_CUpti_ActivityOverhead, end);
FIELD(wait_record, type, NEWEST_CUpti_ActivitySynchronization, type);
FIELD(wait_record, start_ns, NEWEST_CUpti_ActivitySynchronization, start);
FIELD(wait_record, end_ns, NEWEST_CUpti_ActivitySynchronization, end);
FIELD(wait_record, correlation, NEWEST_CUpti_ActivitySynchronization, correlationId);
FIELD(wait_record, context, NEWEST_CUpti_ActivitySynchronization, contextId);
FIELD(wait_record, stream, NEWEST_CUpti_ActivitySynchronization, streamId);
FIELD(wait_record, event, NEWEST_CUpti_ActivitySynchronization, cudaEventId);
FIELD(memory_record, operation, NEWEST_CUpti_ActivityMemory, memoryOperationType);
FIELD(memory_record, memory, NEWEST_CUpti_ActivityMemory, memoryKind);
FIELD(memory_record, correlation, NEWEST_CUpti_ActivityMemory, correlationId);
FIELD(memory_record, address, NEWEST_CUpti_ActivityMemory, address);
FIELD(memory_record, bytes, NEWEST_CUpti_ActivityMemory, bytes);
FIELD(memory_record, ns, NEWEST_CUpti_ActivityMemory, timestamp);
FIELD(memory_record, device, NEWEST_CUpti_ActivityMemory, deviceId);
FIELD(memory_record, context, NEWEST_CUpti_ActivityMemory, contextId);
FIELD(memory_record, stream, NEWEST_CUpti_ActivityMemory, streamId);
FIELD(memory_pool_record, operation, NEWEST_CUpti_ActivityMemoryPool, memoryPoolOperationType);
FIELD(memory_pool_record, correlation, NEWEST_CUpti_ActivityMemoryPool, correlationId);
FIELD(memory_pool_record, device, NEWEST_CUpti_ActivityMemoryPool, deviceId);
FIELD(memory_pool_record, kept_bytes, NEWEST_CUpti_ActivityMemoryPool, minBytesToKeep);
FIELD(memory_pool_record, address, NEWEST_CUpti_ActivityMemoryPool, address);
FIELD(memory_pool_record, bytes, NEWEST_CUpti_ActivityMemoryPool, size);
FIELD(memory_pool_record, ns, NEWEST_CUpti_ActivityMemoryPool, timestamp);
FIELD(graph_record, correlation, NEWEST_CUpti_ActivityGraphTrace, correlationId);
FIELD(graph_record, start_ns, NEWEST_CUpti_ActivityGraphTrace, start);
FIELD(graph_record, end_ns, NEWEST_CUpti_ActivityGraphTrace, end);
FIELD(graph_record, context, NEWEST_CUpti_ActivityGraphTrace, contextId);
FIELD(graph_record, device, NEWEST_CUpti_ActivityGraphTrace, deviceId);
FIELD(graph_record, graph, NEWEST_CUpti_ActivityGraphTrace, graphId);
FIELD(graph_record, stream, NEWEST_CUpti_ActivityGraphTrace, streamId);
FIELD(context_record, context, NEWEST_CUpti_ActivityContext, contextId);
FIELD(context_record, device, NEWEST_CUpti_ActivityContext, deviceId);
FIELD(stream_record, context, CUpti_ActivityStream, contextId);
FIELD(stream_record, stream, CUpti_ActivityStream, streamId);
FIELD(stream_record, priority, CUpti_ActivityStream, priority);
FIELD(stream_record, flags, CUpti_ActivityStream, flag);

/* The numbers of lib/plugins/cuda/records.c. */
EQUAL(1, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION);
EQUAL(2, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);
EQUAL(1, CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED);
EQUAL(2, CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED);
EQUAL(3, CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED);
EQUAL(1, CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER);
EQUAL(1 << 16, CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH);
EQUAL(2 << 16, CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION);
EQUAL(3 << 16, CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE);
#ifdef HAS_CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING
EQUAL(4 << 16, CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING);
#endif
#ifdef HAS_CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING
EQUAL(5 << 16, CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING);
#endif
#ifdef HAS_CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL
EQUAL(6 << 16, CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL);
#endif
#ifdef HAS_CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST
EQUAL(7 << 16, CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST);
#endif
#ifdef HAS_CUPTI_ACTIVITY_OVERHEAD_UVM_ACTIVITY_INIT
EQUAL(8 << 16, CUPTI_ACTIVITY_OVERHEAD_UVM_ACTIVITY_INIT);
#endif

#ifdef HAS_CUpti_PmSampling_SetConfig_Params
#define PM(mine, last, theirs) EQUAL(PM_SIZE(ours::mine, last), theirs##_STRUCT_SIZE)
NUMBER(PM_API, CUPTI_PROFILER_PM_SAMPLING);
NUMBER(PM_SUPPORTED, CUPTI_PROFILER_CONFIGURATION_SUPPORTED);
NUMBER(PM_PROFILER, CUPTI_PROFILER_TYPE_PM_SAMPLING);
NUMBER(PM_BY_TIME, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL);
PM(pm_initialize, reserved, CUpti_Profiler_Initialize_Params);
PM(pm_chip, name, CUpti_Device_GetChipName_Params);
#if CUPTI_API_VERSION < 130100
PM(pm_support, api, CUpti_Profiler_DeviceSupported_Params);
#else
PM(pm_support, sku, CUpti_Profiler_DeviceSupported_Params);
FIELD(pm_support, sku, CUpti_Profiler_DeviceSupported_Params, sku);
#endif
/* The size says that the last field, which is optional, is absent. */
#ifdef HAS_pSinglePassMetricSetName
EQUAL(PM_SIZE(ours::pm_host, host),
	offsetof(CUpti_Profiler_Host_Initialize_Params, pSinglePassMetricSetName));
#else
PM(pm_host, host, CUpti_Profiler_Host_Initialize_Params);
#endif
PM(pm_host_end, host, CUpti_Profiler_Host_Deinitialize_Params);
PM(pm_metrics, n, CUpti_Profiler_Host_ConfigAddMetrics_Params);
PM(pm_config_size, image_bytes, CUpti_Profiler_Host_GetConfigImageSize_Params);
PM(pm_config, image, CUpti_Profiler_Host_GetConfigImage_Params);
PM(pm_passes, n, CUpti_Profiler_Host_GetNumOfPasses_Params);
PM(pm_evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params);
PM(pm_availability, image, CUpti_PmSampling_GetCounterAvailability_Params);
PM(pm_enable, sampling, CUpti_PmSampling_Enable_Params);
PM(pm_object, sampling, CUpti_PmSampling_Disable_Params);
PM(pm_object, sampling, CUpti_PmSampling_Start_Params);
PM(pm_object, sampling, CUpti_PmSampling_Stop_Params);
PM(pm_data_size, data_bytes, CUpti_PmSampling_GetCounterDataSize_Params);
PM(pm_data_init, data, CUpti_PmSampling_CounterDataImage_Initialize_Params);
PM(pm_decode, has_overflowed, CUpti_PmSampling_DecodeData_Params);
PM(pm_data_info, n_completed, CUpti_PmSampling_GetCounterDataInfo_Params);
PM(pm_sample, end_ns, CUpti_PmSampling_CounterData_GetSampleInfo_Params);
#ifdef HAS_hwBufferAppendMode
NUMBER(PM_KEEP_LATEST, CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_LATEST);
FIELD(pm_set_config, append_mode, CUpti_PmSampling_SetConfig_Params, hwBufferAppendMode);
PM(pm_set_config, append_mode, CUpti_PmSampling_SetConfig_Params);
#else
PM(pm_set_config, trigger, CUpti_PmSampling_SetConfig_Params);
#endif
FIELD(pm_chip, device, CUpti_Device_GetChipName_Params, deviceIndex);
FIELD(pm_chip, name, CUpti_Device_GetChipName_Params, pChipName);
FIELD(pm_support, device, CUpti_Profiler_DeviceSupported_Params, cuDevice);
FIELD(pm_support, is_supported, CUpti_Profiler_DeviceSupported_Params, isSupported);
FIELD(pm_support, architecture, CUpti_Profiler_DeviceSupported_Params, architecture);
FIELD(pm_support, sli, CUpti_Profiler_DeviceSupported_Params, sli);
FIELD(pm_support, vgpu, CUpti_Profiler_DeviceSupported_Params, vGpu);
FIELD(pm_support, confidential, CUpti_Profiler_DeviceSupported_Params, confidentialCompute);
FIELD(pm_support, cmp, CUpti_Profiler_DeviceSupported_Params, cmp);
FIELD(pm_support, wsl, CUpti_Profiler_DeviceSupported_Params, wsl);
FIELD(pm_support, api, CUpti_Profiler_DeviceSupported_Params, api);
FIELD(pm_availability, device, CUpti_PmSampling_GetCounterAvailability_Params, deviceIndex);
FIELD(pm_availability, image_bytes, CUpti_PmSampling_GetCounterAvailability_Params,
	counterAvailabilityImageSize);
FIELD(pm_availability, image, CUpti_PmSampling_GetCounterAvailability_Params,
	pCounterAvailabilityImage);
FIELD(pm_host, profiler, CUpti_Profiler_Host_Initialize_Params, profilerType);
FIELD(pm_host, chip, CUpti_Profiler_Host_Initialize_Params, pChipName);
FIELD(pm_host, availability, CUpti_Profiler_Host_Initialize_Params, pCounterAvailabilityImage);
FIELD(pm_host, host, CUpti_Profiler_Host_Initialize_Params, pHostObject);
FIELD(pm_host_end, host, CUpti_Profiler_Host_Deinitialize_Params, pHostObject);
FIELD(pm_metrics, host, CUpti_Profiler_Host_ConfigAddMetrics_Params, pHostObject);
FIELD(pm_metrics, names, CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames);
FIELD(pm_metrics, n, CUpti_Profiler_Host_ConfigAddMetrics_Params, numMetrics);
FIELD(pm_config_size, host, CUpti_Profiler_Host_GetConfigImageSize_Params, pHostObject);
FIELD(pm_config_size, image_bytes, CUpti_Profiler_Host_GetConfigImageSize_Params, configImageSize);
FIELD(pm_config, host, CUpti_Profiler_Host_GetConfigImage_Params, pHostObject);
FIELD(pm_config, image_bytes, CUpti_Profiler_Host_GetConfigImage_Params, configImageSize);
FIELD(pm_config, image, CUpti_Profiler_Host_GetConfigImage_Params, pConfigImage);
FIELD(pm_passes, image_bytes, CUpti_Profiler_Host_GetNumOfPasses_Params, configImageSize);
FIELD(pm_passes, image, CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage);
FIELD(pm_passes, n, CUpti_Profiler_Host_GetNumOfPasses_Params, numOfPasses);
FIELD(pm_enable, device, CUpti_PmSampling_Enable_Params, deviceIndex);
FIELD(pm_enable, sampling, CUpti_PmSampling_Enable_Params, pPmSamplingObject);
FIELD(pm_object, sampling, CUpti_PmSampling_Start_Params, pPmSamplingObject);
FIELD(pm_set_config, sampling, CUpti_PmSampling_SetConfig_Params, pPmSamplingObject);
FIELD(pm_set_config, config_bytes, CUpti_PmSampling_SetConfig_Params, configSize);
FIELD(pm_set_config, config, CUpti_PmSampling_SetConfig_Params, pConfig);
FIELD(pm_set_config, buffer_bytes, CUpti_PmSampling_SetConfig_Params, hardwareBufferSize);
FIELD(pm_set_config, interval, CUpti_PmSampling_SetConfig_Params, samplingInterval);
FIELD(pm_set_config, trigger, CUpti_PmSampling_SetConfig_Params, triggerMode);
FIELD(pm_data_size, sampling, CUpti_PmSampling_GetCounterDataSize_Params, pPmSamplingObject);
FIELD(pm_data_size, names, CUpti_PmSampling_GetCounterDataSize_Params, pMetricNames);
FIELD(pm_data_size, n, CUpti_PmSampling_GetCounterDataSize_Params, numMetrics);
FIELD(pm_data_size, max_samples, CUpti_PmSampling_GetCounterDataSize_Params, maxSamples);
FIELD(pm_data_size, data_bytes, CUpti_PmSampling_GetCounterDataSize_Params, counterDataSize);
FIELD(pm_data_init, sampling, CUpti_PmSampling_CounterDataImage_Initialize_Params,
	pPmSamplingObject);
FIELD(pm_data_init, data_bytes, CUpti_PmSampling_CounterDataImage_Initialize_Params,
	counterDataSize);
FIELD(pm_data_init, data, CUpti_PmSampling_CounterDataImage_Initialize_Params, pCounterData);
FIELD(pm_decode, sampling, CUpti_PmSampling_DecodeData_Params, pPmSamplingObject);
FIELD(pm_decode, data, CUpti_PmSampling_DecodeData_Params, pCounterDataImage);
FIELD(pm_decode, data_bytes, CUpti_PmSampling_DecodeData_Params, counterDataImageSize);
FIELD(pm_decode, stop_reason, CUpti_PmSampling_DecodeData_Params, decodeStopReason);
FIELD(pm_decode, has_overflowed, CUpti_PmSampling_DecodeData_Params, overflow);
FIELD(pm_data_info, data, CUpti_PmSampling_GetCounterDataInfo_Params, pCounterDataImage);
FIELD(pm_data_info, data_bytes, CUpti_PmSampling_GetCounterDataInfo_Params, counterDataImageSize);
FIELD(pm_data_info, n_total, CUpti_PmSampling_GetCounterDataInfo_Params, numTotalSamples);
FIELD(pm_data_info, n_populated, CUpti_PmSampling_GetCounterDataInfo_Params, numPopulatedSamples);
FIELD(pm_data_info, n_completed, CUpti_PmSampling_GetCounterDataInfo_Params, numCompletedSamples);
FIELD(pm_sample, sampling, CUpti_PmSampling_CounterData_GetSampleInfo_Params, pPmSamplingObject);
FIELD(pm_sample, data, CUpti_PmSampling_CounterData_GetSampleInfo_Params, pCounterDataImage);
FIELD(pm_sample, data_bytes, CUpti_PmSampling_CounterData_GetSampleInfo_Params,
	counterDataImageSize);
FIELD(pm_sample, index, CUpti_PmSampling_CounterData_GetSampleInfo_Params, sampleIndex);
FIELD(pm_sample, start_ns, CUpti_PmSampling_CounterData_GetSampleInfo_Params, startTimestamp);
FIELD(pm_sample, end_ns, CUpti_PmSampling_CounterData_GetSampleInfo_Params, endTimestamp);
FIELD(pm_evaluate, host, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pHostObject);
FIELD(pm_evaluate, data, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pCounterDataImage);
FIELD(pm_evaluate, data_bytes, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
	counterDataImageSize);
FIELD(pm_evaluate, index, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex);
FIELD(pm_evaluate, names, CUpti_Profiler_Host_EvaluateToGpuValues_Params, ppMetricNames);
FIELD(pm_evaluate, n, CUpti_Profiler_Host_EvaluateToGpuValues_Params, numMetrics);
FIELD(pm_evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pMetricValues);

FUNCTION(pm_cupti, initialize, cuptiProfilerInitialize);
FUNCTION(pm_cupti, get_chip, cuptiDeviceGetChipName);
FUNCTION(pm_cupti, get_support, cuptiProfilerDeviceSupported);
FUNCTION(pm_cupti, get_availability, cuptiPmSamplingGetCounterAvailability);
FUNCTION(pm_cupti, host_open, cuptiProfilerHostInitialize);
FUNCTION(pm_cupti, host_close, cuptiProfilerHostDeinitialize);
FUNCTION(pm_cupti, add_metrics, cuptiProfilerHostConfigAddMetrics);
FUNCTION(pm_cupti, get_config_size, cuptiProfilerHostGetConfigImageSize);
FUNCTION(pm_cupti, get_config, cuptiProfilerHostGetConfigImage);
FUNCTION(pm_cupti, count_passes, cuptiProfilerHostGetNumOfPasses);
FUNCTION(pm_cupti, evaluate, cuptiProfilerHostEvaluateToGpuValues);
FUNCTION(pm_cupti, enable, cuptiPmSamplingEnable);
FUNCTION(pm_cupti, disable, cuptiPmSamplingDisable);
FUNCTION(pm_cupti, set_config, cuptiPmSamplingSetConfig);
FUNCTION(pm_cupti, get_data_size, cuptiPmSamplingGetCounterDataSize);
FUNCTION(pm_cupti, init_data, cuptiPmSamplingCounterDataImageInitialize);
FUNCTION(pm_cupti, start, cuptiPmSamplingStart);
FUNCTION(pm_cupti, stop, cuptiPmSamplingStop);
FUNCTION(pm_cupti, decode, cuptiPmSamplingDecodeData);
FUNCTION(pm_cupti, get_data_info, cuptiPmSamplingGetCounterDataInfo);
FUNCTION(pm_cupti, get_sample, cuptiPmSamplingCounterDataGetSampleInfo);
#endif

NUMBER(DRIVER_OK, CUDA_SUCCESS);
NUMBER(DRIVER_UNKNOWN, CUDA_ERROR_UNKNOWN);
NUMBER(DRIVER_NOT_INITIALIZED, CUDA_ERROR_NOT_INITIALIZED);
NUMBER(DRIVER_DEINITIALIZED, CUDA_ERROR_DEINITIALIZED);
NUMBER(DRIVER_STUB_LIBRARY, CUDA_ERROR_STUB_LIBRARY);
NUMBER(DRIVER_NO_DEVICE, CUDA_ERROR_NO_DEVICE);
NUMBER(DRIVER_SYSTEM_DRIVER_MISMATCH, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
NUMBER(DRIVER_COMPAT_NOT_SUPPORTED, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE);
NUMBER(DRIVER_MAX_THREADS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
NUMBER(DRIVER_SHARED_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
NUMBER(DRIVER_WARP_THREADS, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
NUMBER(DRIVER_REGISTERS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
NUMBER(DRIVER_CLOCK_KHZ, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
NUMBER(DRIVER_CORE_COUNT, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
NUMBER(DRIVER_MEMORY_CLOCK_KHZ, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
NUMBER(DRIVER_MEMORY_BUS_BITS, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
NUMBER(DRIVER_MAX_THREADS_PER_CORE, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
NUMBER(DRIVER_COMPUTE_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
NUMBER(DRIVER_COMPUTE_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
NUMBER(DRIVER_SHARED_PER_CORE, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
NUMBER(DRIVER_REGISTERS_PER_CORE, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
NUMBER(DRIVER_SHARED_PER_BLOCK_OPTIN, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
NUMBER(DRIVER_MAX_BLOCKS_PER_CORE, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
NUMBER(DRIVER_RESERVED_SHARED_PER_BLOCK, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);

FUNCTION(driver, get_version, cuDriverGetVersion);
FUNCTION(driver, get_device_count, cuDeviceGetCount);
FUNCTION(driver, get_device, cuDeviceGet);
FUNCTION(driver, get_name, cuDeviceGetName);
FUNCTION(driver, get_memory_bytes, cuDeviceTotalMem_v2);
FUNCTION(driver, get_attribute, cuDeviceGetAttribute);
FUNCTION(driver, get_uuid, cuDeviceGetUuid_v2);
FUNCTION(driver, get_uuid, cuDeviceGetUuid);
FUNCTION(driver, get_primary_state, cuDevicePrimaryCtxGetState);
FUNCTION(driver, retain_primary, cuDevicePrimaryCtxRetain);
FUNCTION(driver, release_primary, cuDevicePrimaryCtxRelease_v2);
FUNCTION(driver, release_primary, cuDevicePrimaryCtxRelease);
FUNCTION(driver, push_context, cuCtxPushCurrent_v2);
FUNCTION(driver, pop_context, cuCtxPopCurrent_v2);
FUNCTION(driver, synchronize, cuCtxSynchronize);
