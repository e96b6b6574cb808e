/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the acts; see script.h. */
#include "tests/crash/script.h"

#include "tests/crash/acts.h"
#include "tests/crash/inside.h"

#define LOUD 0

/*
 * Acts that run twice: in a capture by ticks, which takes lib/record/fast_path.h, and in one by
 * CLOCK_MONOTONIC, which takes slow_path.h. No comma follows the last act.
 */
/* clang-format off */
#define ACTS_IN_A_FULL_RING \
	{"span", act_begin, LOUD}, \
	{"instant", act_instant, LOUD}, \
	{"step before", act_begin_step, LOUD}, \
	{"arguments before", act_begin_args, LOUD}, \
	{"fill", act_fill_ring, ACT_QUIET}, \
	{"does not fit", act_counter_i, LOUD}, \
	{"fits", act_instant, LOUD}, \
	{"full", act_instant, LOUD}, \
	{"full counter with a fraction", act_counter_f, LOUD}, \
	{"full flow", act_flow_out, LOUD}, \
	{"full dynamic", act_instant_dyn_long, ACT_TWO_PARTS}, \
	{"end of arguments in a full ring", act_end, LOUD}, \
	{"end of a step in a full ring", act_end, LOUD}, \
	{"end in a full ring", act_end, ACT_DISTURBED}, \
	{"drained", act_empty_rings, ACT_QUIET}, \
	{"fits again", act_begin_args, LOUD}, \
	{"end of arguments fits again", act_end_nested, ACT_DISTURBED}, \
	{"fill", act_fill_ring, ACT_QUIET}, \
	{"fits", act_instant, ACT_QUIET}, \
	{"drained", act_empty_rings, ACT_QUIET}, \
	{"instant fits again", act_instant, LOUD}, \
	{"fill", act_fill_ring, ACT_QUIET}, \
	{"drained", act_empty_rings, ACT_QUIET}, \
	{"counter fits again", act_counter_i, ACT_DISTURBED}, \
	{"span before", act_begin, LOUD}, \
	{"fill", act_fill_ring, ACT_QUIET}, \
	{"fits", act_instant, LOUD}, \
	{"drained", act_empty_rings, ACT_QUIET}, \
	{"its end fits again", act_end, ACT_DISTURBED}

#define ACTS_THAT_ARE_LATE \
	{"capture that ends", act_begin_outer, LOUD}, \
	{"stop", act_stop, ACT_QUIET}, \
	{"its end, late", act_end_outer, LOUD}, \
	{"end without a token", act_end, LOUD}, \
	{"late begin", act_begin_late, LOUD}, \
	{"late dynamic begin", act_begin_dyn_late, LOUD}, \
	{"late arguments", act_begin_args_late, LOUD}, \
	{"late step", act_begin_step_late, LOUD}, \
	{"late instant", act_instant_late, LOUD}, \
	{"late end", act_end_top_late, LOUD}, \
	{"begin of no capture", act_begin_of_no_capture, LOUD}, \
	{"late with too many", act_begin_many_late, LOUD}, \
	{"dynamic begin, off", act_begin_dyn, LOUD}, \
	{"dynamic step, off", act_begin_step_dyn, LOUD}, \
	{"end, off", act_end_by_call, LOUD}, \
	{"dynamic instant, off", act_instant_dyn, LOUD}, \
	{"dynamic counter, off", act_counter_dyn, LOUD}, \
	{"dynamic flow, off", act_flow_in_dyn, LOUD}, \
	{"dynamic flow out, off", act_flow_out_dyn, LOUD}, \
	{"dynamic async begin, off", act_async_begin_dyn, LOUD}, \
	{"dynamic async end, off", act_async_end_dyn, LOUD}, \
	{"capture goes on", act_go_on, ACT_QUIET}, \
	{"end of what was late", act_end, LOUD}

/* The last acts of a capture: they change the begin of a span that is open. */
#define ACTS_OF_AGED \
	{"old span", act_begin, ACT_QUIET}, \
	{"grows old", act_grow_old, ACT_QUIET}, \
	{"ends", act_end, ACT_AGED}, \
	{"old span with a name", act_begin_dyn, ACT_QUIET}, \
	{"grows old", act_grow_old, ACT_QUIET}, \
	{"ends", act_end, ACT_AGED}, \
	{"old span with too much", act_begin_large_again, ACT_QUIET}, \
	{"grows old", act_grow_old, ACT_QUIET}, \
	{"ends", act_end_nested, ACT_AGED}, \
	{"span of the future", act_begin, ACT_QUIET}, \
	{"clock steps back", act_step_back, ACT_QUIET}, \
	{"ends", act_end, ACT_AGED}
/* clang-format on */

const struct act script[] = {
	{"make long text", act_make_long_text, ACT_QUIET},
	{"start", act_start_by_ticks, ACT_QUIET},
	{"ask for a level", act_ask, LOUD},
	{"first span", act_begin, LOUD},
	{"instant", act_instant, LOUD},
	{"end of the first span", act_end, LOUD},
	{"span", act_begin, LOUD},
	{"span in it", act_begin_inner, LOUD},
	{"end", act_end, ACT_DISTURBED},
	{"instant again", act_instant, LOUD},
	{"end of the outer one", act_end, LOUD},
	{"end without a begin", act_end, LOUD},
	{"name", act_name_thread, LOUD},
	{"another name", act_name_thread_anew, LOUD},
	{"arguments", act_begin_args, LOUD},
	{"end", act_end_nested, LOUD},
	{"arguments again", act_begin_args, ACT_DISTURBED},
	{"end again", act_end_nested, ACT_DISTURBED},
	{"too many arguments", act_begin_many_args, ACT_TWO_PARTS},
	{"end of too many", act_end_nested, LOUD},
	{"no arguments", act_begin_no_args, LOUD},
	{"end of none", act_end_nested, LOUD},
	{"short texts", act_begin_short_args, LOUD},
	{"end of short texts", act_end_nested, LOUD},
	{"large", act_begin_large, ACT_TWO_PARTS},
	{"end of large", act_end_nested, LOUD},
	{"dynamic", act_begin_dyn, LOUD},
	{"end of dynamic", act_end, LOUD},
	{"nameless", act_begin_nameless, LOUD},
	{"end of nameless", act_end_by_call, LOUD},
	{"long name", act_begin_dyn_long, ACT_TWO_PARTS},
	{"end of long name", act_end_nested, LOUD},
	{"step", act_begin_step, LOUD},
	{"dynamic step", act_begin_step_dyn, ACT_DISTURBED},
	{"end of dynamic step", act_end, LOUD},
	{"end of step", act_end, LOUD},
	{"dynamic instant", act_instant_dyn, LOUD},
	{"counter", act_counter_i, LOUD},
	{"counter with a fraction", act_counter_f, LOUD},
	{"counter again", act_counter_i, ACT_DISTURBED},
	{"counter with a fraction again", act_counter_f, ACT_DISTURBED},
	{"dynamic counter", act_counter_dyn, LOUD},
	{"flow out", act_flow_out, LOUD},
	{"flow out again", act_flow_out, ACT_DISTURBED},
	{"numbers", act_begin_numbers, LOUD},
	{"end of numbers", act_end_nested, LOUD},
	{"numbers again", act_begin_numbers, ACT_DISTURBED},
	{"end of numbers again", act_end_nested, ACT_DISTURBED},
	{"all numbers", act_begin_all_numbers, LOUD},
	{"end of all numbers", act_end_nested, LOUD},
	{"all numbers again", act_begin_all_numbers, ACT_DISTURBED},
	{"end of all numbers again", act_end_nested, ACT_DISTURBED},
	{"flow in", act_flow_in_dyn, LOUD},
	{"dynamic flow out", act_flow_out_dyn, LOUD},
	{"async begin", act_async_begin, LOUD},
	{"dynamic async begin", act_async_begin_dyn, LOUD},
	{"async end", act_async_end, LOUD},
	{"dynamic async end", act_async_end_dyn, LOUD},
	{"outer", act_begin_outer, LOUD},
	{"nested", act_begin_nested, LOUD},
	{"end of outer", act_end_outer, ACT_TWO_PARTS | ACT_DISTURBED},
	{"end of nested, late", act_end_nested, LOUD},
	{"outer ends twice", act_end_again, LOUD},
	{"outer again", act_begin_outer, LOUD},
	{"end of another thread's span", act_end_foreign, LOUD},
	{"guard", act_take_guard, ACT_QUIET},
	{"span in a handler", act_begin, LOUD},
	{"its end", act_end, LOUD},
	{"dynamic span in a handler", act_begin_dyn, LOUD},
	{"its end", act_end, LOUD},
	{"step in a handler", act_begin_step, LOUD},
	{"dynamic step in a handler", act_begin_step_dyn, LOUD},
	{"its end", act_end, LOUD},
	{"arguments in a handler", act_begin_args, LOUD},
	{"instant in a handler", act_instant, LOUD},
	{"dynamic instant in a handler", act_instant_dyn, LOUD},
	{"counter in a handler", act_counter_i, LOUD},
	{"dynamic counter in a handler", act_counter_dyn, LOUD},
	{"an end in a handler", act_end_outer, LOUD},
	{"end of another thread's span in a handler", act_end_foreign, LOUD},
	{"another level in a handler", act_change_level, ACT_QUIET},
	{"span in a handler at another level", act_begin, LOUD},
	{"its end", act_end, LOUD},
	{"no guard", act_free_guard, ACT_QUIET},
	{"span at a level", act_begin, ACT_DISTURBED},
	{"another level", act_change_level, ACT_QUIET},
	{"its end at another level", act_end, ACT_DISTURBED},
	{"end without a begin at another level", act_end, LOUD},
	{"counter at another level", act_counter_i, LOUD},
	{"outer at a level", act_begin_outer, LOUD},
	{"another level", act_change_level, ACT_QUIET},
	{"end of outer at another level", act_end_outer, LOUD},
	{"deep", act_fill_stack, ACT_QUIET},
	{"too deep", act_begin, LOUD},
	{"another level", act_change_level, ACT_QUIET},
	{"its end", act_end, LOUD},
	{"dynamic and too deep", act_begin_dyn, LOUD},
	{"its end", act_end, LOUD},
	{"arguments and too deep", act_begin_args, LOUD},
	{"step and too deep", act_begin_step, LOUD},
	{"dynamic step and too deep", act_begin_step_dyn, LOUD},
	{"its end", act_end, LOUD},
	{"instant in the full stack", act_instant, LOUD},
	{"empty stack", act_empty_stack, ACT_QUIET},
	{"fill", act_fill_ring, ACT_QUIET},
	{"full in the first capture", act_counter_i, LOUD},
	{"drained", act_empty_rings, ACT_QUIET},
	ACTS_IN_A_FULL_RING,
	ACTS_THAT_ARE_LATE,
	ACTS_OF_AGED,
	{"next capture", act_start_by_monotonic, ACT_QUIET},
	ACTS_IN_A_FULL_RING,
	ACTS_THAT_ARE_LATE,
	ACTS_OF_AGED,
	{"another capture", act_start_by_monotonic, ACT_QUIET},
	{"a name that is cut", act_instant_with_a_cut_name, LOUD},
	{"full table", act_fill_strings, ACT_QUIET},
	{"too many names", act_instant_too_many, LOUD},
	{"free table", act_free_strings, ACT_QUIET},
	{"a name fits again", act_instant_at_the_end_of_the_table, LOUD},
	{"no more pages", act_use_up_pages, ACT_QUIET},
	{"name without a page", act_instant_without_page, LOUD},
	{"free table", act_free_strings, ACT_QUIET},
	{"no pages at all", act_take_pages_away, ACT_QUIET},
	{"name without any page", act_counter_without_page, LOUD},
	{"free table", act_free_strings, ACT_QUIET},
	{"second thread", inside_forget_thread, ACT_QUIET},
	{"its name", act_name_second_thread, LOUD},
	{"its first span", act_begin, ACT_DISTURBED},
	{"no ring", act_be_a_thread_without_ring, ACT_QUIET},
	{"instant without a ring", act_instant, LOUD},
	{"another", act_instant, LOUD},
	{"span without a ring", act_begin, LOUD},
	{"span with a token without a ring", act_begin_outer, LOUD},
	{"dynamic span without a ring", act_begin_dyn, LOUD},
	{"span with arguments without a ring", act_begin_args, LOUD},
	{"step without a ring", act_begin_step, LOUD},
	{"dynamic step without a ring", act_begin_step_dyn, LOUD},
	{"dynamic instant without a ring", act_instant_dyn, LOUD},
	{"counter without a ring", act_counter_i, LOUD},
	{"dynamic counter without a ring", act_counter_dyn, LOUD},
	{"end of another thread's span without a ring", act_end_foreign, LOUD},
	{"third thread", act_be_a_third_thread, ACT_QUIET},
	{"begins with a span", act_begin, LOUD},
	{"third thread", act_be_a_third_thread, ACT_QUIET},
	{"begins with a span with a token", act_begin_outer, LOUD},
	{"third thread", act_be_a_third_thread, ACT_QUIET},
	{"begins with a dynamic span", act_begin_dyn, LOUD},
	{"third thread", act_be_a_third_thread, ACT_QUIET},
	{"begins with a span with arguments", act_begin_args, LOUD},
	{"third thread", act_be_a_third_thread, ACT_QUIET},
	{"begins with a step", act_begin_step, LOUD},
	{"third thread", act_be_a_third_thread, ACT_QUIET},
	{"begins with a dynamic step", act_begin_step_dyn, LOUD},
	{"third thread", act_be_a_third_thread, ACT_QUIET},
	{"begins with a dynamic instant", act_instant_dyn, LOUD},
	{"third thread", act_be_a_third_thread, ACT_QUIET},
	{"begins with a counter", act_counter_i, LOUD},
	{"third thread", act_be_a_third_thread, ACT_QUIET},
	{"begins with a dynamic counter", act_counter_dyn, LOUD},
	{"third thread", act_be_a_third_thread, ACT_QUIET},
	{"begins with the end of another thread's span", act_end_foreign, LOUD},
	{"bad ring", act_be_a_thread_with_a_bad_ring, ACT_QUIET},
	{"instant without its ring", act_instant, LOUD},
	{"late ring", act_be_a_thread_with_a_late_ring, ACT_QUIET},
	{"instant with it", act_instant, LOUD},
	{"capture by ticks", act_start_by_ticks, ACT_QUIET},
	{"first annotation left by siglongjmp", act_be_interrupted_on_the_way, ACT_QUIET},
	{"instant after siglongjmp", act_instant, LOUD},
	{"capture by calls", act_start_by_call, ACT_QUIET},
	{"third thread", act_be_a_third_thread, ACT_QUIET},
	{"instant by call", act_instant, LOUD},
	{"forked child, while another thread joins", act_be_followed_too_early, ACT_QUIET},
	{"instant while another thread joins", act_instant, LOUD},
	{"forked child that finds no capture", act_be_followed_in_vain, ACT_QUIET},
	{"instant that does not join", act_instant, LOUD},
	{"forked child that joins", act_be_followed, ACT_QUIET},
	{"instant that joins", act_instant, LOUD},
	{"no processor's counter", inside_forget_thread, ACT_QUIET},
	{"instant without the processor's counter", act_instant_without_the_counter, LOUD},
};

const struct act careless_act = {"instant out of order", act_instant_out_of_order, LOUD};
const size_t script_length = sizeof script / sizeof script[0];
