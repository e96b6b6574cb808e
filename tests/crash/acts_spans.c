/* SPDX-License-Identifier: Apache-2.0 */
/* Spans, with and without arguments; see acts.h. */
#include "tests/crash/acts.h"

#include <stdlib.h>
#include <string.h>

#include "tests/crash/script.h"
#include "tests/crash/stage.h"
#include "tests/unit/guest_fixture.h"

struct ptap_impl_token acts_outer;
static struct ptap_impl_token inner;
static struct ptap_impl_token ended;

char acts_long_text[ACTS_LONG_BYTES];

void act_make_long_text(void)
{
	memset(acts_long_text, 'x', sizeof acts_long_text - 1);
}

void act_begin(void)
{
	PTAP_BEGIN("a span");
}

void act_begin_inner(void)
{
	PTAP_BEGIN("a span in it");
}

void act_end_by_call(void)
{
	ptap_end();
}

void act_end(void)
{
	PTAP_END();
}

struct ptap_impl_site acts_outer_site = {0, {0}, "outer"};
static struct ptap_impl_site inner_site = {0, {0}, "inner"};

void act_begin_outer(void)
{
	PTAP_IMPL_DYN((acts_outer = ptap_impl_begin(&acts_outer_site, ptap_impl_w), 0));
}

void act_begin_nested(void)
{
	PTAP_IMPL_DYN((inner = ptap_impl_begin(&inner_site, ptap_impl_w), 0));
}

void act_end_outer(void)
{
	ended = acts_outer;
	ptap_impl_end(acts_outer);
}

void act_end_nested(void)
{
	ptap_impl_end(inner);
}

void act_end_again(void)
{
	ptap_impl_end(ended);
}

void act_end_foreign(void)
{
	struct ptap_impl_token token = acts_outer;

	token.ring = fixture_ring(1);
	token.word = stage->capture.word;
	ptap_impl_end(token);
}

void act_begin_dyn(void)
{
	ptap_begin_dyn("a name that is made at run time");
}

void act_begin_nameless(void)
{
	ptap_begin_dyn(NULL);
}

void act_begin_dyn_long(void)
{
	PTAP_IMPL_DYN((inner = ptap_impl_begin_dyn(acts_long_text, ptap_impl_w), 0));
}

struct ptap_impl_site acts_step_site = {0, {0}, "a step"};

void act_begin_step(void)
{
	PTAP_IMPL_DYN((inner = ptap_impl_begin_step(&acts_step_site, ptap_impl_w, 42), 0));
}

void act_begin_step_dyn(void)
{
	ptap_begin_step_dyn("a step with a name of its own", -7);
}

/* --- arguments ------------------------------------------------------------------------------ */

struct ptap_impl_site acts_args_site = {0, {0}, "a span with arguments"};
struct ptap_impl_site acts_many_site = {0, {0}, "a span with too many"};
static struct ptap_impl_site large_site = {0, {0}, "a span as large as can be"};
static struct ptap_impl_site again_site = {0, {0}, "a span that is too large with its duration"};

void act_begin_args(void)
{
	const struct ptap_impl_arg args[] = {
		PTAP_I("a number", -1),
		PTAP_U("another", UINT64_MAX),
		PTAP_F("a fraction", 0.25),
		PTAP_P("a place", (void *)0x1234),
		PTAP_S("a text", "of more than eight bytes"),
		PTAP_S("short", "text"),
		PTAP_S("none", NULL),
	};

	PTAP_IMPL_DYN((inner = ptap_impl_begin_args(&acts_args_site, ptap_impl_w, args, 7), 0));
}

const struct ptap_impl_arg *acts_many_args(void)
{
	static struct ptap_impl_arg args[PTAP_IMPL_MAX_ARGS + 1];

	for (int i = 0; i <= PTAP_IMPL_MAX_ARGS; i++)
		args[i] = PTAP_I("one of many", i);
	return args;
}

void act_begin_many_args(void)
{
	const struct ptap_impl_arg *args = acts_many_args();

	PTAP_IMPL_DYN((inner = ptap_impl_begin_args(
			       &acts_many_site, ptap_impl_w, args, PTAP_IMPL_MAX_ARGS + 1),
		0));
}

void act_begin_many_late(void)
{
	acts_outer = ptap_impl_begin_args(
		&acts_many_site, stage->capture.word, acts_many_args(), PTAP_IMPL_MAX_ARGS + 1);
}

void act_begin_large(void)
{
	const struct ptap_impl_arg args[] = {PTAP_S("all", acts_long_text)};

	PTAP_IMPL_DYN((inner = ptap_impl_begin_args(&large_site, ptap_impl_w, args, 1), 0));
}

void act_begin_large_again(void)
{
	const struct ptap_impl_arg args[] = {PTAP_S("all", acts_long_text)};

	PTAP_IMPL_DYN((inner = ptap_impl_begin_args(&again_site, ptap_impl_w, args, 1), 0));
}

static struct ptap_impl_site numbers_site = {0, {0}, "a span with numbers"};

void act_begin_numbers(void)
{
	const struct ptap_impl_arg args[] = {
		PTAP_I("a number", -1), PTAP_U("a large one", UINT64_MAX)};

	PTAP_IMPL_DYN((inner = ptap_impl_begin_args(&numbers_site, ptap_impl_w, args, 2), 0));
}

static struct ptap_impl_site all_numbers_site = {0, {0}, "a span with as many numbers as can be"};

void act_begin_all_numbers(void)
{
	const struct ptap_impl_arg args[PTAP_IMPL_MAX_ARGS] = {PTAP_I("1", -1), PTAP_U("2", 2),
		PTAP_F("3", 0.3), PTAP_P("4", (void *)0x4), PTAP_I("5", 5), PTAP_U("6", 6),
		PTAP_F("7", 0.7), PTAP_P("8", (void *)0x8)};

	PTAP_IMPL_DYN((inner = ptap_impl_begin_args(
			       &all_numbers_site, ptap_impl_w, args, PTAP_IMPL_MAX_ARGS),
		0));
}

static struct ptap_impl_site no_args_site = {0, {0}, "a span without arguments"};

void act_begin_no_args(void)
{
	PTAP_IMPL_DYN((inner = ptap_impl_begin_args(&no_args_site, ptap_impl_w, NULL, 0), 0));
}

static struct ptap_impl_site short_site = {0, {0}, "a span with short texts"};

void act_begin_short_args(void)
{
	const struct ptap_impl_arg args[] = {
		PTAP_S("1", "a"),
		PTAP_S("2", "ab"),
		PTAP_S("3", "abc"),
		PTAP_S("7", "abcdefg"),
		PTAP_S("9", "abcdefghi"),
	};

	PTAP_IMPL_DYN((inner = ptap_impl_begin_args(&short_site, ptap_impl_w, args, 5), 0));
}
