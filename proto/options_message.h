/* SPDX-License-Identifier: Apache-2.0 */
/* What a capture is asked for (base/profile_options.h) as the message ProfileOptions, which clients of all servers send. */
#ifndef PROTO_OPTIONS_MESSAGE_H
#define PROTO_OPTIONS_MESSAGE_H

#include "tsl/profiler/protobuf/profiler_options.pb-c.h"

struct profile_options;

struct options_message {
	Tensorflow__ProfileOptions
		message; /* its texts and lists are borrowed: of the below, and of what it was made of */
	Tensorflow__ProfileOptions__AdvancedConfigurationEntry *entries;
	Tensorflow__ProfileOptions__AdvancedConfigValue *values;
	Tensorflow__ProfileOptions__AdvancedConfigurationEntry **pointers;
};

/*
 * |host_name|: of the file that becomes of it, in every place where some server looks for it; NULL: the server's choice. Both
 * must stay. 0 or -ENOMEM; options_message_deinit() in any case.
 */
int options_message_init(
	struct options_message *m, const struct profile_options *o, const char *host_name);
void options_message_deinit(struct options_message *m);

#endif
