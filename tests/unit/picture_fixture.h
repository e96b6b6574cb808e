/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of the first ring of guest_fixture.h, whose thread writes entries of entry_fixture.h. */
#ifndef TESTS_UNIT_PICTURE_FIXTURE_H
#define TESTS_UNIT_PICTURE_FIXTURE_H

#include <stdint.h>

#include "daemon/pipeline/drain/thread_log.h"

struct pictured {
	struct thread_log log;
	int result; /* of ring_picture_take() */
	int64_t n_kept; /* entries; -1: they are not as they were written */
};

/* Takes a picture of ring |i| in the recording |word|. The caller frees it. */
void pictured_take(struct pictured *p, uint32_t i, uint32_t word);
/* The same with at most the newest |share_slots| slots; 0: all. */
void pictured_take_share(struct pictured *p, uint32_t i, uint32_t word, uint64_t share_slots);
void pictured_free(struct pictured *p);
/* Asserts that the picture is whole and that its thread has written |n| entries. */
void pictured_check(uint32_t i, uint32_t word, uint64_t n);

#endif
