/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out why slow steps and requests were slow: compares slow units with typical ones of the
 * same name.
 *
 * A unit is one step, one request or one async span. A request is a span of a name that occurs
 * SLOW_MIN_REQUESTS times or more, and has no span around it on its thread. Spans that only hold
 * requests do not count as spans around them: a thread's main loop, for example, occurs less often,
 * or once on its thread around many spans of one name.
 *
 * The spans inside of a unit, on the unit's thread, are kept as a tree of names. For spans on other
 * threads and on devices, the time that they ran together with the unit is kept. An async span has
 * no thread: all threads are other threads, and its tree is made of the spans that have its id
 * (slow_ties.c).
 *
 * A second reading of the view finds the units, and a third one the spans on other threads. Memory
 * grows with the names inside of units, up to SLOW_MAX_NODES nodes in the tree of each group, and
 * with the names that ran on other threads.
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
struct item;
struct row;
struct slow_others;
struct slow_ties;
struct view_track;

#define SLOW_GROUPS 8 /* limit of groups; those that lost most time are chosen */
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

/* The two kinds of units that are compared. All other units have SIDE_NONE. */
enum slow_side {
	SIDE_SLOW,
	SIDE_TYPICAL,
	SLOW_SIDES,
	SIDE_NONE = SLOW_SIDES,
};

/* A node of the tree: spans of one name that have the same names around them, up to the unit. */
struct slow_node {
	uint32_t name;
	uint32_t parent; /* SLOW_NO_NODE for the unit itself, which is the first node */
	uint64_t last_unit; /* number of the last unit that had it */
	uint64_t n_units[SLOW_SIDES]; /* number of units that had it */
	uint64_t n[SLOW_SIDES]; /* number of its spans */
	int64_t total_ns[SLOW_SIDES];
	int64_t self_ns[SLOW_SIDES];
};

/* Spans of one name that ran on other threads or devices while units of a group ran. */
struct slow_other {
	uint32_t name;
	uint32_t around; /* name of the span around most of this time; ROW_OUTERMOST: none */
	const struct view_track *track; /* the track on which most of this time was spent */
	double open[SLOW_SIDES]; /* mean number of open spans while units of that side ran */
};

/* A flow that arrived while units of a group ran, and later in slow ones than in typical ones. */
struct slow_flow {
	uint32_t name; /* name of the mark where it arrived */
	/*
	 * Name of the span around that mark, in the slow unit where it arrived longest after the
	 * unit's begin; ROW_OUTERMOST: none
	 */
	uint32_t into;
	uint32_t from; /* name of the span that it left */
	const struct view_track *track; /* the track that it left, for the same unit */
	uint64_t n_units[SLOW_SIDES]; /* number of examined units in which it arrived */
	/* Mean time since the unit's begin; if several arrived in a unit, that of the last one */
	double arrival_ns[SLOW_SIDES];
	double from_ns[SLOW_SIDES]; /* mean duration of the span that it left */
};

/* Units of one name. */
struct slow_group {
	enum slow_kind kind;
	uint32_t name;
	/*
	 * The digest's plane, if several programs have steps of the name and so a group each; else
	 * SLOW_ALL_PLANES
	 */
	size_t plane;
	uint8_t next; /* index of the name's next group, of another plane */
	bool holds_requests; /* the units contain requests of other names */
	int64_t limit_ns; /* units of this duration or more are slow */
	int64_t typical_ns[2]; /* units between these durations, the middle half, are typical */
	int64_t p50_ns;
	uint64_t n_expected[SLOW_SIDES]; /* estimated from the durations of all spans of the name */
	uint64_t n; /* number of whole units */
	uint64_t n_units[SLOW_SIDES];
	int64_t total_ns[SLOW_SIDES];
	uint64_t n_examined[SLOW_SIDES]; /* units whose ties were examined (slow_ties.c) */
	struct slow_flow *flows; /* sorted by delay against typical units, longest first */
	size_t n_flows;
	/* The nodes of async spans are made of the spans with their id (slow_ties.c) */
	struct slow_node *nodes;
	size_t n_nodes;
	size_t n_nodes_allocated;
	struct name_map places; /* places of nodes, by parent and name */
	/* Names that ran more while slow units ran, the most first; without the names of nodes */
	struct slow_other *others;
	size_t n_others;
};

struct slow {
	struct slow_group groups[SLOW_GROUPS]; /* sorted by lost time, most first */
	size_t n_groups;
	struct cpu_shares *cpu;
};

/*
 * Reads |g|'s view again. A name is compared if some of its units took |factor| times the median or
 * longer (0: REPORT_SLOW); slow_choice.c chooses the limit. 0, or a negative errno with |d|; call
 * slow_free() in any case.
 */
int slow_make(struct digest *g, double factor, struct slow **out, struct diag *d);
struct slow *slow_free(struct slow *s); /* NULL ok; returns NULL */
static inline void slow_freep(struct slow **s)
{
	slow_free(*s);
}

/*
 * True if a report shows the group: inner spans, other spans or flows are known for it, and its
 * units do not only wait for work. A thread that waited longer because there was less to do is not
 * worth a report.
 */
bool slow_is_told(const struct slow *s, const struct slow_group *group);

/*
 * Returns the duration from which on steps of that name are slow, in the list of steps and in the
 * comparison. For names that are not compared, because there are few steps or others lost more
 * time, it is |factor| times the median (0: REPORT_SLOW).
 */
int64_t slow_find_step_limit(
	const struct slow *s, size_t plane, const struct row *row, double factor);

/*
 * Returns the node of that name below |parent|, which is added if it is new; SLOW_NO_NODE if there
 * are too many; or -ENOMEM.
 */
int64_t slow_group_find_node(struct slow_group *group, uint32_t parent, uint32_t name);

/* Returns the number of a side's units whose spans are in the nodes. */
uint64_t slow_get_n_taken_apart(const struct slow_group *group, enum slow_side side);

/*
 * These return a mean over a side's units in ns, 0 without units: of the unit's duration, of a
 * node's total time, and of its self time.
 */
double slow_get_mean(const struct slow_group *group, enum slow_side side);
double slow_get_total(
	const struct slow_group *group, const struct slow_node *n, enum slow_side side);
double slow_get_self(
	const struct slow_group *group, const struct slow_node *n, enum slow_side side);
/* Returns the share of a side's units that have the node, 0 to 1. */
double slow_get_share(
	const struct slow_group *group, const struct slow_node *n, enum slow_side side);

/*
 * These return the growth of a node's mean time from typical to slow units, in ns: of its total
 * time, and of its self time.
 */
double slow_get_growth(const struct slow_group *group, uint32_t node);
double slow_get_self_growth(const struct slow_group *group, uint32_t node);

/*
 * Lists at most |n_most| nodes below |parent|, sorted by growth, most first; returns their number.
 */
size_t slow_list_grown(
	const struct slow_group *group, uint32_t parent, uint32_t *nodes, size_t n_most);

/*
 * Finds the mean time in which slow units did not use a processor, and its error (2 sigma); false
 * if it is not known.
 */
bool slow_find_wait(
	const struct slow *s, const struct slow_group *group, double *wait_ns, double *error_ns);

/* --- choosing groups -------------------------------------------------------------------------- */

/* Chooses the groups of a comparison of slow units with typical ones. */

/*
 * Fills in s->groups, those that lost most time first. |factor| is that of slow_make(). 0 or
 * -ENOMEM.
 */
int slow_choose_groups(struct digest *g, struct slow *s, double factor);

/* --- spans of other threads ------------------------------------------------------------------- */

/*
 * Finds the spans that ran on other threads and devices while slow units ran, and while typical
 * ones ran. At most SLOW_OTHERS_WINDOWS units of each side of a group are examined, spread over all
 * of them.
 */

#define SLOW_OTHERS_WINDOWS 1024

/* 0 or -ENOMEM; call slow_others_free() in any case. */
int slow_others_new(struct slow *s, const struct digest *g, struct slow_others **out);
struct slow_others *slow_others_free(struct slow_others *o); /* NULL ok; returns NULL */

/*
 * The units that are added next are on |track|; NULL: they are on no thread, so that all tracks are
 * others.
 */
void slow_others_begin(struct slow_others *o, const struct view_track *track);
/* Adds a unit. Those of one track must come in the order of their starts. 0 or -ENOMEM. */
int slow_others_add(
	struct slow_others *o, size_t group, enum slow_side side, int64_t start_ns, int64_t end_ns);
/*
 * Reads the spans that ran at the same time, after all units were added, and fills in
 * group->others. 0, or a negative errno with |d|.
 */
int slow_others_find(struct slow_others *o, struct diag *d);

/* --- tied spans ------------------------------------------------------------------------------- */

/*
 * Finds the spans and flows on other threads that the trace ties to slow units, and to typical
 * ones:
 *
 *   flows         that arrived in a unit on its thread, and the spans that they left
 *   async spans   have no thread. The spans on threads that have their id belong to them: the id
 *                 is the argument "id" of the span, or of the mark of a flow directly inside of
 *                 it. A span around the whole async span does not belong to it.
 *
 * At most SLOW_TIES_UNITS units of each side of a group are examined, spread over all of them.
 */

#define SLOW_TIES_UNITS 1024

int slow_ties_new(struct slow *s, const struct digest *g, struct slow_ties **out);
struct slow_ties *slow_ties_free(struct slow_ties *t); /* NULL ok; returns NULL */

/*
 * Adds a unit of |group|, on |track|, which is NULL for async spans. Units of one thread must come
 * in order. 0 or -ENOMEM.
 */
int slow_ties_add(struct slow_ties *t, size_t group, enum slow_side side, const struct item *unit,
	const struct view_track *track);
/*
 * Fills in the flows of groups, and the nodes of async spans, after all units were added. 0, or a
 * negative errno with |d|.
 */
int slow_ties_find(struct slow_ties *t, struct diag *d);

#endif
