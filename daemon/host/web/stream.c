/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of events; see stream.h. A stream holds no events: it knows the last one that it sent,
 * and asks the hub for the next. If the buffer of a slow peer has no room for an event, the stream
 * asks the hub for the same event again later.
 */
#include "daemon/host/web/stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "daemon/host/calls/host_calls.h"
#include "daemon/host/programs/caller.h"
#include "daemon/host/web/api.h"
#include "daemon/host/web/api_answer.h"
#include "daemon/host/web/hub.h"
#include "daemon/host/web/json_text.h"
#include "daemon/host/web/usage_json.h"
#include "daemon/host/web/web.h"
#include "http/exchange.h"
#include "rpc/server.h"

/* --- the choice of events --------------------------------------------------------------------- */

struct stream_choice {
	unsigned topics; /* enum hub_topic */
	struct usage_json_choice usage; /* its caller is the stream's */
};

static const struct {
	const char *name;
	enum hub_topic topic;
} topic_names[] = {
	{"usage", HUB_USAGE},
	{"targets", HUB_TARGETS},
	{"captures", HUB_CAPTURES},
	{"runs", HUB_RUNS},
};

/* 0: no topic has the name |name| of |n| bytes. */
static unsigned find_topic(const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof topic_names / sizeof *topic_names; i++)
		if (strlen(topic_names[i].name) == n && strncmp(topic_names[i].name, name, n) == 0)
			return topic_names[i].topic;
	return 0;
}

/* |text| is a comma list; NULL: all topics. */
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

/* Reads the choice of events from the request, and its caller. 0, or -EINVAL with |d|. */
static int stream_choice_read(
	struct stream_choice *c, const struct http_exchange *x, struct diag *d)
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

static bool stream_choice_has(const struct stream_choice *c, const struct hub_event *event)
{
	return (c->topics & event->topic) &&
	       (event->uid == HUB_EVERYBODY || caller_may_ask(&c->usage.caller, event->uid));
}

/* Size of the buffer for a peer. A larger event is left out. */
#define WAITING_BYTES (512 << 10)
#define SILENCE_NS (15 * NS_PER_S)

struct stream {
	struct stream *next; /* in the API's list */
	struct api *api;
	struct http_stream *out;
	struct stream_choice choice;
	int64_t described; /* columns of usage up to this sample were described; -1: none */
	uint64_t after; /* number of the last event that was sent or skipped */
	int64_t sent_ns; /* CLOCK_MONOTONIC */
};

/* --- sending ---------------------------------------------------------------------------------- */

/* Sends one event. 0, -ENOBUFS when there is no room for it now, or -EPIPE. */
static int stream_send_event(struct stream *s, uint64_t number, const char *name, const char *data)
{
	char *text = NULL;
	int n = asprintf(&text, "id: %" PRId64 ".%" PRIu64 "\nevent: %s\ndata: %s\n\n",
		s->api->started_unix_ms, number, name, data);
	int r;

	if (n < 0)
		return -ENOBUFS;
	/* A larger event would never fit, so it is left out. */
	r = n > WAITING_BYTES ? 0 : http_stream_send(s->out, text, (size_t)n);
	free(text);
	if (!r)
		s->sent_ns = monotonic_ns();
	return r;
}

/* Returns NULL if the sample is not kept any more, or if memory ran out. */
static char *format_usage(struct stream *s, uint64_t n, int64_t *described)
{
	struct json_text text;
	char *data;
	int has;

	if (json_text_begin(&text))
		return NULL;
	has = usage_json_write_sample(
		&text.json, s->api->web->host->machine, &s->choice.usage, n, described);
	data = json_text_end(&text, NULL);
	if (has)
		return data;
	free(data);
	return NULL;
}

static int stream_send_if_chosen(struct stream *s, struct hub_event *event)
{
	int64_t described = s->described;
	int r;

	if (!stream_choice_has(&s->choice, event))
		return 0;
	if (event->topic == HUB_USAGE)
		event->data = format_usage(s, event->n_sample, &described);
	if (!event->data)
		return 0;
	r = stream_send_event(s, event->number, event->name, event->data);
	if (!r)
		s->described = described;
	return r;
}

/* Tells the client to read everything anew, because events after the last sent one are lost. */
static int stream_reset(struct stream *s)
{
	uint64_t last = hub_get_last(&s->api->hub);
	int r = stream_send_event(s, last, "reset", "{}");

	if (!r) {
		s->after = last;
		s->described = -1;
	}
	return r;
}

/* Sends one event. Returns true if there may be more. */
static bool stream_send_next(struct stream *s)
{
	struct hub_event event;
	int r = hub_copy_next(&s->api->hub, s->after, &event);

	if (r == -ESTALE)
		return stream_reset(s) == 0;
	if (r <= 0)
		return false;
	r = stream_send_if_chosen(s, &event);
	free(event.data);
	if (!r)
		s->after = event.number;
	return r == 0;
}

static void stream_send_all(struct stream *s)
{
	while (stream_send_next(s))
		;
}

void streams_pump(struct api *a)
{
	for (struct stream *s = a->streams; s; s = s->next)
		stream_send_all(s);
}

void streams_tick(struct api *a)
{
	for (struct stream *s = a->streams; s; s = s->next) {
		stream_send_all(s);
		if (monotonic_ns() - s->sent_ns < SILENCE_NS)
			continue;
		http_stream_send(s->out, ": \n\n", 4);
		s->sent_ns = monotonic_ns();
	}
}

bool streams_want(const struct api *a, unsigned topics)
{
	for (const struct stream *s = a->streams; s; s = s->next)
		if (s->choice.topics & topics)
			return true;
	return false;
}

/* --- beginning and end ------------------------------------------------------------------------ */

static void on_end(void *context)
{
	struct stream *s = context;
	struct stream **at = &s->api->streams;

	while (*at && *at != s)
		at = &(*at)->next;
	if (*at) {
		*at = s->next;
		s->api->n_streams--;
	}
	free(s);
}

static int stream_set_up(struct stream *s, const struct http_exchange *x, struct diag *d)
{
	const char *id = http_get_header(x, "Last-Event-ID");

	s->described = -1;
	s->after = hub_find_after(&s->api->hub, id ? id : http_get_query(x, "after"));
	return stream_choice_read(&s->choice, x, d);
}

static int streams_check_room(const struct api *a, const struct caller *caller, struct diag *d)
{
	unsigned n = 0;

	for (const struct stream *s = a->streams; s; s = s->next)
		n += s->choice.usage.caller.uid == caller->uid;
	if (a->n_streams < STREAMS_MAX && (caller->may_all || n < STREAMS_MAX_OF_USER))
		return 0;
	return diag_set(d, -EAGAIN,
		"there may be %u streams of events at a time, %u of one user; close another page",
		STREAMS_MAX, STREAMS_MAX_OF_USER);
}

static void stream_greet(struct stream *s)
{
	struct json_text text;
	char *data;

	if (json_text_begin(&text))
		return;
	json_int(&text.json, "started_unix_ms", s->api->started_unix_ms);
	json_text(&text.json, "version", PACKAGE_VERSION);
	data = json_text_end(&text, NULL);
	if (data && s->after <= hub_get_last(&s->api->hub))
		stream_send_event(s, s->after, "hello", data);
	else if (data)
		stream_send_event(s, 0, "hello", data);
	free(data);
}

static void stream_begin(struct stream *s, struct http_exchange *x)
{
	struct api *a = s->api;

	s->out = http_reply_stream(x, "text/event-stream", WAITING_BYTES, on_end, s);
	if (!s->out) {
		free(s);
		return;
	}
	s->next = a->streams;
	a->streams = s;
	a->n_streams++;
	stream_greet(s);
	stream_send_all(s);
}

void stream_answer(struct http_exchange *x, void *context)
{
	struct web *w = context;
	struct stream *s = calloc(1, sizeof *s);
	struct diag d = DIAG_INIT;
	int status = RPC_OK;

	if (!s) {
		api_refuse_memory(x);
		return;
	}
	s->api = &w->api;
	if (stream_set_up(s, x, &d))
		status = RPC_INVALID_ARGUMENT;
	else if (streams_check_room(s->api, &s->choice.usage.caller, &d))
		status = RPC_RESOURCE_EXHAUSTED;
	if (!status) {
		stream_begin(s, x);
		return;
	}
	free(s);
	api_refuse(x, status, &d, NULL);
}
