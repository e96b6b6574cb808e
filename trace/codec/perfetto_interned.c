/* SPDX-License-Identifier: Apache-2.0 */
/* Interned texts; see perfetto_interned.h. */
#include "trace/codec/perfetto_interned.h"

#include <errno.h>
#include <string.h>

#include "base/grow.h"

int perfetto_interned_resize(struct perfetto_interned *t, size_t n)
{
	size_t n_before = t->n_allocated;

	if (grow(&t->v, &t->n_allocated, n))
		return -ENOMEM;
	if (t->n_allocated > n_before)
		memset(t->v + n_before, 0, (t->n_allocated - n_before) * sizeof *t->v);
	return 0;
}
