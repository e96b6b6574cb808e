/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program's NVTX domains, strings and categories. All are kept for good, even if the program
 * destroys them: a domain or a string that is registered again is the same one.
 *
 * A name in a trace is the message, and in a domain "domain: message". It has a blank because XProf
 * takes "a:b" for a framework's operation a of the type b.
 *
 * Threads: any.
 */
#ifndef INJECT_NVTX_VOCABULARY_H
#define INJECT_NVTX_VOCABULARY_H

#include <stdint.h>

#include "lib/inject/nvtx/store.h"

/* bytes, of the name of a domain, string, category or field; longer ones are cut */
#define VOCABULARY_MAX_BYTES 1000u

struct nvtx_domain {
	struct shelf_item item;
	uint32_t owner; /* identifies its ranges; see lib/record/range.h */
	uint32_t n_prefix; /* bytes, of "name: "; 0: the default domain */
	char prefix[];
};

struct nvtx_string {
	struct shelf_item item;
	const struct nvtx_domain *domain;
	uint32_t id; /* the string id in the arena, once it was recorded */
	uint32_t place; /* in the store; 0: the fixed string of nvtx_string_get() */
	char name[]; /* with the domain's prefix, as in a trace */
};

/* Never NULL; without memory for another domain it returns the default domain. */
struct nvtx_domain *nvtx_domain_get(const char *name);
/* The domain of a program's handle; NULL is the default domain. */
const struct nvtx_domain *nvtx_domain_of(const void *handle);

/* Never NULL; without memory for another string it returns a fixed string with that reason. */
struct nvtx_string *nvtx_string_get(const struct nvtx_domain *domain, const char *text);
/* The same for a text that is not registered; fewer of these are kept. */
struct nvtx_string *nvtx_string_get_passing(const struct nvtx_domain *domain, const char *text);
/* The string with |place|; 0 is the fixed string of nvtx_string_get(). NULL: no such string. */
struct nvtx_string *nvtx_string_at(uint32_t place);

/* Names the category |number| of |domain|. */
void nvtx_category_set(const struct nvtx_domain *domain, uint32_t number, const char *name);
/* NULL: the category has no name. Lifetime: the process's. */
const char *nvtx_category_get(const struct nvtx_domain *domain, uint32_t number);

#endif
