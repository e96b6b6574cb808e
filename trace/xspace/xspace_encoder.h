/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts that encoding an XSpace is made of; for xspace_encode*.c and xspace_events.c alone. struct plane_encoder is
 * that of xspace_put.h.
 */
#ifndef TRACE_XSPACE_ENCODER_H
#define TRACE_XSPACE_ENCODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line;
struct plane;
struct plane_encoder;
struct trace_event;

/* The events of |line|, relative to |base_ns|; what cannot be drawn is left out. */
void encoder_write_events(const struct plane_encoder *e, const struct line *line, int64_t base_ns);

/* |n| events of no line in particular, whatever they are. */
void encoder_write_some(const struct plane_encoder *e, const struct trace_event *events, size_t n);

/* Finds out which names may not be written as they are. 0 or -ENOMEM. */
int encoder_set_rules(struct plane_encoder *e);

bool encoder_is_counter_line(const struct line *line);
bool encoder_is_drawable(const struct plane *plane, const struct trace_event *event);
/* Whether any event of |line| will be written. */
bool encoder_has_output(const struct plane_encoder *e, const struct line *line);

#endif
