/* SPDX-License-Identifier: Apache-2.0 */
/* The host daemon: its units, its ports, its registry. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/runtime_dir.h"
#include "client/doctor/check.h"
#include "client/doctor/checks.h"
#include "client/doctor/finding.h"
#include "client/doctor/port.h"
#include "client/doctor/port_owner.h"
#include "client/doctor/system.h"
#include "client/target/address.h"

#define WEB_PORT 9022

/* --- units --------------------------------------------------------------------------------- */

struct unit_state {
	char load[32]; /* "loaded", "not-found", "masked" */
	char file[32]; /* "enabled", "disabled", "static"… */
	char active[32]; /* "active", "inactive", "failed"… */
};

static void read_property(const char *text, const char *name, char *out, size_t n)
{
	const char *at = strstr(text, name);

	at = at ? at + strlen(name) : "";
	snprintf(out, n, "%.*s", (int)strcspn(at, "\n"), at);
}

/* Of "systemctl show". 0, or its exit status, or a negative errno. */
static int ask(const struct system *sys, const char *unit, struct unit_state *state)
{
	const char *const argv[] = {"systemctl", "show", "--property",
		"LoadState,UnitFileState,ActiveState", unit, NULL};
	char text[512];
	int r = sys->print(argv, text, sizeof text);

	read_property(text, "LoadState=", state->load, sizeof state->load);
	read_property(text, "UnitFileState=", state->file, sizeof state->file);
	read_property(text, "ActiveState=", state->active, sizeof state->active);
	return r;
}

static bool is_word(const char *word, const char *a, const char *b)
{
	return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

static void judge(
	const struct system *sys, const char *unit, const struct unit_state *s, struct finding *f)
{
	if (strcmp(s->load, "loaded") != 0 && strcmp(s->load, "masked") != 0) {
		finding_no(f, "not installed");
		system_set_command(sys, f, "make install");
		finding_set_reason(f,
			"only for one server for all programs; each has one of its own without it");
	} else if (strcmp(s->load, "masked") == 0) {
		finding_no(f, "masked");
		system_set_command(sys, f, "systemctl unmask %s", unit);
	} else if (!is_word(s->file, "enabled", "static") && strcmp(s->file, "indirect") != 0) {
		finding_no(f, "%s, %s", s->file, s->active);
		system_set_command(sys, f, "systemctl enable --now %s", unit);
	} else if (strcmp(s->active, "failed") == 0) {
		finding_no(f, "%s, failed: journalctl -u %s says why", s->file, unit);
		system_set_command(sys, f, "systemctl restart %s", unit);
	} else if (!is_word(s->active, "active", "activating")) {
		finding_no(f, "%s, %s", s->file, s->active);
		system_set_command(sys, f, "systemctl start %s", unit);
	} else {
		finding_yes(f, "%s, %s", s->file, s->active);
	}
}

void check_unit(const struct system *sys, const struct check *self, struct finding *f)
{
	struct unit_state state;
	int r;

	if (!system_has_file(sys, "/run/systemd/system")) {
		finding_none(f, "systemd does not run here; proftapd --host does without");
		return;
	}
	r = ask(sys, self->about, &state);
	if (r == 0) {
		judge(sys, self->about, &state, f);
		return;
	}
	finding_no(f, "systemctl show: %s",
		r > 0 ? "it failed" : (r == -ETIMEDOUT ? "no answer" : errno_words(r)));
	finding_set_command(f, "systemctl status %s", self->about);
}

/* --- ports --------------------------------------------------------------------------------- */

static const char *name_answer(int answer, const char *said)
{
	return answer == PORT_GRPC ? "a gRPC server" : answer == PORT_WEB ? "a web server" : said;
}

/* " of uid 0: nginx, pid 812", as far as it is known. */
static void describe_owner(const struct port_owner *owner, bool is_known, char *out, size_t n)
{
	out[0] = '\0';
	if (is_known && owner->pid)
		snprintf(
			out, n, " of uid %u: %s, pid %d", owner->uid, owner->name, (int)owner->pid);
	else if (is_known)
		snprintf(out, n, " of uid %u", owner->uid);
}

static void judge_answer(
	const struct system *sys, struct finding *f, unsigned port, bool is_ours, const char *what)
{
	struct port_owner owner;
	char of[128];
	bool is_known = port_owner_find(sys, port, &owner);

	describe_owner(&owner, is_known, of, sizeof of);
	if (is_ours && (!is_known || !owner.pid || strcmp(owner.name, "proftapd") == 0)) {
		finding_yes(f, "127.0.0.1:%u: %s%s", port, what, of);
		return;
	}
	finding_no(f, "127.0.0.1:%u: somebody else, %s%s", port, what, of);
	system_set_command(sys, f, "ss -ltnp sport = :%u", port);
	finding_set_reason(f, "tells who; end that, or have proftapd listen elsewhere");
}

static void judge_port(const struct system *sys, const struct check *self, struct finding *f,
	unsigned port, enum port_answer wanted)
{
	char said[64] = "";
	int answer = sys->ask_port(port, said, sizeof said);

	if (answer != PORT_NOBODY) {
		judge_answer(sys, f, port, answer == (int)wanted, name_answer(answer, said));
		return;
	}
	finding_no(f, "127.0.0.1:%u: nobody", port);
	if (system_has_file(sys, "/run/systemd/system"))
		system_set_command(sys, f, "systemctl start %s", self->about);
	else
		finding_set_command(f, "proftapd --host");
}

void check_port_grpc(const struct system *sys, const struct check *self, struct finding *f)
{
	judge_port(sys, self, f, ADDRESS_HOST_PORT, PORT_GRPC);
}

void check_port_web(const struct system *sys, const struct check *self, struct finding *f)
{
	judge_port(sys, self, f, WEB_PORT, PORT_WEB);
}

/* --- the registry -------------------------------------------------------------------------- */

/* It says nothing to who does not announce a program: connecting is enough to know that it is there. */
static int try_registry(const struct system *sys, const char *dir, struct finding *f)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	char word[FINDING_WORD_BYTES];
	struct ucred peer;
	socklen_t n = sizeof peer;

	if (snprintf(a.sun_path, sizeof a.sun_path, "%s%s/registry.sock", sys->root, dir) >=
		(int)sizeof a.sun_path)
		return -ENOENT;
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) ||
		getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n))
		return -errno;
	if (peer.uid != 0 && peer.uid != sys->uid) {
		finding_no(f, "%s is uid %u's: programs do not announce themselves there",
			a.sun_path, peer.uid);
		system_set_command(sys, f, "rm %s", finding_quote(word, a.sun_path));
		return 0;
	}
	finding_yes(f, "%s, uid %u, pid %d", a.sun_path, peer.uid, (int)peer.pid);
	return 0;
}

void check_registry(const struct system *sys, const struct check *self, struct finding *f)
{
	char path[RUNTIME_DIR_MAX_BYTES];
	char stale[PATH_MAX] = "";

	for (unsigned i = 0; i < RUNTIME_DIR_PLACES; i++) {
		int r = runtime_dir_get(i, path) ? -ENOENT : try_registry(sys, path, f);

		if (r == 0)
			return;
		if (r == -ECONNREFUSED)
			snprintf(stale, sizeof stale, "%s/registry.sock", path);
	}
	if (*stale)
		finding_no(f, "%s: nobody is behind it", stale);
	else
		finding_no(f, "no host daemon has a registry.sock for this user");
	if (system_has_file(sys, "/run/systemd/system"))
		system_set_command(sys, f, "systemctl start %s", self->about);
	else
		finding_set_command(f, "proftapd --host");
}
