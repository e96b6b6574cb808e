/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The acts of the script. Each makes one annotation, or prepares the next one; the table in
 * script.c names the purpose of each.
 */
#ifndef TESTS_CRASH_ACTS_H
#define TESTS_CRASH_ACTS_H

#include <proftap/proftap.h>
#include <stdint.h>

struct ring;

/* The ring of the first thread. */
struct ring *acts_ring(void);
/* The index of a ring whose memory an act has removed. */
extern uint32_t acts_bad_ring;

/* Longer than any name or argument may be. */
#define ACTS_LONG_BYTES 600
extern char acts_long_text[ACTS_LONG_BYTES];

/* The token and the site of the last span that an act began with such a token. */
extern struct ptap_impl_token acts_outer;
extern struct ptap_impl_site acts_outer_site;
extern struct ptap_impl_site acts_step_site;
extern struct ptap_impl_site acts_args_site;
extern struct ptap_impl_site acts_many_site;
/* PTAP_IMPL_MAX_ARGS + 1. */
const struct ptap_impl_arg *acts_many_args(void);

void act_make_long_text(void);
void act_start_by_ticks(void);
void act_ask(void);
void act_begin(void);
void act_instant(void);
void act_end(void);
void act_begin_inner(void);
void act_name_thread(void);
void act_name_thread_anew(void);
void act_begin_args(void);
void act_end_nested(void);
void act_begin_many_args(void);
void act_begin_numbers(void);
void act_begin_all_numbers(void);
void act_begin_no_args(void);
void act_begin_short_args(void);
void act_begin_large(void);
void act_begin_dyn(void);
void act_begin_nameless(void);
void act_end_by_call(void);
void act_begin_dyn_long(void);
void act_begin_step(void);
void act_begin_step_dyn(void);
void act_instant_dyn(void);
void act_counter_i(void);
void act_counter_f(void);
void act_counter_dyn(void);
void act_flow_out(void);
void act_flow_in_dyn(void);
void act_flow_out_dyn(void);
void act_async_begin(void);
void act_async_begin_dyn(void);
void act_async_end(void);
void act_async_end_dyn(void);
void act_begin_outer(void);
void act_begin_nested(void);
void act_end_outer(void);
void act_end_again(void);
void act_end_foreign(void);
void act_take_guard(void);
void act_free_guard(void);
void act_fill_stack(void);
void act_empty_stack(void);
void act_grow_old(void);
void act_begin_large_again(void);
void act_step_back(void);
void act_start_by_monotonic(void);
void act_fill_ring(void);
void act_instant_dyn_long(void);
void act_instant_with_a_cut_name(void);
void act_empty_rings(void);
void act_stop(void);
void act_change_level(void);
void act_begin_late(void);
void act_begin_dyn_late(void);
void act_begin_args_late(void);
void act_begin_step_late(void);
void act_instant_late(void);
void act_end_top_late(void);
void act_begin_of_no_capture(void);
void act_begin_many_late(void);
void act_go_on(void);
void act_fill_strings(void);
void act_instant_too_many(void);
void act_free_strings(void);
void act_instant_at_the_end_of_the_table(void);
void act_use_up_pages(void);
void act_instant_without_page(void);
void act_take_pages_away(void);
void act_counter_without_page(void);
void act_name_second_thread(void);
void act_be_a_thread_without_ring(void);
void act_be_a_third_thread(void);
void act_be_a_thread_with_a_bad_ring(void);
void act_be_a_thread_with_a_late_ring(void);
void act_be_interrupted_on_the_way(void);
void act_start_by_call(void);
void act_be_followed_too_early(void);
void act_be_followed_in_vain(void);
void act_be_followed(void);
void act_instant_without_the_counter(void);
void act_instant_out_of_order(void);

#endif
