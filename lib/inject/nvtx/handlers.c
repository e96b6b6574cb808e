/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX's calls, as a program makes them: each looks first whether anything is recorded. The tables: handlers.h. */
#define PTAP_IMPL_BUILDING
#include "lib/inject/nvtx/handlers.h"

#include <proftap/proftap.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/inject/nvtx/annotate.h"
#include "lib/inject/nvtx/event.h"
#include "lib/inject/nvtx/mode.h"
#include "lib/inject/nvtx/vocabulary.h"
#include "lib/inject/nvtx/wide.h"
#include "lib/record/thread_names.h"

#define unlikely(x) __builtin_expect(!!(x), 0)

/* A name that is registered. */
struct narrow {
	char text[VOCABULARY_MAX_BYTES + 1];
};

static const char *narrow(struct narrow *to, const wchar_t *text)
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

static int pop(void)
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

static void end(uint64_t range_id)
{
	uint32_t word = nvtx_get_word();

	if (unlikely(word))
		nvtx_end(range_id, word);
}

static void domain_end(void *domain, uint64_t range_id)
{
	(void)domain;
	end(range_id);
}

/* --- names --------------------------------------------------------------------------------- */

static void domain_name_category_a(void *domain, uint32_t number, const char *name)
{
	nvtx_category_set(nvtx_domain_of(domain), number, name ? name : "");
}

static void domain_name_category_w(void *domain, uint32_t number, const wchar_t *name)
{
	struct narrow text;

	domain_name_category_a(domain, number, narrow(&text, name));
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
	struct narrow text;

	name_thread_a(tid, narrow(&text, name));
}

static void *register_string_a(void *domain, const char *text)
{
	return nvtx_string_get(nvtx_domain_of(domain), text ? text : "");
}

static void *register_string_w(void *domain, const wchar_t *text)
{
	struct narrow name;

	return register_string_a(domain, narrow(&name, text));
}

/*
 * XLA asks for its domain once, and annotates by NVTX for good if it gets one: then its own profiler, jax.profiler's, no
 * longer knows which operation a kernel belongs to.
 */
static void *create_domain_a(const char *name)
{
	if (!name || (strcmp(name, "TSL") == 0 && nvtx_mode_get() != NVTX_MODE_XLA))
		return NULL;
	return nvtx_domain_get(name);
}

static void *create_domain_w(const wchar_t *name)
{
	struct narrow text;

	return name ? create_domain_a(narrow(&text, name)) : NULL;
}

/* --- tables -------------------------------------------------------------------------------- */

#define SLOT(function) ((nvtx_function *)(function))

nvtx_function *const nvtx_core_handlers[NVTX_CORE_SLOTS] = {
	[NVTX_CORE_MARK_EX] = SLOT(mark_ex),
	[NVTX_CORE_MARK_A] = SLOT(mark_a),
	[NVTX_CORE_MARK_W] = SLOT(mark_w),
	[NVTX_CORE_RANGE_START_EX] = SLOT(start_ex),
	[NVTX_CORE_RANGE_START_A] = SLOT(start_a),
	[NVTX_CORE_RANGE_START_W] = SLOT(start_w),
	[NVTX_CORE_RANGE_END] = SLOT(end),
	[NVTX_CORE_RANGE_PUSH_EX] = SLOT(push_ex),
	[NVTX_CORE_RANGE_PUSH_A] = SLOT(push_a),
	[NVTX_CORE_RANGE_PUSH_W] = SLOT(push_w),
	[NVTX_CORE_RANGE_POP] = SLOT(pop),
	[NVTX_CORE_NAME_CATEGORY_A] = SLOT(name_category_a),
	[NVTX_CORE_NAME_CATEGORY_W] = SLOT(name_category_w),
	[NVTX_CORE_NAME_THREAD_A] = SLOT(name_thread_a),
	[NVTX_CORE_NAME_THREAD_W] = SLOT(name_thread_w),
};

/* Resources are not recorded; a domain stays, since its strings do. */
nvtx_function *const nvtx_core2_handlers[NVTX_CORE2_SLOTS] = {
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
