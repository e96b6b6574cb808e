/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI's functions; see cupti.h. */
#include "lib/plugins/cuda/cupti.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "lib/plugins/cuda/sentence.h"
#include "lib/plugins/cuda/version.h"

#define NEEDED(member, name)                                          \
	{                                                             \
		offsetof(struct cupti, member), "cupti" name, 0, NULL \
	}
#define OPTIONAL(member, name, without)                                  \
	{                                                                \
		offsetof(struct cupti, member), "cupti" name, 1, without \
	}

static const struct {
	size_t offset;
	const char *name;
	int is_optional;
	const char *without; /* what a capture lacks then; NULL: nothing that is missed */
} functions[] = {
	NEEDED(get_version, "GetVersion"),
	NEEDED(get_result_string, "GetResultString"),
	NEEDED(subscribe, "Subscribe"),
	NEEDED(unsubscribe, "Unsubscribe"),
	NEEDED(enable_callback, "EnableCallback"),
	NEEDED(get_callback_name, "GetCallbackName"),
	NEEDED(enable, "ActivityEnable"),
	NEEDED(disable, "ActivityDisable"),
	NEEDED(register_callbacks, "ActivityRegisterCallbacks"),
	NEEDED(flush, "ActivityFlushAll"),
	NEEDED(next_record, "ActivityGetNextRecord"),
	NEEDED(get_dropped, "ActivityGetNumDroppedRecords"),
	NEEDED(set_attribute, "ActivitySetAttribute"),
	NEEDED(get_attribute, "ActivityGetAttribute"),
	NEEDED(get_timestamp, "GetTimestamp"),
	NEEDED(set_thread_id_type, "SetThreadIdType"),
	NEEDED(get_device_id, "GetDeviceId"),
	NEEDED(finalize, "Finalize"),
	OPTIONAL(subscribe_by_name, "Subscribe_v2", NULL),
	OPTIONAL(enable_and_dump, "ActivityEnableAndDump",
		"streams that there were before the recording have no priorities"),
	OPTIONAL(enable_all_waits, "ActivityEnableAllSyncRecords", NULL),
	OPTIONAL(get_graph_exec_id, "GetGraphExecId", NULL),
	OPTIONAL(get_graph_node_id, "GetGraphNodeId",
		"what graphs execute is not joined with where their nodes were made"),
};

#define N_FUNCTIONS (sizeof functions / sizeof functions[0])

int cupti_bind(struct cupti *out, void *handle, const char *path, char *why)
{
	char text[VERSION_BYTES];
	int result;

	memset(out, 0, sizeof *out);
	for (size_t i = 0; i < N_FUNCTIONS; i++) {
		void *found = dlsym(handle, functions[i].name);

		if (!found && !functions[i].is_optional)
			return say(why, -ENOSYS, "%s has no %s: no CUPTI of CUDA 11.8 or later",
				path, functions[i].name);
		memcpy((char *)out + functions[i].offset, &found, sizeof found);
	}
	result = out->get_version(&out->version);
	if (result)
		return say(why, -EIO,
			"%s does not tell its version (error %d): it does not work with this driver; "
			"install the driver of its CUDA, or an older CUPTI",
			path, result);
	if (version_has(out->version, VERSION_TOO_OLD))
		return say(why, -ENOSYS, "%s is of %s: too old; CUDA 11.8 is the first", path,
			version_format(out->version, text));
	return 0;
}

static int is_missing(const struct cupti *cupti, size_t offset)
{
	void *function;

	memcpy(&function, (const char *)cupti + offset, sizeof function);
	return function == NULL;
}

void cupti_tell_missing(const struct cupti *cupti,
	void (*tell)(void *context, const char *function, const char *without), void *context)
{
	for (size_t i = 0; i < N_FUNCTIONS; i++)
		if (functions[i].without && is_missing(cupti, functions[i].offset))
			tell(context, functions[i].name, functions[i].without);
}
