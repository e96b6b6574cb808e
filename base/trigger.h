/* SPDX-License-Identifier: Apache-2.0 */
/* What makes a flight recorder write a run by itself, as its options ptap_trigger_* say it. */
#ifndef BASE_TRIGGER_H
#define BASE_TRIGGER_H

#include <stddef.h>
#include <stdint.h>

struct diag;

enum trigger_kind {
	TRIGGER_SPAN, /* took longer than |bound_ns| */
	TRIGGER_COUNTER_ABOVE,
	TRIGGER_COUNTER_BELOW,
};

#define TRIGGER_NAME_BYTES 256u

/* Of what has a name. */
struct trigger {
	enum trigger_kind kind;
	int64_t bound_ns;
	double bound;
	size_t n_name;
	char name[TRIGGER_NAME_BYTES]; /* terminated */
};

/* So many of all kinds: each is a bit of a word. */
#define TRIGGERS_MAX 31u

struct trigger_list {
	struct trigger *v;
	size_t n;
	size_t n_allocated;
	double step_factor; /* of the median; 0: steps are not looked at */
};

/* All zero is the empty list. */
void trigger_list_deinit(struct trigger_list *list);

/*
 * Whether |text| is a value of ptap_trigger_span, ptap_trigger_counter, or ptap_trigger_step; what it says is added to |list|
 * unless that is NULL. 0, -EINVAL, or -ENOMEM.
 */
int trigger_parse_spans(const char *text, struct trigger_list *list);
int trigger_parse_counters(const char *text, struct trigger_list *list);
int trigger_parse_step(const char *text, struct trigger_list *list);

#endif
