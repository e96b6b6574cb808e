/* SPDX-License-Identifier: Apache-2.0 */
/* Failures of captures; see capture_failure.h. */
#include "client/capture/capture_failure.h"

#include <stdio.h>

#include "base/diag.h"
#include "client/capture/capture.h"
#include "client/process/terminal.h"
#include "trace/json.h"

void capture_failure_write(const struct capture *c, int code, const struct diag *d)
{
	struct json j;

	fprintf(stderr, "%s\n", d->text);
	for (uint32_t i = 0; i < c->warnings.n_texts; i++)
		terminal_write_line("warning", c->warnings.texts[i], stderr);
	if (!c->is_json)
		return;
	json_begin(&j, stdout);
	json_text(&j, "target", c->target[0] ? c->target : c->targets[0].text);
	json_text(&j, "error", d->text);
	json_int(&j, "exit", code);
	json_end(&j);
}
