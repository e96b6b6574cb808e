/* SPDX-License-Identifier: Apache-2.0 */
/* Views of spaces that a test has made. */
#ifndef TESTS_UNIT_VIEW_FIXTURE_H
#define TESTS_UNIT_VIEW_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

#include "trace/read/cursor.h"
#include "trace/read/view.h"

struct space;

extern struct view *view;

/* A checked fixture of a test case, in addition to space_fixture's. */
void view_fixture_open(void);
void view_fixture_close(void);

/* Adds an archive: the encoded |s|. |path| is its name in messages. */
void view_add_space(const struct space *s, const char *path);
/* Adds an archive with a copy of these bytes. */
void view_add_bytes(const void *data, size_t n, const char *path);
/*
 * Adds an archive as our server records it, of the process 4242 on the machine vm: "ours 0+10" by
 * the thread main (42), and "beside 0+1" by the thread other (43). |stock_ids| are the ids that
 * JAX's server gives the threads; NULL: the archive has none.
 */
void view_add_ours(const char *stock_ids);
/*
 * Adds an archive with spans of JAX's server: "jax 0+20" by the thread python (-91), and "eigen
 * 2+1" by tf_XLAEigen/92 (92).
 */
void view_add_stock(int64_t pid, const char *host);
/* Opens the view of the archives. */
void view_make(const struct view_options *options);

/* Gives the view to the caller. Later archives are for another view. */
void view_fixture_forget(void);

/* The only track of that name, or NULL. */
const struct view_track *view_find_track(const char *name);
/*
 * The items of a track, as lines "name start+duration", e.g. "load 10+5", in a text that lives
 * until the next call.
 */
const char *view_list(const struct view_track *track);

#endif
