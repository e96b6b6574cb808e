/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes how much of a time is covered by spans, which come in order of their starts, and the
 * longest gaps between them, also at the ends of that time.
 */
#ifndef TRACE_REPORT_BUSY_H
#define TRACE_REPORT_BUSY_H

#include <stddef.h>
#include <stdint.h>

#define BUSY_GAPS 8 /* number of longest gaps that are kept */
#define BUSY_NO_NAME UINT32_MAX

struct idle_gap {
	int64_t start_ns;
	int64_t end_ns;
	uint32_t after; /* name of the span that ended last; BUSY_NO_NAME: none had begun */
	uint32_t before; /* name of the span that ends the gap; BUSY_NO_NAME: none did */
};

struct busy {
	int64_t begin_ns; /* the time that may be covered */
	int64_t end_ns;
	int64_t busy_ns;
	/* Longest first; gaps of equal length in order of time. Allocated without slack */
	struct idle_gap *gaps;
	size_t n_gaps;
	int64_t until_ns; /* spans and gaps are counted up to here */
	uint32_t last; /* name of the span that ends at |until_ns| */
};

/* |end_ns| >= |begin_ns| */
void busy_init(struct busy *b, int64_t begin_ns, int64_t end_ns);
void busy_deinit(struct busy *b);
/* 0 or -ENOMEM. */
int busy_add(struct busy *b, int64_t start_ns, int64_t end_ns, uint32_t name);
/* Ends the adding. 0 or -ENOMEM. */
int busy_finish(struct busy *b);
/* Makes |b| a copy of |from|. 0 or -ENOMEM. */
int busy_copy(struct busy *b, const struct busy *from);
int64_t gap_get_length(const struct idle_gap *gap); /* ns */
/* Returns the covered share, 0 to 1. */
double busy_get_share(const struct busy *b);

#endif
