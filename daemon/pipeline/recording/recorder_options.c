/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a flight recorder; see recorder_options.h. */
#include "daemon/pipeline/recording/recorder_options.h"

#include <string.h>

#include "base/profile_options.h"

int recorder_options_parse(struct profile_options *o, char *lines, struct diag *d)
{
	char *rest = NULL;
	int r = 0;

	for (char *line = strtok_r(lines, "\n", &rest); line && r >= 0;
		line = strtok_r(NULL, "\n", &rest))
		r = profile_options_parse(o, line, d);
	/* Options that elsewhere cause a warning are refused here, because no client would see the warning. */
	return r < 0 ? r : profile_options_check_recorder(o, d);
}
