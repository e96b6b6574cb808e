/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of stacks as bytes: a `perftools.profiles.Profile`, the format of pprof. Sample N of the
 * profile is stack N, counted from 0, with its locations from the innermost to the outermost, and
 * the number of samples that have this stack. The bytes are the stat "ptap_stacks" of a plane with
 * samples (docs/internals/samples.md), and pprof reads them, too.
 *
 * The message is from proto/profile.proto of google/pprof.
 */
#ifndef TRACE_STACK_PROFILE_H
#define TRACE_STACK_PROFILE_H

#include <stddef.h>
#include <stdint.h>

struct chunks;
struct stacks;

/* A stack that is written. */
struct stack_use {
	uint32_t stack; /* its number in the table */
	uint64_t n_samples;
};

/* Appends the |n| stacks, which get the numbers 0 to n - 1 there, to |out|. Sets out->error. */
void stack_profile_encode(
	const struct stacks *s, const struct stack_use *uses, size_t n, struct chunks *out);

/*
 * Adds the stacks of a profile to |s|. *numbers_out gets, for each stack of the profile, its number
 * in |s|, and *n_out how many there are. Owner: the caller (free). The bytes are untrusted: 0,
 * -ENOMEM, or -EBADMSG with *why set to a fragment such as "a location has no number"; then some
 * stacks may have been added.
 */
int stack_profile_decode(const uint8_t *data, size_t n_bytes, struct stacks *s,
	uint32_t **numbers_out, size_t *n_out, const char **why);

#endif
