/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of a session share; see session.h. */
#ifndef PLUGINS_CUDA_SESSION_STEPS_H
#define PLUGINS_CUDA_SESSION_STEPS_H

#include <stdint.h>

#include "lib/plugins/cuda/result.h"

struct session;

/* How often what is complete is asked for, also in buffers that are not full: so that a crash loses no more. */
#define SESSION_FLUSH_NS INT64_C(1000000000)

/* Reads what was filled. 0, or what emit() answers. */
int session_read(struct session *s);

/* For sentences. */
struct result_context session_context(const struct session *s);

#endif
