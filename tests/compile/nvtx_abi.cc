/* SPDX-License-Identifier: Apache-2.0 */
/* Compares our declarations of NVTX with NVIDIA's headers; see nvidia. */
#include "tests/compile/nvidia.hpp"

/* The headers then have declarations only. */
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#if __has_include(<nvtx3/nvToolsExtPayload.h>)
#include <nvtx3/nvToolsExtPayload.h>
#endif

/* Both define this macro. */
enum {
	THEIR_VERSION = NVTX_VERSION,
};
#undef NVTX_VERSION

namespace ours
{
#include "lib/inject/nvtx/abi.h"
#include "lib/inject/nvtx/payload_abi.h"
} // namespace ours

EQUAL(NVTX_VERSION, THEIR_VERSION);
EQUAL(NVTX_NO_LEVELS, NVTX_NO_PUSH_POP_TRACKING);
NUMBER(NVTX_TABLE_CALLBACKS, NVTX_ETID_CALLBACKS);
NUMBER(NVTX_TABLE_VERSION, NVTX_ETID_VERSIONINFO);
NUMBER(NVTX_MODULE_CORE, NVTX_CB_MODULE_CORE);
NUMBER(NVTX_MODULE_CORE2, NVTX_CB_MODULE_CORE2);

NUMBER(NVTX_CORE_MARK_EX, NVTX_CBID_CORE_MarkEx);
NUMBER(NVTX_CORE_MARK_A, NVTX_CBID_CORE_MarkA);
NUMBER(NVTX_CORE_MARK_W, NVTX_CBID_CORE_MarkW);
NUMBER(NVTX_CORE_RANGE_START_EX, NVTX_CBID_CORE_RangeStartEx);
NUMBER(NVTX_CORE_RANGE_START_A, NVTX_CBID_CORE_RangeStartA);
NUMBER(NVTX_CORE_RANGE_START_W, NVTX_CBID_CORE_RangeStartW);
NUMBER(NVTX_CORE_RANGE_END, NVTX_CBID_CORE_RangeEnd);
NUMBER(NVTX_CORE_RANGE_PUSH_EX, NVTX_CBID_CORE_RangePushEx);
NUMBER(NVTX_CORE_RANGE_PUSH_A, NVTX_CBID_CORE_RangePushA);
NUMBER(NVTX_CORE_RANGE_PUSH_W, NVTX_CBID_CORE_RangePushW);
NUMBER(NVTX_CORE_RANGE_POP, NVTX_CBID_CORE_RangePop);
NUMBER(NVTX_CORE_NAME_CATEGORY_A, NVTX_CBID_CORE_NameCategoryA);
NUMBER(NVTX_CORE_NAME_CATEGORY_W, NVTX_CBID_CORE_NameCategoryW);
NUMBER(NVTX_CORE_NAME_THREAD_A, NVTX_CBID_CORE_NameOsThreadA);
NUMBER(NVTX_CORE_NAME_THREAD_W, NVTX_CBID_CORE_NameOsThreadW);
NUMBER(NVTX_CORE_SLOTS, NVTX_CBID_CORE_SIZE);
NUMBER(NVTX_CORE2_MARK_EX, NVTX_CBID_CORE2_DomainMarkEx);
NUMBER(NVTX_CORE2_RANGE_START_EX, NVTX_CBID_CORE2_DomainRangeStartEx);
NUMBER(NVTX_CORE2_RANGE_END, NVTX_CBID_CORE2_DomainRangeEnd);
NUMBER(NVTX_CORE2_RANGE_PUSH_EX, NVTX_CBID_CORE2_DomainRangePushEx);
NUMBER(NVTX_CORE2_RANGE_POP, NVTX_CBID_CORE2_DomainRangePop);
NUMBER(NVTX_CORE2_RESOURCE_CREATE, NVTX_CBID_CORE2_DomainResourceCreate);
NUMBER(NVTX_CORE2_RESOURCE_DESTROY, NVTX_CBID_CORE2_DomainResourceDestroy);
NUMBER(NVTX_CORE2_NAME_CATEGORY_A, NVTX_CBID_CORE2_DomainNameCategoryA);
NUMBER(NVTX_CORE2_NAME_CATEGORY_W, NVTX_CBID_CORE2_DomainNameCategoryW);
NUMBER(NVTX_CORE2_REGISTER_STRING_A, NVTX_CBID_CORE2_DomainRegisterStringA);
NUMBER(NVTX_CORE2_REGISTER_STRING_W, NVTX_CBID_CORE2_DomainRegisterStringW);
NUMBER(NVTX_CORE2_DOMAIN_CREATE_A, NVTX_CBID_CORE2_DomainCreateA);
NUMBER(NVTX_CORE2_DOMAIN_CREATE_W, NVTX_CBID_CORE2_DomainCreateW);
NUMBER(NVTX_CORE2_DOMAIN_DESTROY, NVTX_CBID_CORE2_DomainDestroy);
NUMBER(NVTX_CORE2_INITIALIZE, NVTX_CBID_CORE2_Initialize);
NUMBER(NVTX_CORE2_SLOTS, NVTX_CBID_CORE2_SIZE);
NUMBER(NVTX_COLOR_NONE, NVTX_COLOR_UNKNOWN);
NUMBER(NVTX_COLOR_ARGB, NVTX_COLOR_ARGB);
NUMBER(NVTX_PAYLOAD_NONE, NVTX_PAYLOAD_UNKNOWN);
NUMBER(NVTX_PAYLOAD_U64, NVTX_PAYLOAD_TYPE_UNSIGNED_INT64);
NUMBER(NVTX_PAYLOAD_I64, NVTX_PAYLOAD_TYPE_INT64);
NUMBER(NVTX_PAYLOAD_F64, NVTX_PAYLOAD_TYPE_DOUBLE);
NUMBER(NVTX_PAYLOAD_U32, NVTX_PAYLOAD_TYPE_UNSIGNED_INT32);
NUMBER(NVTX_PAYLOAD_I32, NVTX_PAYLOAD_TYPE_INT32);
NUMBER(NVTX_PAYLOAD_F32, NVTX_PAYLOAD_TYPE_FLOAT);
NUMBER(NVTX_MESSAGE_NONE, NVTX_MESSAGE_UNKNOWN);
NUMBER(NVTX_MESSAGE_CHARS, NVTX_MESSAGE_TYPE_ASCII);
NUMBER(NVTX_MESSAGE_WIDE, NVTX_MESSAGE_TYPE_UNICODE);
NUMBER(NVTX_MESSAGE_REGISTERED, NVTX_MESSAGE_TYPE_REGISTERED);

SIZE(nvtx_callbacks, NvtxExportTableCallbacks);
FIELD(nvtx_callbacks, size, NvtxExportTableCallbacks, struct_size);
FIELD(nvtx_callbacks, get_module, NvtxExportTableCallbacks, GetModuleFunctionTable);
SIZE(nvtx_version, NvtxExportTableVersionInfo);
FIELD(nvtx_version, size, NvtxExportTableVersionInfo, struct_size);
FIELD(nvtx_version, version, NvtxExportTableVersionInfo, version);
FIELD(nvtx_version, set_tool_version, NvtxExportTableVersionInfo, SetInjectionNvtxVersion);
EQUAL((is_called_alike<ours::nvtx_get_table *, NvtxGetExportTableFunc_t>::value), true);
EQUAL((is_called_alike<decltype(ours::nvtx_callbacks::get_module),
	      decltype(NvtxExportTableCallbacks::GetModuleFunctionTable)>::value),
	true);
EQUAL((is_called_alike<decltype(ours::nvtx_version::set_tool_version),
	      decltype(NvtxExportTableVersionInfo::SetInjectionNvtxVersion)>::value),
	true);

SIZE(nvtx_attributes, nvtxEventAttributes_t);
FIELD(nvtx_attributes, version, nvtxEventAttributes_t, version);
FIELD(nvtx_attributes, size, nvtxEventAttributes_t, size);
FIELD(nvtx_attributes, category, nvtxEventAttributes_t, category);
FIELD(nvtx_attributes, color_type, nvtxEventAttributes_t, colorType);
FIELD(nvtx_attributes, color, nvtxEventAttributes_t, color);
FIELD(nvtx_attributes, payload_type, nvtxEventAttributes_t, payloadType);
FIELD(nvtx_attributes, n_payloads, nvtxEventAttributes_t, reserved0);
FIELD(nvtx_attributes, payload, nvtxEventAttributes_t, payload);
FIELD(nvtx_attributes, payload.u64, nvtxEventAttributes_t, payload.ullValue);
FIELD(nvtx_attributes, payload.i64, nvtxEventAttributes_t, payload.llValue);
FIELD(nvtx_attributes, payload.f64, nvtxEventAttributes_t, payload.dValue);
FIELD(nvtx_attributes, payload.u32, nvtxEventAttributes_t, payload.uiValue);
FIELD(nvtx_attributes, payload.i32, nvtxEventAttributes_t, payload.iValue);
FIELD(nvtx_attributes, payload.f32, nvtxEventAttributes_t, payload.fValue);
FIELD(nvtx_attributes, message_type, nvtxEventAttributes_t, messageType);
FIELD(nvtx_attributes, message, nvtxEventAttributes_t, message);
FIELD(nvtx_attributes, message.chars, nvtxEventAttributes_t, message.ascii);
FIELD(nvtx_attributes, message.wide, nvtxEventAttributes_t, message.unicode);
FIELD(nvtx_attributes, message.registered, nvtxEventAttributes_t, message.registered);

#ifdef NVTX_EXT_PAYLOAD_MODULEID
EQUAL(NVTX_EXTENSION_PAYLOAD, NVTX_EXT_PAYLOAD_MODULEID);
EQUAL(NVTX_PAYLOAD_COMPATIBILITY <= NVTX_EXT_PAYLOAD_COMPATID, true);
EQUAL(NVTX_PAYLOAD_EXTENDED, NVTX_PAYLOAD_TYPE_EXT);
NUMBER(NVTX_PAYLOAD_SCHEMA_REGISTER, NVTX3EXT_CBID_nvtxPayloadSchemaRegister);
NUMBER(NVTX_PAYLOAD_ENUM_REGISTER, NVTX3EXT_CBID_nvtxPayloadEnumRegister);
NUMBER(NVTX_PAYLOAD_MARK, NVTX3EXT_CBID_nvtxMarkPayload);
NUMBER(NVTX_PAYLOAD_RANGE_PUSH, NVTX3EXT_CBID_nvtxRangePushPayload);
NUMBER(NVTX_PAYLOAD_RANGE_POP, NVTX3EXT_CBID_nvtxRangePopPayload);
NUMBER(NVTX_PAYLOAD_RANGE_START, NVTX3EXT_CBID_nvtxRangeStartPayload);
NUMBER(NVTX_PAYLOAD_RANGE_END, NVTX3EXT_CBID_nvtxRangeEndPayload);
NUMBER(NVTX_PAYLOAD_DOMAIN_IS_ENABLED, NVTX3EXT_CBID_nvtxDomainIsEnabled);
EQUAL(NVTX_SCHEMA_REFERENCED, NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED);
EQUAL(NVTX_SCHEMA_FIRST, NVTX_PAYLOAD_SCHEMA_ID_STATIC_START);
EQUAL(NVTX_SCHEMA_FIRST_GIVEN, NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);
NUMBER(NVTX_TYPE_CHAR, NVTX_PAYLOAD_ENTRY_TYPE_CHAR);
NUMBER(NVTX_TYPE_UCHAR, NVTX_PAYLOAD_ENTRY_TYPE_UCHAR);
NUMBER(NVTX_TYPE_SHORT, NVTX_PAYLOAD_ENTRY_TYPE_SHORT);
NUMBER(NVTX_TYPE_USHORT, NVTX_PAYLOAD_ENTRY_TYPE_USHORT);
NUMBER(NVTX_TYPE_INT, NVTX_PAYLOAD_ENTRY_TYPE_INT);
NUMBER(NVTX_TYPE_UINT, NVTX_PAYLOAD_ENTRY_TYPE_UINT);
NUMBER(NVTX_TYPE_LONG, NVTX_PAYLOAD_ENTRY_TYPE_LONG);
NUMBER(NVTX_TYPE_ULONG, NVTX_PAYLOAD_ENTRY_TYPE_ULONG);
NUMBER(NVTX_TYPE_LONGLONG, NVTX_PAYLOAD_ENTRY_TYPE_LONGLONG);
NUMBER(NVTX_TYPE_ULONGLONG, NVTX_PAYLOAD_ENTRY_TYPE_ULONGLONG);
NUMBER(NVTX_TYPE_INT8, NVTX_PAYLOAD_ENTRY_TYPE_INT8);
NUMBER(NVTX_TYPE_UINT8, NVTX_PAYLOAD_ENTRY_TYPE_UINT8);
NUMBER(NVTX_TYPE_INT16, NVTX_PAYLOAD_ENTRY_TYPE_INT16);
NUMBER(NVTX_TYPE_UINT16, NVTX_PAYLOAD_ENTRY_TYPE_UINT16);
NUMBER(NVTX_TYPE_INT32, NVTX_PAYLOAD_ENTRY_TYPE_INT32);
NUMBER(NVTX_TYPE_UINT32, NVTX_PAYLOAD_ENTRY_TYPE_UINT32);
NUMBER(NVTX_TYPE_INT64, NVTX_PAYLOAD_ENTRY_TYPE_INT64);
NUMBER(NVTX_TYPE_UINT64, NVTX_PAYLOAD_ENTRY_TYPE_UINT64);
NUMBER(NVTX_TYPE_FLOAT, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT);
NUMBER(NVTX_TYPE_DOUBLE, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE);
NUMBER(NVTX_TYPE_LONGDOUBLE, NVTX_PAYLOAD_ENTRY_TYPE_LONGDOUBLE);
NUMBER(NVTX_TYPE_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_SIZE);
NUMBER(NVTX_TYPE_ADDRESS, NVTX_PAYLOAD_ENTRY_TYPE_ADDRESS);
NUMBER(NVTX_TYPE_WCHAR, NVTX_PAYLOAD_ENTRY_TYPE_WCHAR);
NUMBER(NVTX_TYPE_CHAR8, NVTX_PAYLOAD_ENTRY_TYPE_CHAR8);
NUMBER(NVTX_TYPE_CHAR16, NVTX_PAYLOAD_ENTRY_TYPE_CHAR16);
NUMBER(NVTX_TYPE_CHAR32, NVTX_PAYLOAD_ENTRY_TYPE_CHAR32);
NUMBER(NVTX_TYPE_BYTE, NVTX_PAYLOAD_ENTRY_TYPE_BYTE);
NUMBER(NVTX_TYPE_INT128, NVTX_PAYLOAD_ENTRY_TYPE_INT128);
NUMBER(NVTX_TYPE_UINT128, NVTX_PAYLOAD_ENTRY_TYPE_UINT128);
NUMBER(NVTX_TYPE_FLOAT16, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT16);
NUMBER(NVTX_TYPE_FLOAT32, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32);
NUMBER(NVTX_TYPE_FLOAT64, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64);
NUMBER(NVTX_TYPE_FLOAT128, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT128);
NUMBER(NVTX_TYPE_BF16, NVTX_PAYLOAD_ENTRY_TYPE_BF16);
NUMBER(NVTX_TYPE_TF32, NVTX_PAYLOAD_ENTRY_TYPE_TF32);
NUMBER(NVTX_TYPE_RANGE_ID, NVTX_PAYLOAD_ENTRY_TYPE_RANGE_ID);
NUMBER(NVTX_TYPE_CATEGORY, NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY);
NUMBER(NVTX_TYPE_COLOR, NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB);
NUMBER(NVTX_TYPE_SCOPE_ID, NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID);
NUMBER(NVTX_TYPE_PID_32, NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT32);
NUMBER(NVTX_TYPE_PID_64, NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT64);
NUMBER(NVTX_TYPE_TID_32, NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT32);
NUMBER(NVTX_TYPE_TID_64, NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT64);
NUMBER(NVTX_TYPE_CSTRING, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING);
NUMBER(NVTX_TYPE_CSTRING_UTF8, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8);
NUMBER(NVTX_TYPE_CSTRING_UTF16, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16);
NUMBER(NVTX_TYPE_CSTRING_UTF32, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32);
NUMBER(NVTX_TYPE_REGISTERED_STRING, NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE);
NUMBER(NVTX_ENTRY_POINTER, NVTX_PAYLOAD_ENTRY_FLAG_POINTER);
NUMBER(NVTX_ENTRY_ARRAY_FIXED, NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE);
NUMBER(NVTX_ENTRY_ARRAY_TO_ZERO, NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED);
NUMBER(NVTX_ENTRY_ARRAY_COUNTED, NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX);
NUMBER(NVTX_ENTRY_HIDDEN, NVTX_PAYLOAD_ENTRY_FLAG_HIDE);
NUMBER(NVTX_ENTRY_MESSAGE, NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE);
NUMBER(NVTX_ENTRY_ARRAY, NVTX_PAYLOAD_ENTRY_FLAG_IS_ARRAY);
NUMBER(NVTX_ENTRY_ROLE, NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE | NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP);
NUMBER(NVTX_ENTRY_OFFSET,
	NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE | NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE);
NUMBER(NVTX_SCHEMA_STATIC, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC);
NUMBER(NVTX_SCHEMA_DYNAMIC, NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC);
NUMBER(NVTX_SCHEMA_HAS_TYPE, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE);
NUMBER(NVTX_SCHEMA_HAS_ENTRIES, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES);
NUMBER(NVTX_SCHEMA_HAS_N_ENTRIES, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES);
NUMBER(NVTX_SCHEMA_HAS_SIZE, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE);
NUMBER(NVTX_SCHEMA_HAS_ALIGNMENT, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT);
NUMBER(NVTX_SCHEMA_HAS_ID, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID);
NUMBER(NVTX_ENUM_HAS_ENTRIES, NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES);
NUMBER(NVTX_ENUM_HAS_N_ENTRIES, NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES);
NUMBER(NVTX_ENUM_HAS_SIZE, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE);
NUMBER(NVTX_ENUM_HAS_ID, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID);

SIZE(nvtx_segment, nvtxExtModuleSegment_t);
FIELD(nvtx_segment, id, nvtxExtModuleSegment_t, segmentId);
FIELD(nvtx_segment, n_slots, nvtxExtModuleSegment_t, slotCount);
FIELD(nvtx_segment, slots, nvtxExtModuleSegment_t, functionSlots);
SIZE(nvtx_extension, nvtxExtModuleInfo_t);
FIELD(nvtx_extension, nvtx_version, nvtxExtModuleInfo_t, nvtxVer);
FIELD(nvtx_extension, size, nvtxExtModuleInfo_t, structSize);
FIELD(nvtx_extension, module, nvtxExtModuleInfo_t, moduleId);
FIELD(nvtx_extension, compatibility, nvtxExtModuleInfo_t, compatId);
FIELD(nvtx_extension, n_segments, nvtxExtModuleInfo_t, segmentsCount);
FIELD(nvtx_extension, segments, nvtxExtModuleInfo_t, segments);
FIELD(nvtx_extension, get_function, nvtxExtModuleInfo_t, getExportFunction);
FIELD(nvtx_extension, info, nvtxExtModuleInfo_t, extInfo);
SIZE(nvtx_payload, nvtxPayloadData_t);
FIELD(nvtx_payload, schema, nvtxPayloadData_t, schemaId);
FIELD(nvtx_payload, size, nvtxPayloadData_t, size);
FIELD(nvtx_payload, bytes, nvtxPayloadData_t, payload);
SIZE(nvtx_entry, nvtxPayloadSchemaEntry_t);
FIELD(nvtx_entry, flags, nvtxPayloadSchemaEntry_t, flags);
FIELD(nvtx_entry, type, nvtxPayloadSchemaEntry_t, type);
FIELD(nvtx_entry, name, nvtxPayloadSchemaEntry_t, name);
FIELD(nvtx_entry, description, nvtxPayloadSchemaEntry_t, description);
FIELD(nvtx_entry, detail, nvtxPayloadSchemaEntry_t, arrayOrUnionDetail);
FIELD(nvtx_entry, offset, nvtxPayloadSchemaEntry_t, offset);
FIELD(nvtx_entry, semantics, nvtxPayloadSchemaEntry_t, semantics);
SIZE(nvtx_schema_attributes, nvtxPayloadSchemaAttr_t);
FIELD(nvtx_schema_attributes, has, nvtxPayloadSchemaAttr_t, fieldMask);
FIELD(nvtx_schema_attributes, name, nvtxPayloadSchemaAttr_t, name);
FIELD(nvtx_schema_attributes, type, nvtxPayloadSchemaAttr_t, type);
FIELD(nvtx_schema_attributes, flags, nvtxPayloadSchemaAttr_t, flags);
FIELD(nvtx_schema_attributes, entries, nvtxPayloadSchemaAttr_t, entries);
FIELD(nvtx_schema_attributes, n_entries, nvtxPayloadSchemaAttr_t, numEntries);
FIELD(nvtx_schema_attributes, size, nvtxPayloadSchemaAttr_t, payloadStaticSize);
FIELD(nvtx_schema_attributes, alignment, nvtxPayloadSchemaAttr_t, packAlign);
FIELD(nvtx_schema_attributes, id, nvtxPayloadSchemaAttr_t, schemaId);
FIELD(nvtx_schema_attributes, extension, nvtxPayloadSchemaAttr_t, extension);
SIZE(nvtx_enum_value, nvtxPayloadEnum_t);
FIELD(nvtx_enum_value, name, nvtxPayloadEnum_t, name);
FIELD(nvtx_enum_value, value, nvtxPayloadEnum_t, value);
FIELD(nvtx_enum_value, is_flag, nvtxPayloadEnum_t, isFlag);
SIZE(nvtx_enum_attributes, nvtxPayloadEnumAttr_t);
FIELD(nvtx_enum_attributes, has, nvtxPayloadEnumAttr_t, fieldMask);
FIELD(nvtx_enum_attributes, name, nvtxPayloadEnumAttr_t, name);
FIELD(nvtx_enum_attributes, values, nvtxPayloadEnumAttr_t, entries);
FIELD(nvtx_enum_attributes, n_values, nvtxPayloadEnumAttr_t, numEntries);
FIELD(nvtx_enum_attributes, size, nvtxPayloadEnumAttr_t, sizeOfEnum);
FIELD(nvtx_enum_attributes, id, nvtxPayloadEnumAttr_t, schemaId);
FIELD(nvtx_enum_attributes, extension, nvtxPayloadEnumAttr_t, extension);
#endif
