/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One text per thread, without thread-local storage (half a KiB in each of the host's threads) and
 * without a destructor in the host: each of the last 16 threads that failed has a slot. The lock
 * lies in the guest page, so that a child never inherits it locked.
 */
#define PTAP_IMPL_BUILDING
#include "lib/control/last_error.h"

#include <proftap/proftap.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/record/guest.h"
#include "lib/record/lock.h"

#define N_SLOTS 16

static struct {
	long tid;
	char text[sizeof((struct diag *)0)->text];
} error_slots[N_SLOTS];
static unsigned next_error_slot;

static int find_error_slot(long tid)
{
	for (int i = 0; i < N_SLOTS; i++)
		if (error_slots[i].tid == tid)
			return i;
	return -1;
}

int last_error_set(const struct diag *d)
{
	long tid = syscall(SYS_gettid);
	int i;

	guest_lock(&guest_get()->error_lock);
	i = find_error_slot(tid);
	if (i < 0)
		i = (int)(next_error_slot++ % N_SLOTS);
	error_slots[i].tid = tid;
	memcpy(error_slots[i].text, d->text, sizeof error_slots[i].text);
	lock_release(&guest_get()->error_lock);
	return d->code;
}

const char *ptap_last_error(void)
{
	int i;

	guest_lock(&guest_get()->error_lock);
	i = find_error_slot(syscall(SYS_gettid));
	lock_release(&guest_get()->error_lock);
	return i < 0 ? "" : error_slots[i].text;
}

const char *ptap_error_text(int error)
{
	switch ((enum ptap_error)error) {
#define CASE(name, value, text) \
	case PTAP_ERR_##name:   \
		return text;
		PTAP_ERROR_MAP(CASE)
#undef CASE
	}
	return "unknown error";
}
