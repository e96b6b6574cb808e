/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program has told NVTX before it annotates: its domains, strings and categories. All stays for good, also what the program
 * takes back: the same domain or string again is the one there was.
 *
 * A name in a trace is the message, and in a domain "domain: message". With the blank, because XProf takes "a:b" for a
 * framework's operation a of the type b.
 *
 * Threads: any.
 */
#ifndef INJECT_NVTX_VOCABULARY_H
#define INJECT_NVTX_VOCABULARY_H

#include <stddef.h>
#include <stdint.h>

#include "lib/inject/nvtx/store.h"

/* Of a domain, string, category or field; more is cut. */
#define VOCABULARY_MAX_BYTES 1000u

struct nvtx_domain {
	struct shelf_item item;
	uint32_t owner; /* of its ranges; lib/record/range.h */
	uint32_t n_prefix; /* bytes of "name: "; 0: the default domain */
	char prefix[];
};

struct nvtx_string {
	struct shelf_item item;
	const struct nvtx_domain *domain;
	uint32_t id; /* in the arena's table of strings, when it was recorded once */
	uint32_t place; /* in the store; 0: one of many that there was no room for */
	char name[]; /* as in a trace */
};

/* Never NULL; where there is no room for another one it is the default domain. */
struct nvtx_domain *nvtx_domain_get(const char *name);
/* What a program has for one: NULL is the default domain. */
const struct nvtx_domain *nvtx_domain_of(const void *handle);

/* Never NULL; where there is no room for another one it is one that says so. */
struct nvtx_string *nvtx_string_get(const struct nvtx_domain *domain, const char *text);
/* The same for a text that the program has not registered, of which fewer are kept. */
struct nvtx_string *nvtx_string_get_passing(const struct nvtx_domain *domain, const char *text);
/* The string with |place|; 0 is the one that says that there was no room. NULL: there is none. */
struct nvtx_string *nvtx_string_at(uint32_t place);

/* Of |number| in |domain|, from now on. */
void nvtx_category_set(const struct nvtx_domain *domain, uint32_t number, const char *name);
/* NULL: it has none. Lifetime: the process's. */
const char *nvtx_category_get(const struct nvtx_domain *domain, uint32_t number);

#endif
