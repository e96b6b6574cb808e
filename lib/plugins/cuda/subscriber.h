/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one place that CUPTI has for a tool in a process. Who has it has all of CUPTI, and who does not must ask nothing of it: kinds of
 * activity and buffers are the whole process's, and would be taken from the other.
 */
#ifndef PLUGINS_CUDA_SUBSCRIBER_H
#define PLUGINS_CUDA_SUBSCRIBER_H

struct callbacks;
struct cupti;
struct result_context;

struct subscriber {
	const struct cupti *cupti;
	void *handle; /* NULL: not subscribed */
};

/* 0, also when it is already; -EBUSY with |why|: somebody else is; or another negative errno with |why|. */
int subscriber_open(struct subscriber *s, const struct result_context *context,
	struct callbacks *callbacks, char *why);
void subscriber_close(struct subscriber *s);

#endif
