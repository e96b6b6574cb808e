/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_TRACED_H
#define BENCH_TRACED_H

/* The only function of the program that is compiled for tracing, such as with -pg. */
void peer_traced(void);

#endif
