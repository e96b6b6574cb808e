/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs use ids of flows again for later flows. If all ends with one id were one flow, viewers
 * would draw arrows from one use of the id to the next. So each use gets an id of its own: an
 * arriving end belongs to the last leaving end before it. If records were lost between these ends,
 * they may belong to different uses: then the arriving end is joined to nothing, unless the program
 * uses no id of flows with this name again.
 *
 * This is done for proftap's own flow marks only: devices' libraries never use a number again.
 */
#ifndef TRACE_READ_FLOW_USES_H
#define TRACE_READ_FLOW_USES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diag;
struct item;
struct view;
struct view_track;

/*
 * Mixes the bits of |x| like splitmix64: numbers that differ in one bit become numbers that differ
 * in half of their bits.
 */
static inline uint64_t flow_id_mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* An end of a flow. */
struct flow_use {
	uint64_t flow; /* the id in the file */
	uint64_t use; /* its id in the view; 0: it joins nothing */
	int64_t ns;
	uint32_t track;
	uint32_t name;
	bool is_in;
};

struct flow_uses {
	struct flow_use *v; /* ends whose id in the view differs from that in the file */
	size_t n;
	size_t n_allocated;
};

/*
 * Fills in view->flow_uses, and adds a note on ends that join nothing. It reads all threads that
 * have flow marks, and takes 40 bytes for each mark meanwhile. 0, or a negative errno with |d|.
 */
int flow_uses_make(struct view *view, struct diag *d);
void flow_uses_deinit(struct flow_uses *u);
/* Replaces the flow ids of |item|, which are those of the file, by those of the view. */
void flow_uses_apply(const struct view *view, const struct view_track *track, struct item *item);

#endif
