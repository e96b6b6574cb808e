/* SPDX-License-Identifier: Apache-2.0 */
/* Digests of spaces that a test has made (space_fixture.h). */
#ifndef TESTS_UNIT_DIGEST_FIXTURE_H
#define TESTS_UNIT_DIGEST_FIXTURE_H

#include "tests/unit/space_fixture.h"
#include "tests/unit/view_fixture.h"
#include "trace/report/digest.h"

extern struct digest *digest;

/* A checked fixture of a test case. It includes those of spaces and views. */
void digest_fixture_open(void);
void digest_fixture_close(void);

/* Makes the digest of the space alone: of all of it, or of a selection. */
void digest_space(void);
void digest_selection(const struct selection *s);

/* The row of that name; the test fails without one. */
const struct row *find_row(const struct rows *rows, const char *name);
const struct row *find_span(const char *name); /* of LIST_SPANS */
const char *name_of(uint32_t name); /* "-": BUSY_NO_NAME */

#endif
