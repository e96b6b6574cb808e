/* SPDX-License-Identifier: Apache-2.0 */
/* Async spans across the parts of a session; see async_carry.h. */
#include "daemon/assembly/async_carry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

void async_carry_deinit(struct async_carry *c)
{
	names_deinit(&c->names);
	free(c->marks);
	memset(c, 0, sizeof *c);
}

int async_carry_add(struct async_carry *c, const struct async_mark *mark, const char *name)
{
	size_t n = strlen(name);
	size_t n_bytes = sizeof *mark + n;
	uint32_t index;

	if (n_bytes > ASYNC_CARRY_MAX_BYTES - c->n_bytes)
		return 0;
	index = names_intern(&c->names, name, n);
	if (index == NAMES_NONE || grow(&c->marks, &c->n_allocated, c->n_marks + 1))
		return -ENOMEM;
	c->marks[c->n_marks] = *mark;
	c->marks[c->n_marks++].name = index;
	c->n_bytes += n_bytes;
	return 0;
}

void async_carries_deinit(struct async_carries *c)
{
	for (size_t i = 0; i < c->n; i++) {
		async_carry_deinit(c->v[i]);
		free(c->v[i]);
	}
	free(c->v);
	memset(c, 0, sizeof *c);
}

struct async_carry *async_carries_get(struct async_carries *c, size_t source)
{
	while (c->n <= source) {
		struct async_carry *carry = calloc(1, sizeof *carry);

		if (!carry || grow(&c->v, &c->n_allocated, c->n + 1)) {
			free(carry);
			return NULL;
		}
		c->v[c->n++] = carry;
	}
	return c->v[source];
}
