/* SPDX-License-Identifier: Apache-2.0 */
/* Probes; see probes.h. */
#include "daemon/web/probes.h"

#include "http/exchange.h"

#define TEXT "text/plain; charset=utf-8"

void probes_answer_health(struct http_exchange *x, void *context)
{
	(void)context;
	http_reply_text(x, 200, TEXT, "ok\n");
}
