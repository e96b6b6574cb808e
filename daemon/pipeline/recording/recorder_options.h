/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a flight recorder as the program wrote them: lines key=value (struct arena). */
#ifndef DAEMON_RECORDER_OPTIONS_H
#define DAEMON_RECORDER_OPTIONS_H

struct diag;
struct profile_options;

/*
 * Sets the options of |lines|, which is changed, in |o|. 0; -EINVAL with |d| naming key, value, and the nearest key or range;
 * -ENOMEM.
 */
int recorder_options_parse(struct profile_options *o, char *lines, struct diag *d);

#endif
