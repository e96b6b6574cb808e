/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the local machine; see local_name.h. */
#include "base/local_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

bool local_name_is(const char *host)
{
	static const char name[] = "localhost";
	size_t n_name = sizeof name - 1;
	size_t n = strlen(host);

	if (n < n_name || strncasecmp(host + n - n_name, name, n_name) != 0)
		return false;
	return n == n_name || (n > n_name + 1 && host[n - n_name - 1] == '.');
}
