/* SPDX-License-Identifier: Apache-2.0 */
/* Domains, strings, categories; see vocabulary.h. */
#include "lib/inject/nvtx/vocabulary.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

/* bytes, of texts that are not registered; these may all differ, as in "request 4711" */
#define MAX_PASSING_BYTES (1u << 20)

static struct shelf domains = SHELF_INIT(256);
static struct shelf strings = SHELF_INIT(16384);
static struct shelf categories = SHELF_INIT(256);

static struct nvtx_domain default_domain = {.owner = 1, .prefix = ""};
static struct nvtx_string no_room = {
	.domain = &default_domain, .name = "(more NVTX strings than there is room for)"};

/* --- domains ------------------------------------------------------------------------------- */

static const struct nvtx_domain *domain_from(const struct shelf_item *item)
{
	return (const struct nvtx_domain *)item;
}

/* |key| is the domain's prefix. */
static bool is_domain(const struct shelf_item *item, const void *key)
{
	return strcmp(domain_from(item)->prefix, key) == 0;
}

static struct nvtx_domain *make_domain(const char *prefix, uint32_t n)
{
	static _Atomic uint32_t n_domains = 1;
	struct nvtx_domain *domain = store_take(sizeof *domain + n + 1);

	if (!domain)
		return NULL;
	domain->owner = atomic_fetch_add(&n_domains, 1) + 1;
	domain->n_prefix = n;
	memcpy(domain->prefix, prefix, n);
	return domain;
}

struct nvtx_domain *nvtx_domain_get(const char *name)
{
	char prefix[VOCABULARY_MAX_BYTES + 3];
	uint32_t n = (uint32_t)strnlen(name, VOCABULARY_MAX_BYTES);
	struct shelf_item *item;
	struct nvtx_domain *domain;
	uint64_t hash;

	memcpy(prefix, name, n);
	memcpy(prefix + n, ": ", 3);
	n += 2;
	hash = shelf_hash(0, prefix, n);
	item = shelf_find(&domains, hash, is_domain, prefix);
	if (!item) {
		domain = make_domain(prefix, n);
		if (!domain)
			return &default_domain;
		item = shelf_add(&domains, &domain->item, hash, is_domain, prefix);
	}
	return item ? (struct nvtx_domain *)item : &default_domain;
}

const struct nvtx_domain *nvtx_domain_of(const void *handle)
{
	return handle ? handle : &default_domain;
}

/* --- strings ------------------------------------------------------------------------------- */

struct string_key {
	const struct nvtx_domain *domain;
	const char *text;
	uint32_t n;
};

static const struct nvtx_string *string_from(const struct shelf_item *item)
{
	return (const struct nvtx_string *)item;
}

static bool is_same_string(const struct shelf_item *item, const void *key)
{
	const struct nvtx_string *string = string_from(item);
	const struct string_key *k = key;
	const char *text = string->name + string->domain->n_prefix;

	return string->domain == k->domain && strncmp(text, k->text, k->n) == 0 && !text[k->n];
}

static struct nvtx_string *make_string(const struct string_key *key)
{
	uint32_t n_prefix = key->domain->n_prefix;
	struct nvtx_string *string = store_take(sizeof *string + n_prefix + key->n + 1);

	if (!string)
		return NULL;
	string->domain = key->domain;
	string->place = store_get_place(string);
	memcpy(string->name, key->domain->prefix, n_prefix);
	memcpy(string->name + n_prefix, key->text, key->n);
	return string;
}

/* Takes |n| bytes from the budget |left|; NULL: there is no limit. False: too few are left. */
static bool take_budget(_Atomic uint32_t *left, uint32_t n)
{
	uint32_t before = left ? atomic_load_explicit(left, memory_order_relaxed) : 0;

	if (!left)
		return true;
	do {
		if (before < n)
			return false;
	} while (!atomic_compare_exchange_weak(left, &before, before - n));
	return true;
}

static struct nvtx_string *get_string(
	const struct nvtx_domain *domain, const char *text, _Atomic uint32_t *left)
{
	struct string_key key = {domain, text, (uint32_t)strnlen(text, VOCABULARY_MAX_BYTES)};
	uint64_t hash = shelf_hash((uintptr_t)domain, text, key.n);
	struct shelf_item *item = shelf_find(&strings, hash, is_same_string, &key);
	struct nvtx_string *string;

	if (item)
		return (struct nvtx_string *)item;
	if (!take_budget(left, key.n))
		return &no_room;
	string = make_string(&key);
	if (!string)
		return &no_room;
	item = shelf_add(&strings, &string->item, hash, is_same_string, &key);
	return item ? (struct nvtx_string *)item : &no_room;
}

struct nvtx_string *nvtx_string_get(const struct nvtx_domain *domain, const char *text)
{
	return get_string(domain, text, NULL);
}

struct nvtx_string *nvtx_string_get_passing(const struct nvtx_domain *domain, const char *text)
{
	static _Atomic uint32_t left = MAX_PASSING_BYTES;

	return get_string(domain, text, &left);
}

struct nvtx_string *nvtx_string_at(uint32_t place)
{
	struct nvtx_string *string = store_find(place, sizeof *string + 1);

	if (!place)
		return &no_room;
	return string && string->place == place ? string : NULL;
}

/* --- categories ---------------------------------------------------------------------------- */

struct category {
	struct shelf_item item;
	const struct nvtx_domain *domain;
	uint32_t number;
	const char *_Atomic name;
};

struct category_key {
	const struct nvtx_domain *domain;
	uint32_t number;
};

static bool is_category(const struct shelf_item *item, const void *key)
{
	const struct category *category = (const struct category *)item;
	const struct category_key *k = key;

	return category->domain == k->domain && category->number == k->number;
}

static uint64_t hash_category(const struct category_key *key)
{
	return shelf_hash((uintptr_t)key->domain, &key->number, sizeof key->number);
}

static struct category *find_category(const struct category_key *key)
{
	return (struct category *)shelf_find(&categories, hash_category(key), is_category, key);
}

static struct category *make_category(const struct category_key *key)
{
	struct category *category = store_take(sizeof *category);

	if (!category)
		return NULL;
	category->domain = key->domain;
	category->number = key->number;
	return (struct category *)shelf_add(
		&categories, &category->item, hash_category(key), is_category, key);
}

void nvtx_category_set(const struct nvtx_domain *domain, uint32_t number, const char *name)
{
	struct category_key key = {domain, number};
	struct category *category = find_category(&key);
	/* A category's new name is stored among the strings for good: there are few names. */
	const struct nvtx_string *string = nvtx_string_get(domain, name);

	if (!category)
		category = make_category(&key);
	if (category && string->place)
		atomic_store_explicit(
			&category->name, string->name + domain->n_prefix, memory_order_release);
}

const char *nvtx_category_get(const struct nvtx_domain *domain, uint32_t number)
{
	struct category_key key = {domain, number};
	struct category *category = find_category(&key);

	return category ? atomic_load_explicit(&category->name, memory_order_acquire) : NULL;
}
