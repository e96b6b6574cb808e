/* SPDX-License-Identifier: Apache-2.0 */
/* Digests for tests; see digest_fixture.h. */
#include "tests/unit/digest_fixture.h"

#include <check.h>
#include <string.h>

#include "base/diag.h"
#include "trace/model/names.h"

struct digest *digest;

void digest_fixture_open(void)
{
	space_fixture_open();
	view_fixture_open();
	digest = NULL;
}

void digest_fixture_close(void)
{
	digest = digest_free(digest);
	view_fixture_close();
	space_fixture_close();
}

void digest_selection(const struct selection *s)
{
	const struct view_options options = {.selection = s};
	struct diag d = DIAG_INIT;

	view_add_space(space, "runs/a.xplane.pb");
	view_make(&options);
	ck_assert_msg(digest_make(view, &digest, &d) == 0, "%s", d.text);
}

void digest_space(void)
{
	digest_selection(NULL);
}

const struct row *find_row(const struct rows *rows, const char *name)
{
	for (size_t i = 0; i < rows->n; i++)
		if (strcmp(name_of(rows->v[i].name), name) == 0)
			return &rows->v[i];
	ck_abort_msg("no row %s", name);
	return NULL;
}

const struct row *find_span(const char *name)
{
	return find_row(&digest->lists[LIST_SPANS], name);
}

const char *name_of(uint32_t name)
{
	return name == BUSY_NO_NAME ? "-" : names_get(&view->names, name);
}
