/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts the options in base/profile_options.h to the message ProfileOptions. Clients of all
 * servers send this message.
 */
#ifndef PROTO_OPTIONS_MESSAGE_H
#define PROTO_OPTIONS_MESSAGE_H

#include "tsl/profiler/protobuf/profiler_options.pb-c.h"

struct profile_options;

struct options_message {
	/* borrows its texts and lists from the members below, and from the options */
	Tensorflow__ProfileOptions message;
	Tensorflow__ProfileOptions__AdvancedConfigurationEntry *entries;
	Tensorflow__ProfileOptions__AdvancedConfigValue *values;
	Tensorflow__ProfileOptions__AdvancedConfigurationEntry **pointers;
};

/*
 * |host_name|, from which the result's file gets its name, is put under every key where some server
 * looks for it; NULL: the server chooses. |o| and |host_name| must stay valid. 0 or -ENOMEM; call
 * options_message_deinit() in any case.
 */
int options_message_init(
	struct options_message *m, const struct profile_options *o, const char *host_name);
void options_message_deinit(struct options_message *m);

#endif
