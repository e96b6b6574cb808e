/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of the target that use the device of fake_collector.h, or map a library. */
#ifndef TESTS_PROGRAMS_DEVICE_USE_H
#define TESTS_PROGRAMS_DEVICE_USE_H

/* PATH: maps that library. Answers "0", or the reason of a failure. */
void device_use_load(char *arguments);
/* COUNT KERNEL: launches the kernel in spans "work". Answers how many launches were recorded. */
void device_use_launch(char *arguments);
/*
 * NODES LAUNCHES: makes a graph in a span "build" and launches it in spans "replay". Answers how
 * many launches were recorded.
 */
void device_use_graph(char *arguments);
/* THREADS: each thread launches kernels until the program ends. Answers "0". */
void device_use_loop(char *arguments);

#endif
