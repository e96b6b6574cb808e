/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that annotates for ever, recorded or not, and keeps when: so a test sees where a
 * recording begins.
 */
#ifndef TESTS_PROGRAMS_PULSE_H
#define TESTS_PROGRAMS_PULSE_H

/*
 * FILE: starts the thread. Just before each span "pulse", whose argument n counts them from 0, the
 * Unix time in ns (int64_t) is written to place n of the file, which must be there in its whole
 * size; when that is full the thread ends.
 */
void pulse_start(char *arguments);

#endif
