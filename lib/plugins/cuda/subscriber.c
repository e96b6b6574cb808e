/* SPDX-License-Identifier: Apache-2.0 */
/* The place for a tool in a process; see subscriber.h. */
#include "lib/plugins/cuda/subscriber.h"

#include <stddef.h>
#include <string.h>

#include "lib/plugins/cuda/callbacks.h"
#include "lib/plugins/cuda/cupti.h"
#include "lib/plugins/cuda/result.h"
#include "lib/plugins/cuda/version.h"

/* "CUPTI for Kineto": CUPTI puts the beginning before it. */
static const char *strip(const char *holder)
{
	static const char beginning[] = "CUPTI for ";
	size_t n = sizeof beginning - 1;

	return strncmp(holder, beginning, n) == 0 ? holder + n : holder;
}

static int subscribe(struct subscriber *s, struct callbacks *callbacks, char *holder)
{
	const struct cupti *cupti = s->cupti;
	struct cupti_subscription subscription = {
		.size = version_has(cupti->version, VERSION_OLD_SUBSCRIPTION)
				? CUPTI_SUBSCRIPTION_BYTES_OLD
				: CUPTI_SUBSCRIPTION_BYTES,
		.name = "proftap",
		.holder = holder,
		.holder_bytes = CUPTI_HOLDER_BYTES,
	};

	if (!cupti->subscribe_by_name)
		return cupti->subscribe(&s->handle, callbacks_take, callbacks);
	return cupti->subscribe_by_name(&s->handle, callbacks_take, callbacks, &subscription);
}

int subscriber_open(struct subscriber *s, const struct result_context *context,
	struct callbacks *callbacks, char *why)
{
	char holder[CUPTI_HOLDER_BYTES] = "";
	int result;

	if (s->handle)
		return 0;
	s->cupti = context->cupti;
	result = subscribe(s, callbacks, holder);
	if (!result)
		return 0;
	s->handle = NULL;
	holder[sizeof holder - 1] = '\0';
	if (result == CUPTI_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED || result == CUPTI_MAX_LIMIT_REACHED)
		return result_say_taken(strip(holder), why);
	return result_say(context, result, "CUPTI cannot be used", why);
}

void subscriber_close(struct subscriber *s)
{
	if (s->handle)
		s->cupti->unsubscribe(s->handle);
	s->handle = NULL;
}
