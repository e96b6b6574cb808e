/* SPDX-License-Identifier: Apache-2.0 */
/* Tunnels that failed; see tunnel_failure.h. */
#include "client/connect/tunnel_failure.h"

#include <errno.h>
#include <string.h>

#include "base/diag.h"
#include "client/connect/ssh.h"
#include "client/process/exit.h"

/* How ssh's last words begin or go on, and what to do. */
static const struct {
	const char *words;
	const char *advice;
	enum exit_code code;
} failures[] = {
	{"Host key verification failed",
		"connect once by ssh alone, and see whether the key is right", EXIT_FAILED},
	{"Permission denied",
		"ssh alone must get in; without a terminal it cannot ask for a password: "
		"use a key, an agent or a master connection",
		EXIT_FAILED},
	{"Could not resolve hostname", "check the spelling", EXIT_NOBODY},
	{"Connection refused", "there is no ssh server", EXIT_NOBODY},
	{"timed out", "the host is down or a firewall drops the connection", EXIT_NOBODY},
	{"No route to host", "check the address and the network", EXIT_NOBODY},
};

int tunnel_failure_explain(struct ssh *ssh, const char *destination, struct diag *d)
{
	const char *said = ssh_get_last_line(ssh);
	const char *advice = "see what ssh alone says";
	int code = EXIT_FAILED;

	if (ssh->status == SSH_NOT_FOUND) {
		diag_set(d, -ENOENT, "--ssh %.200s: there is no ssh: install the OpenSSH client",
			destination);
		return EXIT_FAILED;
	}
	for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
		if (!strstr(said, failures[i].words))
			continue;
		advice = failures[i].advice;
		code = failures[i].code;
		break;
	}
	diag_set(d, -EPIPE, "--ssh %.100s: ssh failed: %.200s; %s", destination,
		*said ? said : "it said nothing", advice);
	return code;
}
