/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that annotates until its file is full, whether a capture records or not, and notes the
 * times. They show a test where a recording begins.
 */
#ifndef TESTS_PROGRAMS_PULSE_H
#define TESTS_PROGRAMS_PULSE_H

/*
 * FILE: starts the thread. Each span "pulse" has its number n, from 0, as argument. Just before it
 * begins, the thread writes the Unix time in ns (int64_t) to place n of the file. The file must
 * exist in its full size; the thread ends when it is full.
 */
void pulse_start(char *arguments);

#endif
