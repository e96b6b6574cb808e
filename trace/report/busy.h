/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of a time is covered by spans that come in order of their starts, and the longest gaps between them, the ends of that
 * time included.
 */
#ifndef TRACE_REPORT_BUSY_H
#define TRACE_REPORT_BUSY_H

#include <stddef.h>
#include <stdint.h>

#define BUSY_GAPS 8 /* the longest are kept */
#define BUSY_NO_NAME UINT32_MAX

struct gap {
	int64_t start_ns;
	int64_t end_ns;
	uint32_t after; /* name of the span that ended last; BUSY_NO_NAME: none had begun */
	uint32_t before; /* of the one that ends it; BUSY_NO_NAME: none did */
};

struct busy {
	int64_t begin_ns; /* of the time that is looked at */
	int64_t end_ns;
	int64_t busy_ns;
	struct gap *
		gaps; /* longest first; those of one length in order of time; of no more room than they take */
	size_t n_gaps;
	int64_t until_ns; /* covered or counted up to here */
	uint32_t last; /* name of the span that reaches up to there */
};

/* |end_ns| >= |begin_ns| */
void busy_init(struct busy *b, int64_t begin_ns, int64_t end_ns);
void busy_deinit(struct busy *b);
/* 0 or -ENOMEM. */
int busy_add(struct busy *b, int64_t start_ns, int64_t end_ns, uint32_t name);
/* There are no more. 0 or -ENOMEM. */
int busy_finish(struct busy *b);
/* Makes |b| one like |from|. 0 or -ENOMEM. */
int busy_copy(struct busy *b, const struct busy *from);
int64_t gap_get_length(const struct gap *gap); /* ns */
/* The share, 0 to 1. */
double busy_get_share(const struct busy *b);

#endif
