/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI: finding the library, and binding its functions; see cupti.h. */
#include "lib/plugins/cuda/cupti.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/plugins/cuda/sentence.h"
#include "lib/plugins/cuda/version.h"

/* --- functions ----------------------------------------------------------------------------- */

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
	bool is_optional;
	const char *without; /* what a capture lacks without it; NULL: nothing */
} cupti_functions[] = {
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
		"streams from before the recording have no priorities"),
	OPTIONAL(enable_all_waits, "ActivityEnableAllSyncRecords", NULL),
	OPTIONAL(get_graph_exec_id, "GetGraphExecId", NULL),
	OPTIONAL(get_graph_node_id, "GetGraphNodeId",
		"work of graphs is not joined with the spans that made their nodes"),
};

#define N_FUNCTIONS (sizeof cupti_functions / sizeof cupti_functions[0])

/*
 * Fills |out| from an open library. 0, or a negative errno with |why|: the library lacks a
 * function, is older than the oldest supported version, or reports no version.
 */
static int bind_cupti(struct cupti *out, void *handle, const char *path, char *why)
{
	char text[VERSION_BYTES];
	int result;

	memset(out, 0, sizeof *out);
	for (size_t i = 0; i < N_FUNCTIONS; i++) {
		void *found = dlsym(handle, cupti_functions[i].name);

		if (!found && !cupti_functions[i].is_optional)
			return sentence_write(why, -ENOSYS,
				"%s has no %s: it is not the CUPTI of CUDA 11.8 or later", path,
				cupti_functions[i].name);
		memcpy((char *)out + cupti_functions[i].offset, &found, sizeof found);
	}
	result = out->get_version(&out->version);
	if (result)
		return sentence_write(why, -EIO,
			"%s does not tell its version (error %d): it does not work with this driver; "
			"install the driver of its CUDA, or an older CUPTI",
			path, result);
	if (version_has(out->version, VERSION_TOO_OLD))
		return sentence_write(why, -ENOSYS, "%s is of %s: too old; CUDA 11.8 is the first",
			path, version_format(out->version, text));
	return 0;
}

static bool is_function_missing(const struct cupti *cupti, size_t offset)
{
	void *function;

	memcpy(&function, (const char *)cupti + offset, sizeof function);
	return function == NULL;
}

void cupti_tell_missing(const struct cupti *cupti,
	void (*tell)(void *context, const char *function, const char *without), void *context)
{
	for (size_t i = 0; i < N_FUNCTIONS; i++)
		if (cupti_functions[i].without &&
			is_function_missing(cupti, cupti_functions[i].offset))
			tell(context, cupti_functions[i].name, cupti_functions[i].without);
}

/* --- finding the library ------------------------------------------------------------------- */

#define CUPTI_NAME "libcupti.so"

/*
 * By CUDA's major version, the newest first: the ending of the library's name, and the Python
 * package that has the library.
 */
static const struct {
	int major;
	const char *ending;
	const char *package;
} endings[] = {
	{13, ".13", "nvidia-cuda-cupti"},
	{12, ".12", "nvidia-cuda-cupti-cu12"},
	{11, ".11.8", "nvidia-cuda-cupti-cu11"},
};

/* Folders relative to a CUDA library's folder, in a wheel or a toolkit. */
static const char *const beside[] = {
	"", /* nvidia/cu13/lib */
	"/../../cuda_cupti/lib", /* nvidia/cuda_runtime/lib, and similar: CUDA 11 and 12 */
	"/../extras/CUPTI/lib64", /* in a toolkit */
};

static const char *const toolkits[] = {
	"/usr/local/cuda/lib64",
	"/usr/local/cuda/extras/CUPTI/lib64",
	"/opt/cuda/extras/CUPTI/lib64",
};

#define N_ENDINGS (sizeof endings / sizeof endings[0])
#define N_BESIDE (sizeof beside / sizeof beside[0])
#define N_TOOLKITS (sizeof toolkits / sizeof toolkits[0])

/* Mapped libraries whose paths show where CUPTI is. */
struct mapped_libraries {
	char cupti[LIBRARY_PATH_BYTES];
	/* libcudart, or another CUDA library if the program has none */
	char runtime[LIBRARY_PATH_BYTES];
	int major; /* of libcudart; 0: unknown */
};

static const char *get_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool begins_with(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static int note_mapped_library(struct dl_phdr_info *info, size_t size, void *context)
{
	static const char *const of_cuda[] = {"libcublas", "libcudnn", "libnccl", "libcufft"};
	struct mapped_libraries *m = context;
	const char *name = get_base_name(info->dlpi_name);

	(void)size;
	if (begins_with(name, CUPTI_NAME))
		snprintf(m->cupti, sizeof m->cupti, "%s", info->dlpi_name);
	if (begins_with(name, "libcudart.so.")) {
		snprintf(m->runtime, sizeof m->runtime, "%s", info->dlpi_name);
		m->major = atoi(name + strlen("libcudart.so."));
	}
	for (size_t i = 0; i < sizeof of_cuda / sizeof of_cuda[0] && !m->runtime[0]; i++)
		if (begins_with(name, of_cuda[i]))
			snprintf(m->runtime, sizeof m->runtime, "%s", info->dlpi_name);
	return 0;
}

/* Opens a library. Keeps the reason of the first failure in |l|, if the file |path| exists. */
static void *open_library_path(struct library *l, const char *path, int flags)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
	const char *reason;

	if (handle) {
		snprintf(l->path, sizeof l->path, "%s", path);
		return handle;
	}
	reason = dlerror();
	if (strchr(path, '/') && access(path, F_OK) == 0 && !l->refused[0])
		snprintf(l->refused, sizeof l->refused, "%s", reason ? reason : path);
	return NULL;
}

/*
 * Opens libcupti in |folder| (NULL: the linker's folders): the version of |major| first, then any
 * other.
 */
static void *open_in_folder(struct library *l, const char *folder, int major)
{
	char path[LIBRARY_PATH_BYTES + 64];
	void *handle = NULL;

	sentence_append(l->searched, sizeof l->searched, "%s%s", l->searched[0] ? ", " : "",
		folder ? folder : "the linker's folders");
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < N_ENDINGS && !handle; i++) {
			if ((endings[i].major == major) != (pass == 0))
				continue;
			snprintf(path, sizeof path, "%s%s" CUPTI_NAME "%s", folder ? folder : "",
				folder ? "/" : "", endings[i].ending);
			handle = open_library_path(l, path, 0);
		}
	return handle;
}

static void *open_beside_runtime(struct library *l, const struct mapped_libraries *m, int major)
{
	char folder[LIBRARY_PATH_BYTES + 64];
	int n = (int)(get_base_name(m->runtime) - m->runtime) - 1;
	void *handle = NULL;

	for (size_t i = 0; i < N_BESIDE && n > 0 && !handle; i++) {
		snprintf(folder, sizeof folder, "%.*s%s", n, m->runtime, beside[i]);
		handle = open_in_folder(l, folder, major);
	}
	return handle;
}

static void *open_anywhere(struct library *l, const struct mapped_libraries *m, int major)
{
	void *handle;

	if (m->cupti[0]) {
		sentence_append(l->searched, sizeof l->searched, "%s, which the program has loaded",
			m->cupti);
		return open_library_path(l, m->cupti, RTLD_NOLOAD);
	}
	handle = open_beside_runtime(l, m, major);
	if (!handle)
		handle = open_in_folder(l, NULL, major);
	for (size_t i = 0; i < N_TOOLKITS && !handle; i++)
		handle = open_in_folder(l, toolkits[i], major);
	return handle;
}

/*
 * Returns true if the program's CUDA libraries come from Python's wheels. Only then does the error
 * message suggest just a wheel of CUPTI, because CUPTI in a wheel is found only beside these
 * libraries.
 */
static bool uses_wheels(const struct mapped_libraries *m)
{
	return strstr(m->runtime, "/nvidia/") != NULL;
}

static int say_not_found(
	const struct library *l, const struct mapped_libraries *m, int major, char *why)
{
	const char *package = endings[0].package;

	if (l->refused[0])
		return sentence_write(
			why, -ENOENT, "libcupti.so could not be opened: %s", l->refused);
	for (size_t i = 0; i < N_ENDINGS; i++)
		if (endings[i].major == major)
			package = endings[i].package;
	if (uses_wheels(m))
		return sentence_write(why, -ENOENT,
			"libcupti.so was not found (looked in %s); pip install %s", l->searched,
			package);
	return sentence_write(why, -ENOENT,
		"libcupti.so was not found (looked in %s); install cuda-cupti of the CUDA %d toolkit, or pip "
		"install %s and start the program with " LIBRARY_VARIABLE "=/path/to/libcupti.so",
		l->searched, major, package);
}

static int find_anywhere(struct library *l, int driver, char *why)
{
	struct mapped_libraries m = {.major = 0};
	int major;

	dl_iterate_phdr(note_mapped_library, &m);
	major = m.major ? m.major : driver / 1000;
	l->handle = open_anywhere(l, &m, major);
	return l->handle ? 0 : say_not_found(l, &m, major, why);
}

static int open_given_path(struct library *l, const char *asked, char *why)
{
	l->handle = open_library_path(l, asked, 0);
	if (l->handle)
		return 0;
	if (l->refused[0])
		return sentence_write(why, -ENOENT, LIBRARY_VARIABLE "=%s cannot be opened: %s",
			asked, l->refused);
	return sentence_write(why, -ENOENT,
		LIBRARY_VARIABLE "=%s: %s; start the program without it, and CUPTI is looked for",
		asked,
		strchr(asked, '/') ? "there is no such file" : "the linker knows no such library");
}

int library_open(struct library *l, int driver, struct cupti *out, char *why)
{
	const char *asked = secure_getenv(LIBRARY_VARIABLE);
	int r;

	memset(l, 0, sizeof *l);
	r = asked && asked[0] ? open_given_path(l, asked, why) : find_anywhere(l, driver, why);
	return r ? r : bind_cupti(out, l->handle, l->path, why);
}
