/* SPDX-License-Identifier: Apache-2.0 */
/* ptap_thread_name() and ptap_version(). */
#define PTAP_IMPL_BUILDING
#include <proftap/proftap.h>

#include "base/utf8.h"
#include "lib/record/guest.h"
#include "lib/record/thread.h"

void ptap_thread_name(const char *name)
{
	struct thread *self = &thread_self;

	utf8_fit(self->name, sizeof self->name, name ? name : "");
	/* A thread that has a ring already is renamed there too. */
	if (self->ring && self->arena && self->arena == guest_get()->arena)
		ring_set_name(self->ring, self->name);
}

const char *ptap_version(void)
{
	return PACKAGE_VERSION;
}
