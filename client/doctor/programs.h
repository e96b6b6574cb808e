/* SPDX-License-Identifier: Apache-2.0 */
/* Advice about proftap's own programs. */
#ifndef CLIENT_PROGRAMS_H
#define CLIENT_PROGRAMS_H

struct finding;
struct system;

/*
 * Sets the command that gives proftapd |capabilities|, such as "cap_perfmon,cap_bpf", which the
 * caller found lacking. If the user is root, sets the reason why no command helps instead.
 */
void programs_set_setcap(const struct system *sys, struct finding *f, const char *capabilities);

#endif
