/* SPDX-License-Identifier: Apache-2.0 */
/* Judges pictures; see judge.h. */
#include "tests/crash/judge.h"

#include <stdio.h>

#include "tests/crash/script.h"
#include "tests/crash/stage.h"

struct picture judge_expected[JUDGE_MAX_ACTS + 1];

bool judge_allows(const struct picture *p, size_t act)
{
	const struct picture *before = &judge_expected[act];
	const struct picture *after = &judge_expected[act + 1];

	return picture_is_same(p, before) || picture_is_same(p, after) ||
	       ((script[act].flags & ACT_TWO_PARTS) && picture_is_between(p, before, after));
}

static bool is_now(int64_t at, int64_t act_start, int64_t now)
{
	return at >= act_start && at <= now;
}

/* A row that existed before has its earlier times; a new one has times within its act. */
static bool has_right_times(
	const struct picture_row *row, const struct picture *last, int64_t act_start, int64_t now)
{
	for (size_t i = 0; i < last->n; i++) {
		const struct picture_row *old = &last->rows[i];

		if (old->start != row->start)
			continue;
		if (!old->is_unfinished && !row->is_unfinished && old->end == row->end)
			return true;
		if (old->is_unfinished && is_now(row->end, act_start, now))
			return true;
	}
	return is_now(row->start, act_start, now) && is_now(row->end, act_start, now);
}

static bool are_times_right(const struct picture *p, const struct picture *last)
{
	int64_t act_start = (int64_t)(stage->act_ticks - stage->capture.start_ticks);
	int64_t now = (int64_t)(stage_now() - stage->capture.start_ticks);

	for (size_t i = 0; i < p->n; i++)
		if (p->rows[i].start && !has_right_times(&p->rows[i], last, act_start, now))
			return false;
	return true;
}

void judge_say(const struct picture *p, size_t act, size_t step)
{
	printf("# act %zu (%s), stop %zu\n", act, script[act].name, step);
	picture_print(p, "seen");
	picture_print(&judge_expected[act], "before");
	picture_print(&judge_expected[act + 1], "after");
}

bool judge_next(struct picture *p, struct picture *last, size_t act)
{
	bool is_right = judge_allows(p, act) &&
			((script[act].flags & ACT_AGED) || are_times_right(p, last));

	/* A record that was seen once stays. */
	if (is_right && picture_is_same(last, &judge_expected[act + 1]))
		is_right = picture_is_same(p, last);
	picture_free(last);
	*last = *p;
	return is_right;
}
