/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_TRACED_H
#define BENCH_TRACED_H

/* The only function of the program that is compiled for the tracer. */
void peer_traced(void);

#endif
