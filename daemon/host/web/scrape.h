/* SPDX-License-Identifier: Apache-2.0 */
/* GET /metrics. Programs are asked what they do, which takes a moment: it is done in a thread. The context is a struct web. */
#ifndef DAEMON_SCRAPE_H
#define DAEMON_SCRAPE_H

struct http_exchange;

/* At a time; more are told to come again. */
#define SCRAPE_MAX 4u

void scrape_answer(struct http_exchange *x, void *context);

#endif
