/* SPDX-License-Identifier: Apache-2.0 */
/* Events that are wanted; see stream_choice.h. */
#include "daemon/host/web/stream_choice.h"

#include <errno.h>
#include <string.h>

#include "base/diag.h"
#include "daemon/host/programs/caller.h"
#include "daemon/host/web/api_answer.h"
#include "daemon/host/web/hub.h"
#include "daemon/host/web/web.h"
#include "http/exchange.h"

static const struct {
	const char *name;
	enum hub_topic topic;
} topics[] = {
	{"usage", HUB_USAGE},
	{"targets", HUB_TARGETS},
	{"captures", HUB_CAPTURES},
	{"runs", HUB_RUNS},
};

/* 0: there is none of the |n| bytes |name|. */
static unsigned find_topic(const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof topics / sizeof *topics; i++)
		if (strlen(topics[i].name) == n && strncmp(topics[i].name, name, n) == 0)
			return topics[i].topic;
	return 0;
}

/* A comma list; NULL: all of them. */
static int set_topics(struct stream_choice *c, const char *text, struct diag *d)
{
	c->topics = text ? 0 : HUB_ALL;
	for (const char *word = text ? text : ""; *word; word += strspn(word, ",")) {
		size_t n = strcspn(word, ",");
		unsigned topic = find_topic(word, n);

		if (!topic)
			return diag_set(d, -EINVAL,
				"topics: \"%.*s\": no such topic; there are usage, targets, captures "
				"and runs",
				n < 32 ? (int)n : 32, word);
		c->topics |= topic;
		word += n;
	}
	return 0;
}

int stream_choice_read(struct stream_choice *c, const struct http_exchange *x, struct diag *d)
{
	const struct api_number pid = {"pid", 1, INT32_MAX, 0};
	int64_t number;
	int r = set_topics(c, http_get_query(x, "topics"), d);

	web_get_caller(x, &c->usage.caller);
	if (!r)
		r = usage_json_set_groups(&c->usage, http_get_query(x, "groups"), d);
	if (!r)
		r = api_get_number(x, &pid, &number, d);
	if (!r)
		c->usage.pid = (pid_t)number;
	return r;
}

int stream_choice_has(const struct stream_choice *c, const struct hub_event *event)
{
	return (c->topics & event->topic) &&
	       (event->uid == HUB_EVERYBODY || caller_may_ask(&c->usage.caller, event->uid));
}
