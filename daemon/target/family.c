/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that this server records; see family.h. */
#include "daemon/target/family.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/grow.h"

void family_init(struct family *f, struct target *main)
{
	memset(f, 0, sizeof *f);
	f->main = main;
	pthread_mutex_init(&f->mutex, NULL);
}

int child_new(int memfd, pid_t pid, struct child **out, struct diag *d)
{
	struct child *child = calloc(1, sizeof *child);
	int r = child ? target_open(&child->target, memfd, pid, d) : -ENOMEM;

	if (r) {
		close(memfd);
		free(child);
		return r;
	}
	child->target.owns_memfd = true;
	child->n_holders = 1;
	child->since_ns = realtime_ns();
	*out = child;
	return 0;
}

struct child *child_release(struct child *child)
{
	if (child && atomic_fetch_sub(&child->n_holders, 1) == 1) {
		target_close(&child->target);
		free(child);
	}
	return NULL;
}

/* Unmaps the child's arena, even while another holder still has |child| and waits for its end. */
static void child_free_memory(struct child *child)
{
	target_close(&child->target);
	child_release(child);
}

void family_deinit(struct family *f)
{
	family_admit(f);
	for (size_t i = 0; i < f->n_children; i++)
		child_free_memory(f->children[i]);
	free(f->children);
	pthread_mutex_destroy(&f->mutex);
}

void family_offer(struct family *f, struct child *child)
{
	atomic_fetch_add(&child->n_holders, 1);
	pthread_mutex_lock(&f->mutex);
	child->next = f->offered;
	f->offered = child;
	pthread_mutex_unlock(&f->mutex);
	atomic_store(&f->has_news, 1);
}

int family_kick(struct family *f)
{
	return target_kick(f->main) || !atomic_load(&f->has_news);
}

static struct child *family_take_offered(struct family *f)
{
	struct child *child;

	pthread_mutex_lock(&f->mutex);
	child = f->offered;
	f->offered = NULL;
	pthread_mutex_unlock(&f->mutex);
	return child;
}

static void family_admit_child(struct family *f, struct child *child)
{
	int r;

	pthread_mutex_lock(&f->mutex);
	r = grow(&f->children, &f->n_allocated, f->n_children + 1);
	if (!r)
		f->children[f->n_children++] = child;
	pthread_mutex_unlock(&f->mutex);
	if (r) {
		child_free_memory(child);
		return;
	}
	target_hold(&child->target);
}

void family_admit(struct family *f)
{
	struct child *child;

	atomic_store(&f->has_news, 0);
	child = family_take_offered(f);
	while (child) {
		struct child *next = child->next;

		family_admit_child(f, child);
		child = next;
	}
}

void family_add_meeter(struct family *f, struct family_meeter *m)
{
	m->next = f->meeters;
	f->meeters = m;
}

void family_remove_meeter(struct family *f, struct family_meeter *m)
{
	struct family_meeter **at = &f->meeters;

	while (*at && *at != m)
		at = &(*at)->next;
	if (*at)
		*at = m->next;
}

/*
 * A child may end soon after it continues, and then its data are gone, so every meeter must see it
 * before it continues.
 */
void family_meet(struct family *f)
{
	family_admit(f);
	for (struct family_meeter *m = f->meeters; m; m = m->next)
		m->meet(m->context);
	for (size_t i = 0; i < f->n_children; i++)
		target_greet(&f->children[i]->target);
}

bool family_handle_news(struct family *f)
{
	if (!atomic_load(&f->has_news))
		return false;
	family_meet(f);
	for (size_t i = 0; i < f->n_children; i++)
		if (target_get_life(&f->children[i]->target) == TARGET_DEAD)
			target_note_crash(&f->children[i]->target, f->main);
	return true;
}

void family_prune(struct family *f)
{
	size_t n = 0;

	pthread_mutex_lock(&f->mutex);
	for (size_t i = 0; i < f->n_children; i++) {
		struct child *child = f->children[i];

		if (child->is_recorded || target_get_life(&child->target) == TARGET_ALIVE)
			f->children[n++] = child;
		else
			child_free_memory(child);
	}
	f->n_children = n;
	pthread_mutex_unlock(&f->mutex);
}

void family_visit(
	struct family *f, void (*visit)(struct child *child, void *context), void *context)
{
	pthread_mutex_lock(&f->mutex);
	for (size_t i = 0; i < f->n_children; i++)
		visit(f->children[i], context);
	pthread_mutex_unlock(&f->mutex);
}
