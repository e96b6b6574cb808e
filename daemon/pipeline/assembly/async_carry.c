/* SPDX-License-Identifier: Apache-2.0 */
/* Async spans across the parts of a session; see async_carry.h. */
#include "daemon/pipeline/assembly/async_carry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "trace/model/space.h"

void async_carry_deinit(struct async_carry *c)
{
	names_deinit(&c->names);
	free(c->marks);
	free(c->args);
	memset(c, 0, sizeof *c);
}

/* --- arguments: their names and texts are indices into the holder's table ------------------- */

static int translate_text(uint32_t *text, const struct names *from, struct names *to)
{
	const char *bytes = names_get(from, *text);

	*text = names_intern(to, bytes, strlen(bytes));
	return *text == NAMES_NONE ? -ENOMEM : 0;
}

static int translate_arg(struct trace_stat *arg, const struct names *from, struct names *to)
{
	int r = translate_text(&arg->name, from, to);

	if (!r && arg->type == STAT_STRING)
		r = translate_text(&arg->value.string, from, to);
	return r;
}

static size_t count_bytes(const struct trace_stat *args, const struct names *names)
{
	size_t n = 0;

	for (; args; args = stat_next(args)) {
		n += sizeof *args + strlen(names_get(names, args->name));
		if (args->type == STAT_STRING)
			n += strlen(names_get(names, args->value.string));
	}
	return n;
}

static int add_args(struct async_carry *c, struct async_mark *mark, const struct trace_stat *args,
	const struct names *stat_names)
{
	int r = 0;

	mark->args = args ? (uint32_t)c->n_args + 1 : 0;
	for (; args && !r; args = stat_next(args)) {
		if (grow(&c->args, &c->n_args_allocated, c->n_args + 1))
			return -ENOMEM;
		c->args[c->n_args] = *args;
		r = translate_arg(&c->args[c->n_args++], stat_names, &c->names);
	}
	return r;
}

int async_carry_get_args(const struct async_carry *c, const struct async_mark *mark,
	struct names *stat_names, struct trace_stat *args, uint32_t *n)
{
	const struct trace_stat *at = mark->args ? &c->args[mark->args - 1] : NULL;
	int r = 0;

	for (*n = 0; at && *n < ASYNC_CARRY_MAX_ARGS && !r; at = stat_next(at)) {
		args[*n] = *at;
		r = translate_arg(&args[(*n)++], &c->names, stat_names);
	}
	return r;
}

/* --- marks --------------------------------------------------------------------------------- */

int async_carry_add(struct async_carry *c, const struct async_mark *mark, const char *name,
	const struct trace_stat *args, const struct names *stat_names)
{
	size_t n = strlen(name);
	size_t n_bytes = sizeof *mark + n + count_bytes(args, stat_names);
	struct async_mark kept = *mark;

	if (n_bytes > ASYNC_CARRY_MAX_BYTES - c->n_bytes)
		return 0;
	kept.name = names_intern(&c->names, name, n);
	if (kept.name == NAMES_NONE || add_args(c, &kept, args, stat_names) ||
		grow(&c->marks, &c->n_allocated, c->n_marks + 1))
		return -ENOMEM;
	c->marks[c->n_marks++] = kept;
	c->n_bytes += n_bytes;
	return 0;
}

/* --- all processes ------------------------------------------------------------------------- */

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
