/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The triggers that make a flight recorder write a run by itself: the values of its options
 * ptap_trigger_*.
 */
#ifndef BASE_TRIGGER_H
#define BASE_TRIGGER_H

#include <stddef.h>
#include <stdint.h>

enum trigger_kind {
	TRIGGER_SPAN, /* a span took longer than |bound_ns| */
	TRIGGER_COUNTER_ABOVE,
	TRIGGER_COUNTER_BELOW,
};

#define TRIGGER_NAME_BYTES 256u

/* A trigger on a span or counter with a name. */
struct trigger {
	enum trigger_kind kind;
	int64_t bound_ns;
	double bound;
	size_t n_name;
	char name[TRIGGER_NAME_BYTES]; /* terminated */
};

/* The limit of all kinds together: each trigger is a bit of a word. */
#define TRIGGERS_MAX 31u

struct trigger_list {
	struct trigger *v;
	size_t n;
	size_t n_allocated;
	double step_factor; /* factor of the median step; 0: steps are not watched */
};

/* All zero is the empty list. */
void trigger_list_deinit(struct trigger_list *list);

/*
 * Parses a value of ptap_trigger_span, ptap_trigger_counter, or ptap_trigger_step, and adds its
 * triggers to |list| unless that is NULL. 0, -EINVAL, or -ENOMEM.
 */
int trigger_parse_spans(const char *text, struct trigger_list *list);
int trigger_parse_counters(const char *text, struct trigger_list *list);
int trigger_parse_step(const char *text, struct trigger_list *list);

#endif
