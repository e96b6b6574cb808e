/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the host daemon: its units, its registry, its ports. */
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
#include "client/doctor/checks.h"
#include "client/doctor/finding.h"
#include "client/doctor/port.h"
#include "client/doctor/system.h"
#include "client/target/address.h"

#define WEB_PORT 9022
/* The largest number of ports of a host daemon that are checked. */
#define MAX_PORTS 16

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

/* Runs "systemctl show". Returns 0, its exit status, or a negative errno. */
static int ask_systemd(const struct system *sys, const char *unit, struct unit_state *state)
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

static void judge_unit(
	const struct system *sys, const char *unit, const struct unit_state *s, struct finding *f)
{
	if (strcmp(s->load, "loaded") != 0 && strcmp(s->load, "masked") != 0) {
		finding_no(f, "not installed");
		system_set_command(sys, f, "make install");
		finding_set_reason(f,
			"needed only for one server for all programs; without the unit, each "
			"program has its own server");
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
		finding_none(f, "systemd does not run here; proftapd --host does not need systemd");
		return;
	}
	r = ask_systemd(sys, self->about, &state);
	if (r == 0) {
		judge_unit(sys, self->about, &state, f);
		return;
	}
	finding_no(f, "systemctl show: %s",
		r > 0 ? "it failed" : (r == -ETIMEDOUT ? "no answer" : errno_words(r)));
	finding_set_command(f, "systemctl status %s", self->about);
}

/* Names the command that starts the host daemon. */
static void set_start_command(const struct system *sys, const struct check *self, struct finding *f)
{
	if (system_has_file(sys, "/run/systemd/system"))
		system_set_command(sys, f, "systemctl start %s", self->about);
	else
		finding_set_command(f, "proftapd --host");
}

/* --- the registry -------------------------------------------------------------------------- */

static int format_registry(const struct system *sys, const char *dir, struct sockaddr_un *out)
{
	*out = (struct sockaddr_un){.sun_family = AF_UNIX};
	return snprintf(out->sun_path, sizeof out->sun_path, "%s%s/" RUNTIME_DIR_REGISTRY,
		       sys->root, dir) < (int)sizeof out->sun_path
		       ? 0
		       : -ENOENT;
}

/* Connects only: the registry sends nothing to a client that does not announce a program. */
static int ask_registry(const struct sockaddr_un *a, struct ucred *peer)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t n = sizeof *peer;

	if (fd < 0 || connect(fd, (const struct sockaddr *)a, sizeof *a) ||
		getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &n))
		return -errno;
	return 0;
}

static bool is_trusted(const struct system *sys, const struct ucred *peer)
{
	return peer->uid == 0 || peer->uid == sys->uid;
}

/*
 * Finds the host daemon of the registry. The pid is 0 if there is none, or if systemd
 * listens in its place.
 */
static void find_daemon(const struct system *sys, struct ucred *out)
{
	char path[RUNTIME_DIR_MAX_BYTES];
	struct sockaddr_un a;

	for (unsigned i = 0; i < RUNTIME_DIR_PLACES; i++)
		if (runtime_dir_get(i, path) == 0 && format_registry(sys, path, &a) == 0 &&
			ask_registry(&a, out) == 0 && is_trusted(sys, out) && out->pid > 1)
			return;
	out->pid = 0;
}

static int try_registry(const struct system *sys, const char *dir, struct finding *f)
{
	char word[FINDING_WORD_BYTES];
	struct sockaddr_un a;
	struct ucred peer;
	int r = format_registry(sys, dir, &a);

	if (r == 0)
		r = ask_registry(&a, &peer);
	if (r)
		return r;
	if (!is_trusted(sys, &peer)) {
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
			snprintf(stale, sizeof stale, "%s/" RUNTIME_DIR_REGISTRY, path);
	}
	if (*stale)
		finding_no(f, "%s: no process listens on it", stale);
	else
		finding_no(f, "no host daemon has a registry.sock for this user");
	set_start_command(sys, self, f);
}

/* --- ports --------------------------------------------------------------------------------- */

struct port_reply {
	unsigned port;
	int code; /* enum port_answer */
	char said[64];
	bool is_known; /* |owner| is known */
	struct port_owner owner;
};

static void ask_port(const struct system *sys, unsigned port, struct port_reply *a)
{
	*a = (struct port_reply){.port = port};
	a->code = sys->ask_port(port, a->said, sizeof a->said);
	a->is_known = a->code != PORT_NOBODY && port_owner_find(sys, port, &a->owner);
}

static bool is_of_daemon(const struct port_reply *a, enum port_answer wanted)
{
	return a->code == (int)wanted &&
	       (!a->is_known || !a->owner.pid || strcmp(a->owner.name, "proftapd") == 0);
}

static const char *name_answer(const struct port_reply *a)
{
	return a->code == PORT_GRPC  ? "a gRPC server"
	       : a->code == PORT_WEB ? "a web server"
				     : a->said;
}

/* Writes " of uid 0: nginx, pid 812", as far as it is known. */
static void describe_owner(const struct port_reply *a, char *out, size_t n)
{
	out[0] = '\0';
	if (a->is_known && a->owner.pid)
		snprintf(out, n, " of uid %u: %s, pid %d", a->owner.uid, a->owner.name,
			(int)a->owner.pid);
	else if (a->is_known)
		snprintf(out, n, " of uid %u", a->owner.uid);
}

static void judge_stranger(const struct system *sys, struct finding *f, const struct port_reply *a)
{
	char of[128];

	describe_owner(a, of, sizeof of);
	finding_no(f, "127.0.0.1:%u: another program, %s%s", a->port, name_answer(a), of);
	system_set_command(sys, f, "ss -ltnp sport = :%u", a->port);
	finding_set_reason(
		f, "shows the owner; end that program, or make proftapd listen elsewhere");
}

/*
 * Nothing listens on the usual port. |daemon| owns the registry; a pid of 0 means
 * that there is no daemon.
 */
static void judge_nobody(const struct system *sys, const struct check *self, struct finding *f,
	unsigned port, const struct ucred *daemon)
{
	unsigned any;

	if (!daemon->pid) {
		finding_no(f, "127.0.0.1:%u: no server", port);
		set_start_command(sys, self, f);
	} else if (port_owner_list(sys, daemon->pid, &any, 1)) {
		finding_none(f,
			"127.0.0.1:%u: no server; the host daemon, pid %d, has no such port", port,
			(int)daemon->pid);
	} else {
		finding_no(f,
			"127.0.0.1:%u: no server; the host daemon, pid %d, may listen elsewhere",
			port, (int)daemon->pid);
		system_set_command(sys, f, "proftap doctor");
		finding_set_reason(f, "shows where, if root runs it");
	}
}

/*
 * Lists the ports of the unit by lines such as "Listen=127.0.0.1:9121 (Stream)". Returns their
 * number.
 */
static size_t list_unit_ports(
	const struct system *sys, const char *unit, unsigned *ports, size_t max)
{
	const char *const argv[] = {"systemctl", "show", "--property", "Listen", unit, NULL};
	char text[512];
	size_t n = 0;

	if (!system_has_file(sys, "/run/systemd/system") || sys->print(argv, text, sizeof text))
		return 0;
	for (const char *at = strstr(text, "Listen="); at && n < max; at = strstr(at, "Listen=")) {
		at += strlen("Listen=");
		n += sscanf(at, "127.0.0.1:%u", &ports[n]) == 1 ||
		     sscanf(at, "0.0.0.0:%u", &ports[n]) == 1;
	}
	return n;
}

static void judge_port(const struct system *sys, const struct check *self, struct finding *f,
	unsigned port, enum port_answer wanted)
{
	struct port_reply usual;
	struct port_reply other;
	struct ucred daemon;
	unsigned ports[MAX_PORTS];
	char of[128];
	size_t n = 0;

	ask_port(sys, port, &usual);
	if (is_of_daemon(&usual, wanted)) {
		describe_owner(&usual, of, sizeof of);
		finding_yes(f, "127.0.0.1:%u: %s%s", port, name_answer(&usual), of);
		return;
	}
	find_daemon(sys, &daemon);
	n = list_unit_ports(sys, self->about, ports, MAX_PORTS / 2);
	if (daemon.pid)
		n += port_owner_list(sys, daemon.pid, ports + n, MAX_PORTS - n);
	for (size_t i = 0; i < n; i++) {
		ask_port(sys, ports[i], &other);
		if (ports[i] == port || !is_of_daemon(&other, wanted))
			continue;
		describe_owner(&other, of, sizeof of);
		finding_yes(
			f, "127.0.0.1:%u, not %u: %s%s", ports[i], port, name_answer(&other), of);
		return;
	}
	if (usual.code == PORT_NOBODY)
		judge_nobody(sys, self, f, port, &daemon);
	else
		judge_stranger(sys, f, &usual);
}

void check_port_grpc(const struct system *sys, const struct check *self, struct finding *f)
{
	judge_port(sys, self, f, ADDRESS_HOST_PORT, PORT_GRPC);
}

void check_port_web(const struct system *sys, const struct check *self, struct finding *f)
{
	judge_port(sys, self, f, WEB_PORT, PORT_WEB);
}
