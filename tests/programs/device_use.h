/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of the target that use the device of fake_collector.h, or map a library. */
#ifndef TESTS_PROGRAMS_DEVICE_USE_H
#define TESTS_PROGRAMS_DEVICE_USE_H

/* PATH: maps that library, and says "0", or why not. */
void device_use_load(char *arguments);
/* COUNT KERNEL: launches in spans "work"; says how many were recorded. */
void device_use_launch(char *arguments);
/*
 * NODES LAUNCHES: makes a graph in a span "build" and launches it in spans "replay"; says how many
 * were recorded.
 */
void device_use_graph(char *arguments);
/* THREADS: each launches on and on until the program ends; says "0". */
void device_use_loop(char *arguments);

#endif
