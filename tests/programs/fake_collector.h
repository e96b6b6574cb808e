/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fake device and its collector (<proftap/collector.h>) in one shared object. The program finds
 * these functions with dlsym() and calls them to use the device. The collector records these calls
 * and obeys a script; see fake_collector.c.
 */
#ifndef TESTS_PROGRAMS_FAKE_COLLECTOR_H
#define TESTS_PROGRAMS_FAKE_COLLECTOR_H

#include <stdint.h>

/*
 * Runs |kernel| on |stream| for |duration_ns|. Returns at once, with its correlation, or 0 when
 * nothing is recorded.
 */
typedef uint64_t fake_launch_function(const char *kernel, unsigned stream, uint64_t duration_ns);
/*
 * The first makes a graph node: a copy of |original|, or a new one if that is 0. The second
 * launches a graph of all nodes made so far.
 */
typedef void fake_make_node_function(uint64_t node, uint64_t original);
typedef uint64_t fake_launch_graph_function(unsigned graph, unsigned stream, uint64_t duration_ns);

/* The symbols that dlsym() finds. */
fake_launch_function fake_launch;
fake_make_node_function fake_make_node;
fake_launch_graph_function fake_launch_graph;

#endif
