/* SPDX-License-Identifier: Apache-2.0 */
/* A drain of the rings of guest_fixture.h. */
#ifndef TESTS_UNIT_DRAIN_FIXTURE_H
#define TESTS_UNIT_DRAIN_FIXTURE_H

#include "daemon/pipeline/drain/drain.h"
#include "tests/unit/guest_fixture.h"

struct drain_fixture {
	struct drain_budget budget;
	struct drain drain;
	struct ring *ring; /* the first one */
};

extern struct drain_fixture drained;

/* A checked fixture of a test case. A capture with a limit of 64 MiB has begun. */
void drained_setup(void);
void drained_teardown(void);

/* The parts of the setup: a drain without any contents, and a new capture. */
void drained_init(void);
void drained_start(void);

/* Visits all rings. Returns the fill level of the fullest one, in thousandths. */
unsigned drained_visit(void);
/* The last visit, after the recording has ended. */
void drained_finish(void);

#endif
