/* SPDX-License-Identifier: Apache-2.0 */
/* The target that a doctor is asked about: who it is, and what its server says. */
#ifndef CLIENT_PATIENT_H
#define CLIENT_PATIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/diag.h"
#include "base/status.h"
#include "base/stock_servers.h"
#include "client/target/address.h"

struct patient {
	struct address address;
	int code; /* enum exit_code of asking its server; EXIT_DONE: it answered */
	struct diag why; /* when it did not */
	struct status status; /* when it did, of the first program that it serves */
	size_t n_programs; /* it serves; more than one: a host daemon, or followed children */
	bool is_stock; /* it answered, and is of JAX's or TensorFlow's make: it tells nothing of its program */
	char make[STOCK_SERVERS_MAKE_BYTES]; /* then, if it is here: "JAX"; "": not known */
	bool is_here; /* on this machine, as far as the address tells */
	pid_t pid; /* 0: it is not known, or not here */
};

/*
 * Asks the server of |text|, a target as interface words say it. 0, also when nobody answers; -EINVAL with |d| when |text| is
 * no target.
 */
int patient_load(struct patient *p, const char *text, struct diag *d);

#endif
