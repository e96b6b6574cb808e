/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why slow steps and requests were slow: what is different in them, compared with typical ones of the same name.
 *
 * A unit is one step, one request or one async span. A request is a span that has no span around it on its thread, of a name
 * that occurs SLOW_MIN_REQUESTS times or more. A span that is there only to hold requests (a thread's main loop: it occurs
 * less often, or once on its thread around many of one name) does not count as one around them.
 *
 * Of a unit on a thread, what lies inside of it on that thread is kept as a tree of names. What ran elsewhere is the time that
 * spans on other threads, and on devices, had in common with it. An async span has no thread: all threads are elsewhere, and its tree
 * is of spans that have its id (slow_ties.h).
 *
 * The units are known from a second reading, what ran elsewhere from a third one. Memory grows with the names in the units, at
 * most SLOW_MAX_NODES places in the tree of each group, and with the names that ran elsewhere.
 */
#ifndef TRACE_REPORT_SLOW_H
#define TRACE_REPORT_SLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/report/name_map.h"

struct cpu_shares;
struct diag;
struct digest;
struct row;
struct view_track;

#define SLOW_GROUPS 8 /* those that lost most time are looked into */
#define SLOW_MIN_REQUESTS 20
#define SLOW_MIN_STEPS 5
#define SLOW_MAX_NODES 4096
#define SLOW_NO_NODE UINT32_MAX
#define SLOW_ALL_PLANES SIZE_MAX

enum slow_kind {
	SLOW_STEPS,
	SLOW_REQUESTS,
	SLOW_ASYNCS,
};

/* The two kinds of units that are compared; the others are between them. */
enum slow_side {
	SIDE_SLOW,
	SIDE_TYPICAL,
	SLOW_SIDES,
	SIDE_NONE = SLOW_SIDES,
};

/* A place in the tree: spans of one name with the same names around them, up to the unit. */
struct slow_node {
	uint32_t name;
	uint32_t parent; /* SLOW_NO_NODE: it is the unit itself, which is the first node */
	uint64_t last_unit; /* number of the unit in which it was seen last */
	uint64_t n_units[SLOW_SIDES]; /* in how many it ran */
	uint64_t n[SLOW_SIDES]; /* how often */
	int64_t total_ns[SLOW_SIDES];
	int64_t self_ns[SLOW_SIDES];
};

/* Spans of one name that ran on other threads or devices while units of a group did. */
struct slow_other {
	uint32_t name;
	uint32_t around; /* name of the span around most of this time; ROW_OUTERMOST: none */
	const struct view_track *track; /* on which most of this time was spent */
	double open
		[SLOW_SIDES]; /* how many were open at a time, on average, while units of that side were */
};

/* A flow that came in while units of a group ran, later in slow ones. */
struct slow_flow {
	uint32_t name; /* of the mark where it came in */
	uint32_t
		into; /* name of the span around that mark; ROW_OUTERMOST: none. Of the slow one in which it came last */
	uint32_t from; /* of the span that it left */
	const struct view_track *track; /* that it left, likewise */
	uint64_t n_units[SLOW_SIDES]; /* in how many of those that were looked at it came in */
	double arrival_ns
		[SLOW_SIDES]; /* since the unit's begin, on average; of several in a unit the last one's */
	double from_ns[SLOW_SIDES]; /* duration of the span that it left */
};

/* Units of one name. */
struct slow_group {
	enum slow_kind kind;
	uint32_t name;
	size_t plane; /* of the digest: steps of a name that several programs have are a group for each. SLOW_ALL_PLANES: all of the name */
	uint8_t next; /* the next group of the name, of another plane */
	bool holds_requests; /* other requests lie inside of these, too */
	int64_t limit_ns; /* slow: as long or longer */
	int64_t typical_ns[2]; /* typical: from, to: the middle half of them */
	int64_t p50_ns;
	uint64_t n_expected[SLOW_SIDES]; /* as the durations of all spans of the name tell */
	uint64_t n; /* all of them that are whole */
	uint64_t n_units[SLOW_SIDES];
	int64_t total_ns[SLOW_SIDES];
	uint64_t n_looked[SLOW_SIDES]; /* of these, at whose ties somebody looked (slow_ties.h) */
	struct slow_flow *flows; /* which came most later first */
	size_t n_flows;
	struct slow_node *nodes; /* an async span's: of spans with its id (slow_ties.h) */
	size_t n_nodes;
	size_t n_nodes_allocated;
	struct name_map places; /* of nodes, by parent and name */
	struct slow_other *
		others; /* what ran more while slow ones did first; without what ran no more than usual, and without the nodes */
	size_t n_others;
};

struct slow {
	struct slow_group groups[SLOW_GROUPS]; /* which lost most time first */
	size_t n_groups;
	struct cpu_shares *cpu;
};

/*
 * Reads |g|'s view again. Slow are units that took |factor| times the median or longer (0: REPORT_SLOW), as slow.c chooses.
 * 0, or a negative errno with |d|; slow_free() in any case.
 */
int slow_make(struct digest *g, double factor, struct slow **out, struct diag *d);
struct slow *slow_free(struct slow *s); /* NULL ok; returns NULL */
static inline void slow_freep(struct slow **s)
{
	slow_free(*s);
}

/*
 * Whether a report tells of the group: more can be said of it than that it was slow, and it does not only wait for work. Nobody looks
 * for why a thread waited longer when there was less to do.
 */
bool slow_is_told(const struct slow *s, const struct slow_group *group);

/*
 * From which duration on steps of that name are slow, in the list of steps as in the comparison. Of names that are not compared, because
 * they are few or others lost more time: from |factor| times the median (0: REPORT_SLOW) on.
 */
int64_t slow_find_step_limit(
	const struct slow *s, size_t plane, const struct row *row, double factor);

/* The node of that name below |parent|, a new one if need be; SLOW_NO_NODE: there are too many. -ENOMEM is negative. */
int64_t slow_group_find_node(struct slow_group *group, uint32_t parent, uint32_t name);

/* How many units of a side were taken apart into the nodes. */
uint64_t slow_get_n_taken_apart(const struct slow_group *group, enum slow_side side);

/* Mean of a side's units, ns: of the unit (total), of a node inclusive, and by itself. 0 without units. */
double slow_get_mean(const struct slow_group *group, enum slow_side side);
double slow_get_total(
	const struct slow_group *group, const struct slow_node *n, enum slow_side side);
double slow_get_self(
	const struct slow_group *group, const struct slow_node *n, enum slow_side side);
/* The share of a side's units in which the node ran, 0 to 1. */
double slow_get_share(
	const struct slow_group *group, const struct slow_node *n, enum slow_side side);

/* How much longer the node took in the slow units than in the typical ones, ns: inclusive, and by itself. */
double slow_get_growth(const struct slow_group *group, uint32_t node);
double slow_get_self_growth(const struct slow_group *group, uint32_t node);

/* Lists at most |n_most| nodes below |parent|, those that grew most first; returns how many. */
size_t slow_list_grown(
	const struct slow_group *group, uint32_t parent, uint32_t *nodes, size_t n_most);

/* Processor time of the slow units less that of typical ones, as far as it is known: a part of all, and its error (2 sigma). */
bool slow_find_wait(
	const struct slow *s, const struct slow_group *group, double *wait_ns, double *error_ns);

#endif
