/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entry of NVTX: the functions that a program's NVTX looks up in the library that
 * NVTX_INJECTION64_PATH names, once in each module with annotations; see docs/internals/nvtx.md.
 * They return 1; or 0, after which NVTX works as without a tool. They only fill the module's
 * tables: NVTX is in the middle of its initialisation, and other threads wait for it. Below them
 * are the functions that a program calls through these tables; each first checks whether anything
 * is recorded.
 */
#define PTAP_IMPL_BUILDING
#include <proftap/proftap.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/env.h"
#include "lib/inject/nvtx/abi.h"
#include "lib/inject/nvtx/event.h"
#include "lib/inject/nvtx/payload_abi.h"
#include "lib/inject/nvtx/schema.h"
#include "lib/inject/nvtx/vocabulary.h"
#include "lib/inject/nvtx/wide.h"
#include "lib/record/thread.h"

PTAP_API int InitializeInjectionNvtx2(nvtx_get_table *get_table);
/* The same function by another name, which libnvToolsExt.so looks up if the first is missing. */
PTAP_API int InitializeInjectionNvtx(nvtx_get_table *get_table);
/* The entry of an extension; see payload_abi.h. */
PTAP_API int InitializeInjectionNvtxExtension(struct nvtx_extension *extension);

/*
 * The use of a program's NVTX annotations, from PROFTAP_NVTX. It is read once in a process:
 * programs, too, load this library and create a domain only once, and keep the result.
 */
enum nvtx_mode {
	NVTX_MODE_OFF = 1, /* "off", or PROFTAP_DISABLE: NVTX works as without a tool */
	NVTX_MODE_ON, /* the default: annotations are recorded, except XLA's */
	NVTX_MODE_XLA, /* "xla": XLA's, too; other profilers then miss them */
};

/* --- the mode ------------------------------------------------------------------------------ */

static enum nvtx_mode read_mode(void)
{
	const char *asked = env_get(ENV_PROFTAP_NVTX);

	if (env_is_on(ENV_PROFTAP_DISABLE) || (asked && strcmp(asked, "off") == 0))
		return NVTX_MODE_OFF;
	return asked && strcmp(asked, "xla") == 0 ? NVTX_MODE_XLA : NVTX_MODE_ON;
}

/* Any thread may call this. */
static enum nvtx_mode nvtx_mode_get(void)
{
	static _Atomic int kept;
	int mode = atomic_load_explicit(&kept, memory_order_relaxed);

	if (!mode) {
		mode = (int)read_mode();
		atomic_store_explicit(&kept, mode, memory_order_relaxed);
	}
	return (enum nvtx_mode)mode;
}

#define unlikely(x) __builtin_expect(!!(x), 0)

/* A registered name, converted to UTF-8. */
struct narrow_text {
	char text[VOCABULARY_MAX_BYTES + 1];
};

static const char *to_utf8(struct narrow_text *to, const wchar_t *text)
{
	wide_to_utf8(to->text, sizeof to->text, text ? text : L"", sizeof *text, SIZE_MAX);
	return to->text;
}

/* --- marks --------------------------------------------------------------------------------- */

static void domain_mark_ex(void *domain, const struct nvtx_attributes *attributes)
{
	uint32_t word = nvtx_get_word();
	struct nvtx_event e;

	if (unlikely(word)) {
		nvtx_event_from_attributes(&e, nvtx_domain_of(domain), attributes);
		nvtx_mark(&e, word);
	}
}

static void mark_ex(const struct nvtx_attributes *attributes)
{
	domain_mark_ex(NULL, attributes);
}

static void mark_a(const char *text)
{
	uint32_t word = nvtx_get_word();
	struct nvtx_event e;

	if (unlikely(word)) {
		nvtx_event_from_text(&e, nvtx_domain_of(NULL), text);
		nvtx_mark(&e, word);
	}
}

static void mark_w(const wchar_t *text)
{
	uint32_t word = nvtx_get_word();
	struct nvtx_event e;

	if (unlikely(word)) {
		nvtx_event_from_wide(&e, nvtx_domain_of(NULL), text);
		nvtx_mark(&e, word);
	}
}

/* --- ranges of a thread -------------------------------------------------------------------- */

static int domain_push_ex(void *domain, const struct nvtx_attributes *attributes)
{
	uint32_t word = nvtx_get_word();
	struct nvtx_event e;

	if (unlikely(word)) {
		nvtx_event_from_attributes(&e, nvtx_domain_of(domain), attributes);
		nvtx_push(&e, word);
	}
	return NVTX_NO_LEVELS;
}

static int push_ex(const struct nvtx_attributes *attributes)
{
	return domain_push_ex(NULL, attributes);
}

static int push_a(const char *text)
{
	uint32_t word = nvtx_get_word();
	struct nvtx_event e;

	if (unlikely(word)) {
		nvtx_event_from_text(&e, nvtx_domain_of(NULL), text);
		nvtx_push(&e, word);
	}
	return NVTX_NO_LEVELS;
}

static int push_w(const wchar_t *text)
{
	uint32_t word = nvtx_get_word();
	struct nvtx_event e;

	if (unlikely(word)) {
		nvtx_event_from_wide(&e, nvtx_domain_of(NULL), text);
		nvtx_push(&e, word);
	}
	return NVTX_NO_LEVELS;
}

static int domain_pop(void *domain)
{
	uint32_t word = nvtx_get_word();

	if (unlikely(word))
		nvtx_pop(nvtx_domain_of(domain), word);
	return NVTX_NO_LEVELS;
}

static int pop_range(void)
{
	return domain_pop(NULL);
}

/* --- ranges that any thread ends ----------------------------------------------------------- */

static uint64_t domain_start_ex(void *domain, const struct nvtx_attributes *attributes)
{
	struct nvtx_event e;

	nvtx_event_from_attributes(&e, nvtx_domain_of(domain), attributes);
	return nvtx_start(&e);
}

static uint64_t start_ex(const struct nvtx_attributes *attributes)
{
	return domain_start_ex(NULL, attributes);
}

static uint64_t start_a(const char *text)
{
	struct nvtx_event e;

	nvtx_event_from_text(&e, nvtx_domain_of(NULL), text);
	return nvtx_start(&e);
}

static uint64_t start_w(const wchar_t *text)
{
	struct nvtx_event e;

	nvtx_event_from_wide(&e, nvtx_domain_of(NULL), text);
	return nvtx_start(&e);
}

static void end_range(uint64_t range_id)
{
	uint32_t word = nvtx_get_word();

	if (unlikely(word))
		nvtx_end(range_id, word);
}

static void domain_end(void *domain, uint64_t range_id)
{
	(void)domain;
	end_range(range_id);
}

/* --- names --------------------------------------------------------------------------------- */

static void domain_name_category_a(void *domain, uint32_t number, const char *name)
{
	nvtx_category_set(nvtx_domain_of(domain), number, name ? name : "");
}

static void domain_name_category_w(void *domain, uint32_t number, const wchar_t *name)
{
	struct narrow_text text;

	domain_name_category_a(domain, number, to_utf8(&text, name));
}

static void name_category_a(uint32_t number, const char *name)
{
	domain_name_category_a(NULL, number, name);
}

static void name_category_w(uint32_t number, const wchar_t *name)
{
	domain_name_category_w(NULL, number, name);
}

static void name_thread_a(uint32_t tid, const char *name)
{
	if ((pid_t)tid == (pid_t)syscall(SYS_gettid))
		ptap_thread_name(name);
	else
		thread_names_set((int32_t)tid, name ? name : "");
}

static void name_thread_w(uint32_t tid, const wchar_t *name)
{
	struct narrow_text text;

	name_thread_a(tid, to_utf8(&text, name));
}

static void *register_string_a(void *domain, const char *text)
{
	return nvtx_string_get(nvtx_domain_of(domain), text ? text : "");
}

static void *register_string_w(void *domain, const wchar_t *text)
{
	struct narrow_text name;

	return register_string_a(domain, to_utf8(&name, text));
}

/*
 * XLA asks for its domain once, and annotates by NVTX for good if it gets one: then its own
 * profiler (jax.profiler's) no longer knows which operation a kernel belongs to.
 */
static void *create_domain_a(const char *name)
{
	if (!name || (strcmp(name, "TSL") == 0 && nvtx_mode_get() != NVTX_MODE_XLA))
		return NULL;
	return nvtx_domain_get(name);
}

static void *create_domain_w(const wchar_t *name)
{
	struct narrow_text text;

	return name ? create_domain_a(to_utf8(&text, name)) : NULL;
}

/* --- tables -------------------------------------------------------------------------------- */

#define SLOT(function) ((nvtx_function *)(function))

static nvtx_function *const nvtx_core_handlers[NVTX_CORE_SLOTS] = {
	[NVTX_CORE_MARK_EX] = SLOT(mark_ex),
	[NVTX_CORE_MARK_A] = SLOT(mark_a),
	[NVTX_CORE_MARK_W] = SLOT(mark_w),
	[NVTX_CORE_RANGE_START_EX] = SLOT(start_ex),
	[NVTX_CORE_RANGE_START_A] = SLOT(start_a),
	[NVTX_CORE_RANGE_START_W] = SLOT(start_w),
	[NVTX_CORE_RANGE_END] = SLOT(end_range),
	[NVTX_CORE_RANGE_PUSH_EX] = SLOT(push_ex),
	[NVTX_CORE_RANGE_PUSH_A] = SLOT(push_a),
	[NVTX_CORE_RANGE_PUSH_W] = SLOT(push_w),
	[NVTX_CORE_RANGE_POP] = SLOT(pop_range),
	[NVTX_CORE_NAME_CATEGORY_A] = SLOT(name_category_a),
	[NVTX_CORE_NAME_CATEGORY_W] = SLOT(name_category_w),
	[NVTX_CORE_NAME_THREAD_A] = SLOT(name_thread_a),
	[NVTX_CORE_NAME_THREAD_W] = SLOT(name_thread_w),
};

/* Resources are not recorded. A destroyed domain is kept, because its strings are kept. */
static nvtx_function *const nvtx_core2_handlers[NVTX_CORE2_SLOTS] = {
	[NVTX_CORE2_MARK_EX] = SLOT(domain_mark_ex),
	[NVTX_CORE2_RANGE_START_EX] = SLOT(domain_start_ex),
	[NVTX_CORE2_RANGE_END] = SLOT(domain_end),
	[NVTX_CORE2_RANGE_PUSH_EX] = SLOT(domain_push_ex),
	[NVTX_CORE2_RANGE_POP] = SLOT(domain_pop),
	[NVTX_CORE2_NAME_CATEGORY_A] = SLOT(domain_name_category_a),
	[NVTX_CORE2_NAME_CATEGORY_W] = SLOT(domain_name_category_w),
	[NVTX_CORE2_REGISTER_STRING_A] = SLOT(register_string_a),
	[NVTX_CORE2_REGISTER_STRING_W] = SLOT(register_string_w),
	[NVTX_CORE2_DOMAIN_CREATE_A] = SLOT(create_domain_a),
	[NVTX_CORE2_DOMAIN_CREATE_W] = SLOT(create_domain_w),
};

/* --- the entry ----------------------------------------------------------------------------- */

/*
 * Fills the slots of |module|, which is NVTX's CORE or CORE2, with |n| handlers; another version
 * of it may have fewer slots, or more.
 */
static void fill_slots(const struct nvtx_callbacks *callbacks, int module,
	nvtx_function *const *handlers, unsigned n)
{
	nvtx_function ***slots = NULL;
	unsigned n_slots = 0;

	if (!callbacks->get_module(module, &slots, &n_slots) || !slots)
		return;
	for (unsigned i = 1; i < n && i < n_slots; i++)
		if (handlers[i] && slots[i])
			*slots[i] = handlers[i];
}

static void tell_version(nvtx_get_table *get_table)
{
	const struct nvtx_version *version = get_table(NVTX_TABLE_VERSION);

	if (version && version->size >= sizeof *version && version->set_tool_version)
		version->set_tool_version(NVTX_VERSION);
}

int InitializeInjectionNvtx2(nvtx_get_table *get_table)
{
	const struct nvtx_callbacks *callbacks;

	if (nvtx_mode_get() == NVTX_MODE_OFF)
		return 0;
	callbacks = get_table(NVTX_TABLE_CALLBACKS);
	if (!callbacks || callbacks->size < sizeof *callbacks || !callbacks->get_module)
		return 0;
	tell_version(get_table);
	fill_slots(callbacks, NVTX_MODULE_CORE, nvtx_core_handlers, NVTX_CORE_SLOTS);
	fill_slots(callbacks, NVTX_MODULE_CORE2, nvtx_core2_handlers, NVTX_CORE2_SLOTS);
	return 1;
}

int InitializeInjectionNvtx(nvtx_get_table *get_table)
{
	return InitializeInjectionNvtx2(get_table);
}

/* --- the payload extension ----------------------------------------------------------------- */

/* Other extensions (counters, memory, deferred events) work as without a tool. */

static uint64_t register_schema(void *domain, const struct nvtx_schema_attributes *attributes)
{
	return nvtx_schema_register(nvtx_domain_of(domain), attributes);
}

static uint64_t register_enum(void *domain, const struct nvtx_enum_attributes *attributes)
{
	return nvtx_enumeration_register(nvtx_domain_of(domain), attributes);
}

static void mark_payloads(void *domain, const struct nvtx_payload *payloads, size_t n)
{
	uint32_t word = nvtx_get_word();
	struct nvtx_event e;

	if (unlikely(word)) {
		nvtx_event_from_payloads(&e, nvtx_domain_of(domain), payloads, n);
		nvtx_mark(&e, word);
	}
}

static int push_payloads(void *domain, const struct nvtx_payload *payloads, size_t n)
{
	uint32_t word = nvtx_get_word();
	struct nvtx_event e;

	if (unlikely(word)) {
		nvtx_event_from_payloads(&e, nvtx_domain_of(domain), payloads, n);
		nvtx_push(&e, word);
	}
	return NVTX_NO_LEVELS;
}

/*
 * Payloads at the end of a range become an instant there, so that their fields are not lost; the
 * span has the fields of its begin.
 */
static void mark_end(void *domain, const struct nvtx_payload *payloads, size_t n, uint32_t word)
{
	struct nvtx_event e;

	if (!n || !payloads)
		return;
	nvtx_event_from_payloads(&e, nvtx_domain_of(domain), payloads, n);
	if (!e.string && !e.text[0])
		e.text = "(end of range)";
	nvtx_mark(&e, word);
}

static int pop_payloads(void *domain, const struct nvtx_payload *payloads, size_t n)
{
	uint32_t word = nvtx_get_word();

	if (unlikely(word)) {
		mark_end(domain, payloads, n, word);
		nvtx_pop(nvtx_domain_of(domain), word);
	}
	return NVTX_NO_LEVELS;
}

static uint64_t start_payloads(void *domain, const struct nvtx_payload *payloads, size_t n)
{
	struct nvtx_event e;

	nvtx_event_from_payloads(&e, nvtx_domain_of(domain), payloads, n);
	return nvtx_start(&e);
}

static void end_payloads(
	void *domain, uint64_t range_id, const struct nvtx_payload *payloads, size_t n)
{
	uint32_t word = nvtx_get_word();

	if (unlikely(word)) {
		mark_end(domain, payloads, n, word);
		nvtx_end(range_id, word);
	}
}

/*
 * Always true: a program may ask once and keep the answer, and a recording may begin at any time.
 */
static uint8_t answer_domain_enabled(void *domain)
{
	(void)domain;
	return 1;
}

#define PAYLOAD_SLOT(function) ((intptr_t)(function))

static const intptr_t payload_handlers[NVTX_PAYLOAD_SLOTS] = {
	[NVTX_PAYLOAD_SCHEMA_REGISTER] = PAYLOAD_SLOT(register_schema),
	[NVTX_PAYLOAD_ENUM_REGISTER] = PAYLOAD_SLOT(register_enum),
	[NVTX_PAYLOAD_MARK] = PAYLOAD_SLOT(mark_payloads),
	[NVTX_PAYLOAD_RANGE_PUSH] = PAYLOAD_SLOT(push_payloads),
	[NVTX_PAYLOAD_RANGE_POP] = PAYLOAD_SLOT(pop_payloads),
	[NVTX_PAYLOAD_RANGE_START] = PAYLOAD_SLOT(start_payloads),
	[NVTX_PAYLOAD_RANGE_END] = PAYLOAD_SLOT(end_payloads),
	[NVTX_PAYLOAD_DOMAIN_IS_ENABLED] = PAYLOAD_SLOT(answer_domain_enabled),
};

int InitializeInjectionNvtxExtension(struct nvtx_extension *extension)
{
	struct nvtx_segment *segment;

	if (nvtx_mode_get() == NVTX_MODE_OFF)
		return 0;
	if (extension->size < sizeof *extension || extension->module != NVTX_EXTENSION_PAYLOAD ||
		extension->compatibility < NVTX_PAYLOAD_COMPATIBILITY || !extension->n_segments)
		return 1;
	segment = &extension->segments[0];
	for (size_t i = 0; i < NVTX_PAYLOAD_SLOTS && i < segment->n_slots; i++)
		segment->slots[i] = payload_handlers[i];
	return 1;
}
