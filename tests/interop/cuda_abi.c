/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares our declarations of CUPTI and the driver with NVIDIA's headers, at compile time.
 * test_cuda.py defines NEWEST_*, the headers' newest structs of records, and HAS_SAMPLING,
 * HAS_APPEND_MODE and HAS_SUBSCRIPTION if the headers have these parts.
 */
#include <stdbool.h>

#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_result.h>
#include <cupti_version.h>
#ifdef HAS_SAMPLING
#include <cupti_pmsampling.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>
#endif

/* Our declarations have the same names, so NVIDIA's values are kept here first. */
enum theirs {
	THEIR_OUT_OF_MEMORY = CUPTI_ERROR_OUT_OF_MEMORY,
	THEIR_MAX_LIMIT = CUPTI_ERROR_MAX_LIMIT_REACHED,
	THEIR_NOT_COMPATIBLE = CUPTI_ERROR_NOT_COMPATIBLE,
	THEIR_NOT_INITIALIZED = CUPTI_ERROR_NOT_INITIALIZED,
	THEIR_METRIC_NAME = CUPTI_ERROR_INVALID_METRIC_NAME,
	THEIR_INVALID_KIND = CUPTI_ERROR_INVALID_KIND,
	THEIR_HARDWARE_BUSY = CUPTI_ERROR_HARDWARE_BUSY,
	THEIR_NOT_SUPPORTED = CUPTI_ERROR_NOT_SUPPORTED,
	THEIR_PRIVILEGES = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES,
	THEIR_SUBSCRIBERS = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
};

#include "lib/plugins/cuda/cupti.h"
#include "lib/plugins/cuda/driver.h"
#include "lib/plugins/cuda/pm_cupti.h"
#include "lib/plugins/cuda/record_layout.h"

#define SAME(condition) _Static_assert(condition, #condition)
#define NUMBER(ours, theirs) SAME((int)(ours) == (int)(theirs))
#define FIELD(ours, member, theirs, their_member)                              \
	SAME(offsetof(struct ours, member) == offsetof(theirs, their_member)); \
	SAME(sizeof(((struct ours *)0)->member) == sizeof(((theirs *)0)->their_member))

NUMBER(CUPTI_OUT_OF_MEMORY, THEIR_OUT_OF_MEMORY);
NUMBER(CUPTI_MAX_LIMIT_REACHED, THEIR_MAX_LIMIT);
NUMBER(CUPTI_NOT_COMPATIBLE, THEIR_NOT_COMPATIBLE);
NUMBER(CUPTI_NOT_INITIALIZED, THEIR_NOT_INITIALIZED);
NUMBER(CUPTI_INVALID_METRIC_NAME, THEIR_METRIC_NAME);
NUMBER(CUPTI_INVALID_KIND, THEIR_INVALID_KIND);
NUMBER(CUPTI_HARDWARE_BUSY, THEIR_HARDWARE_BUSY);
NUMBER(CUPTI_NOT_SUPPORTED, THEIR_NOT_SUPPORTED);
NUMBER(CUPTI_INSUFFICIENT_PRIVILEGES, THEIR_PRIVILEGES);
NUMBER(CUPTI_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, THEIR_SUBSCRIBERS);

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
NUMBER(RECORD_IS_ASYNC, CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC);
NUMBER(COPY_H2D, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
NUMBER(COPY_D2H, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
NUMBER(COPY_D2D, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD);
NUMBER(COPY_H2H, CUPTI_ACTIVITY_MEMCPY_KIND_HTOH);
NUMBER(COPY_P2P, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
NUMBER(OBJECT_STREAM, CUPTI_ACTIVITY_OBJECT_STREAM);
NUMBER(OBJECT_THREAD, CUPTI_ACTIVITY_OBJECT_THREAD);

SAME(sizeof(struct cupti_call) == sizeof(CUpti_CallbackData));
FIELD(cupti_call, site, CUpti_CallbackData, callbackSite);
FIELD(cupti_call, function, CUpti_CallbackData, functionName);
FIELD(cupti_call, parameters, CUpti_CallbackData, functionParams);
FIELD(cupti_call, context, CUpti_CallbackData, context);
FIELD(cupti_call, context_id, CUpti_CallbackData, contextUid);
FIELD(cupti_call, slot, CUpti_CallbackData, correlationData);
FIELD(cupti_call, correlation, CUpti_CallbackData, correlationId);
FIELD(cupti_resource, descriptor, CUpti_ResourceData, resourceDescriptor);
FIELD(cupti_graph, node, CUpti_GraphData, node);
FIELD(cupti_graph, original_node, CUpti_GraphData, originalNode);
#ifdef HAS_SUBSCRIPTION
NUMBER(CUPTI_STATE, CUPTI_CB_DOMAIN_STATE);
NUMBER(CUPTI_FATAL_ERROR, CUPTI_CBID_STATE_FATAL_ERROR);
FIELD(cupti_notice, result, CUpti_StateData, notification.result);
FIELD(cupti_notice, message, CUpti_StateData, notification.message);
FIELD(cupti_subscription, name, CUpti_SubscriberParams, subscriberName);
FIELD(cupti_subscription, holder, CUpti_SubscriberParams, oldSubscriberName);
FIELD(cupti_subscription, holder_bytes, CUpti_SubscriberParams, oldSubscriberSize);
SAME(CUpti_SubscriberParams_STRUCT_SIZE ==
	(CUPTI_API_VERSION < 130200 ? CUPTI_SUBSCRIPTION_BYTES_OLD : CUPTI_SUBSCRIPTION_BYTES));
#endif

FIELD(kernel_record, registers, NEWEST_KERNEL, registersPerThread);
FIELD(kernel_record, start_ns, NEWEST_KERNEL, start);
FIELD(kernel_record, end_ns, NEWEST_KERNEL, end);
FIELD(kernel_record, device, NEWEST_KERNEL, deviceId);
FIELD(kernel_record, context, NEWEST_KERNEL, contextId);
FIELD(kernel_record, stream, NEWEST_KERNEL, streamId);
FIELD(kernel_record, grid[0], NEWEST_KERNEL, gridX);
FIELD(kernel_record, grid[2], NEWEST_KERNEL, gridZ);
FIELD(kernel_record, block[0], NEWEST_KERNEL, blockX);
FIELD(kernel_record, block[2], NEWEST_KERNEL, blockZ);
FIELD(kernel_record, static_shared, NEWEST_KERNEL, staticSharedMemory);
FIELD(kernel_record, dynamic_shared, NEWEST_KERNEL, dynamicSharedMemory);
FIELD(kernel_record, correlation, NEWEST_KERNEL, correlationId);
FIELD(kernel_record, name, NEWEST_KERNEL, name);
FIELD(kernel_record, graph_node, NEWEST_KERNEL, graphNodeId);
FIELD(kernel_record, graph, NEWEST_KERNEL, graphId);
FIELD(copy_record, direction, NEWEST_MEMCPY, copyKind);
FIELD(copy_record, from, NEWEST_MEMCPY, srcKind);
FIELD(copy_record, to, NEWEST_MEMCPY, dstKind);
FIELD(copy_record, flags, NEWEST_MEMCPY, flags);
FIELD(copy_record, bytes, NEWEST_MEMCPY, bytes);
FIELD(copy_record, start_ns, NEWEST_MEMCPY, start);
FIELD(copy_record, end_ns, NEWEST_MEMCPY, end);
FIELD(copy_record, device, NEWEST_MEMCPY, deviceId);
FIELD(copy_record, context, NEWEST_MEMCPY, contextId);
FIELD(copy_record, stream, NEWEST_MEMCPY, streamId);
FIELD(copy_record, correlation, NEWEST_MEMCPY, correlationId);
FIELD(copy_record, graph_node, NEWEST_MEMCPY, graphNodeId);
FIELD(copy_record, graph, NEWEST_MEMCPY, graphId);
FIELD(peer_copy_record, from_device, NEWEST_PEER, srcDeviceId);
FIELD(peer_copy_record, to_device, NEWEST_PEER, dstDeviceId);
FIELD(peer_copy_record, correlation, NEWEST_PEER, correlationId);
FIELD(peer_copy_record, graph_node, NEWEST_PEER, graphNodeId);
FIELD(peer_copy_record, graph, NEWEST_PEER, graphId);
FIELD(set_record, value, NEWEST_MEMSET, value);
FIELD(set_record, bytes, NEWEST_MEMSET, bytes);
FIELD(set_record, start_ns, NEWEST_MEMSET, start);
FIELD(set_record, correlation, NEWEST_MEMSET, correlationId);
FIELD(set_record, flags, NEWEST_MEMSET, flags);
FIELD(set_record, memory, NEWEST_MEMSET, memoryKind);
FIELD(set_record, graph, NEWEST_MEMSET, graphId);
FIELD(overhead_record, overhead, NEWEST_OVERHEAD, overheadKind);
FIELD(overhead_record, object_kind, NEWEST_OVERHEAD, objectKind);
FIELD(overhead_record, object, NEWEST_OVERHEAD, objectId);
FIELD(overhead_record, start_ns, NEWEST_OVERHEAD, start);
FIELD(overhead_record, end_ns, NEWEST_OVERHEAD, end);
FIELD(wait_record, type, NEWEST_SYNC, type);
FIELD(wait_record, start_ns, NEWEST_SYNC, start);
FIELD(wait_record, correlation, NEWEST_SYNC, correlationId);
FIELD(wait_record, context, NEWEST_SYNC, contextId);
FIELD(wait_record, stream, NEWEST_SYNC, streamId);
FIELD(wait_record, event, NEWEST_SYNC, cudaEventId);
FIELD(memory_record, operation, NEWEST_MEMORY, memoryOperationType);
FIELD(memory_record, memory, NEWEST_MEMORY, memoryKind);
FIELD(memory_record, correlation, NEWEST_MEMORY, correlationId);
FIELD(memory_record, address, NEWEST_MEMORY, address);
FIELD(memory_record, bytes, NEWEST_MEMORY, bytes);
FIELD(memory_record, ns, NEWEST_MEMORY, timestamp);
FIELD(memory_record, device, NEWEST_MEMORY, deviceId);
FIELD(memory_record, stream, NEWEST_MEMORY, streamId);
FIELD(memory_pool_record, operation, NEWEST_POOL, memoryPoolOperationType);
FIELD(memory_pool_record, device, NEWEST_POOL, deviceId);
FIELD(memory_pool_record, kept_bytes, NEWEST_POOL, minBytesToKeep);
FIELD(memory_pool_record, address, NEWEST_POOL, address);
FIELD(memory_pool_record, bytes, NEWEST_POOL, size);
FIELD(memory_pool_record, ns, NEWEST_POOL, timestamp);
FIELD(graph_record, correlation, NEWEST_GRAPH, correlationId);
FIELD(graph_record, start_ns, NEWEST_GRAPH, start);
FIELD(graph_record, device, NEWEST_GRAPH, deviceId);
FIELD(graph_record, graph, NEWEST_GRAPH, graphId);
FIELD(graph_record, stream, NEWEST_GRAPH, streamId);
FIELD(context_record, context, NEWEST_CONTEXT, contextId);
FIELD(context_record, device, NEWEST_CONTEXT, deviceId);
FIELD(stream_record, context, CUpti_ActivityStream, contextId);
FIELD(stream_record, stream, CUpti_ActivityStream, streamId);
FIELD(stream_record, priority, CUpti_ActivityStream, priority);
FIELD(stream_record, flags, CUpti_ActivityStream, flag);

#ifdef HAS_SAMPLING
#define SIZE(ours, last, theirs) SAME(PM_SIZE(ours, last) == theirs##_STRUCT_SIZE)
NUMBER(PM_API, CUPTI_PROFILER_PM_SAMPLING);
NUMBER(PM_SUPPORTED, CUPTI_PROFILER_CONFIGURATION_SUPPORTED);
NUMBER(PM_BY_TIME, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL);
SIZE(pm_initialize, reserved, CUpti_Profiler_Initialize_Params);
SIZE(pm_chip, name, CUpti_Device_GetChipName_Params);
#if CUPTI_API_VERSION < 130100
SIZE(pm_support, api, CUpti_Profiler_DeviceSupported_Params);
#else
SIZE(pm_support, sku, CUpti_Profiler_DeviceSupported_Params);
#endif
SIZE(pm_availability, image, CUpti_PmSampling_GetCounterAvailability_Params);
SIZE(pm_enable, sampling, CUpti_PmSampling_Enable_Params);
SIZE(pm_object, sampling, CUpti_PmSampling_Disable_Params);
SIZE(pm_object, sampling, CUpti_PmSampling_Start_Params);
SIZE(pm_object, sampling, CUpti_PmSampling_Stop_Params);
SIZE(pm_data_size, data_bytes, CUpti_PmSampling_GetCounterDataSize_Params);
SIZE(pm_data_init, data, CUpti_PmSampling_CounterDataImage_Initialize_Params);
SIZE(pm_decode, has_overflowed, CUpti_PmSampling_DecodeData_Params);
SIZE(pm_data_info, n_completed, CUpti_PmSampling_GetCounterDataInfo_Params);
SIZE(pm_sample, end_ns, CUpti_PmSampling_CounterData_GetSampleInfo_Params);
#ifdef HAS_APPEND_MODE
NUMBER(PM_KEEP_LATEST, CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_LATEST);
SIZE(pm_set_config, append_mode, CUpti_PmSampling_SetConfig_Params);
#else
SIZE(pm_set_config, trigger, CUpti_PmSampling_SetConfig_Params);
#endif
FIELD(pm_set_config, buffer_bytes, CUpti_PmSampling_SetConfig_Params, hardwareBufferSize);
FIELD(pm_set_config, interval, CUpti_PmSampling_SetConfig_Params, samplingInterval);
FIELD(pm_support, is_supported, CUpti_Profiler_DeviceSupported_Params, isSupported);
FIELD(pm_support, vgpu, CUpti_Profiler_DeviceSupported_Params, vGpu);
FIELD(pm_support, confidential, CUpti_Profiler_DeviceSupported_Params, confidentialCompute);
FIELD(pm_support, wsl, CUpti_Profiler_DeviceSupported_Params, wsl);
FIELD(pm_decode, data, CUpti_PmSampling_DecodeData_Params, pCounterDataImage);
FIELD(pm_data_info, n_completed, CUpti_PmSampling_GetCounterDataInfo_Params, numCompletedSamples);
FIELD(pm_sample, index, CUpti_PmSampling_CounterData_GetSampleInfo_Params, sampleIndex);
FIELD(pm_sample, start_ns, CUpti_PmSampling_CounterData_GetSampleInfo_Params, startTimestamp);
#endif

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
