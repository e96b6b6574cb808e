/* SPDX-License-Identifier: Apache-2.0 */
/* A trace as a file for the programs and one for each device, named as Neuron's tools name them. */
#ifndef CLIENT_DEVICE_FILES_H
#define CLIENT_DEVICE_FILES_H

struct conversion;
struct diag;
struct selection;
struct view;

/* Whether the conversion can be into several files. 0, or -EINVAL with |d|. */
int device_files_check(const struct conversion *c, struct diag *d);
/*
 * Writes system_profile and device_profile_ID, with the ends that the format's files have, into the directory c->output, which is
 * made if it is missing, or beside the trace (or run) at |path|; says each as conversion_run() does. |selection| is the view's,
 * whose device is changed. 0, or a negative errno with |d|; files that were written before stay.
 */
int device_files_write(const struct conversion *c, const struct view *view,
	struct selection *selection, const char *path, struct diag *d);

#endif
