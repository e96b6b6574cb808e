/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device that there is not, and its collector (<proftap/collector.h>) in one shared object: the
 * program finds these with dlsym() and "uses the device"; the collector records that, and what a
 * script says. See fake_collector.c.
 */
#ifndef TESTS_PROGRAMS_FAKE_COLLECTOR_H
#define TESTS_PROGRAMS_FAKE_COLLECTOR_H

#include <stdint.h>

/*
 * Runs |kernel| on |stream| for |duration_ns|: returns at once, with its correlation, 0 when
 * nothing is recorded.
 */
typedef uint64_t fake_launch_function(const char *kernel, unsigned stream, uint64_t duration_ns);
/*
 * A graph's node is made, from another or from nothing (0); and the graph is launched, with those
 * that were made.
 */
typedef void fake_make_node_function(uint64_t node, uint64_t original);
typedef uint64_t fake_launch_graph_function(unsigned graph, unsigned stream, uint64_t duration_ns);

/* The symbols. */
fake_launch_function fake_launch;
fake_make_node_function fake_make_node;
fake_launch_graph_function fake_launch_graph;

#endif
