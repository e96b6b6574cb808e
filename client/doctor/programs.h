/* SPDX-License-Identifier: Apache-2.0 */
/* proftap's own programs, as checks name them. */
#ifndef CLIENT_PROGRAMS_H
#define CLIENT_PROGRAMS_H

struct finding;
struct system;

/* The command that gives proftapd |capabilities| ("cap_perfmon,cap_bpf"), or, for root, who lacks them, why there is none. */
void programs_set_setcap(const struct system *sys, struct finding *f, const char *capabilities);

#endif
