/* SPDX-License-Identifier: Apache-2.0 */
/* Showing traces in the Perfetto UI; see perfetto_view.h. */
#include "client/view/perfetto_view.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "client/process/exit.h"
#include "client/process/interrupt.h"
#include "client/process/terminal.h"
#include "client/view/conversion.h"
#include "client/view/trace_server.h"
#include "trace/codec/codec.h"
#include "trace/json.h"
#include "trace/read/view.h"

struct perfetto_show {
	const struct perfetto_view *settings;
	const struct view *view;
	const char *path;
	struct perfetto_link link;
	struct trace_server server;
	struct codec_result result;
	int fd;
};

/* --- the link --------------------------------------------------------------------------------- */

/* The limit of the name that the UI shows for the trace. */
#define NAME_BYTES 128

static bool is_plain(char c)
{
	return isalnum((unsigned char)c) || c == '.' || c == '_' || c == '-';
}

/* Keeps characters that need no quoting in a URL, nor in a URL within a URL. */
static void format_name(const char *name, char out[static NAME_BYTES])
{
	size_t n = 0;

	for (; *name && n + 1 < NAME_BYTES; name++)
		out[n++] = is_plain(*name) ? *name : '_';
	out[n] = '\0';
}

static int make_path(struct perfetto_link *l, const char *name, struct diag *d)
{
	char plain[NAME_BYTES];
	uint64_t secret[2];

	if (getrandom(secret, sizeof secret, 0) != sizeof secret)
		return diag_set(d, -errno, "the link: no random numbers: %s", errno_words(errno));
	format_name(name, plain);
	snprintf(l->path, sizeof l->path, "/%016" PRIx64 "%016" PRIx64 "/%s.pftrace", secret[0],
		secret[1], plain);
	return 0;
}

static bool is_address(const char *text)
{
	struct in6_addr address;

	return inet_pton(AF_INET, text, &address) == 1 || inet_pton(AF_INET6, text, &address) == 1;
}

/* SSH_CONNECTION is "CLIENT PORT SERVER PORT": returns the server's address and sshd's port. */
static bool read_connection(char host[static 64], int *port)
{
	const char *connection = getenv("SSH_CONNECTION");

	if (!connection || !*connection)
		return false;
	if (sscanf(connection, "%*s %*s %63s %d", host, port) == 2 && is_address(host) &&
		*port > 0 && *port <= UINT16_MAX)
		return true;
	*port = 22;
	if (gethostname(host, 64) < 0)
		snprintf(host, 64, "HOST");
	host[63] = '\0';
	return true;
}

/*
 * Writes "USER@" for the tunnel's command, because the user's name may differ on the other machine;
 * "": not known.
 */
static void format_user(char out[static 72])
{
	const char *user = getenv("USER");

	out[0] = '\0';
	if (!user || !*user || *user == '-' || strlen(user) > 64)
		return;
	for (const char *p = user; *p; p++)
		if (!is_plain(*p))
			return;
	snprintf(out, 72, "%s@", user);
}

static void make_tunnel(struct perfetto_link *l, uint16_t port)
{
	char host[64];
	char user[72];
	char option[16] = "";
	int ssh_port;

	l->tunnel[0] = '\0';
	if (!read_connection(host, &ssh_port))
		return;
	if (ssh_port != 22)
		snprintf(option, sizeof option, " -p %d", ssh_port);
	format_user(user);
	snprintf(l->tunnel, sizeof l->tunnel, "ssh -N%s -L %d:127.0.0.1:%u %s%s", option,
		PERFETTO_LINK_PORT, port, user, host);
}

/* Makes the link of a file |name| that is served at |port|. 0, or a negative errno with |d|. */
static int perfetto_link_make(
	struct perfetto_link *l, uint16_t port, const char *name, struct diag *d)
{
	int r = make_path(l, name, d);
	uint16_t there;

	if (r)
		return r;
	make_tunnel(l, port);
	there = l->tunnel[0] ? PERFETTO_LINK_PORT : port;
	snprintf(l->url, sizeof l->url, "http://127.0.0.1:%u%s", there, l->path);
	snprintf(l->text, sizeof l->text, PERFETTO_LINK_ORIGIN "/#!/?url=%s", l->url);
	/* A parameter of the link makes the UI use another port. */
	if (there != PERFETTO_LINK_PORT)
		snprintf(l->text + strlen(l->text), sizeof l->text - strlen(l->text),
			"&rpc_port=%u", there);
	return 0;
}

static bool is_at(const char *host, const char *name, uint16_t port)
{
	char expected[32];

	snprintf(expected, sizeof expected, "%s:%u", name, port);
	return strcasecmp(host, expected) == 0;
}

/* Accepts the default port, too, because the browser may use it through a tunnel. */
bool perfetto_link_is_host(const char *host, uint16_t port)
{
	const uint16_t ports[] = {port, PERFETTO_LINK_PORT};
	bool is_ours = false;

	for (int i = 0; host && i < 2; i++)
		is_ours = is_ours || is_at(host, "127.0.0.1", ports[i]) ||
			  is_at(host, "localhost", ports[i]);
	return is_ours;
}

/* --- size ---------------------------------------------------------------------------------- */

#define WAYS_OUT                                                                              \
	"show less of the trace with --from, --to, --name; or load it into trace_processor, " \
	"and open " PERFETTO_LINK_ORIGIN

static int fail_size(const struct perfetto_show *s, uint64_t n_events, struct diag *d)
{
	return diag_set(d, -EFBIG,
		"%.240s: %" PRIu64 " events are too many for a browser (--max_events, %" PRId64
		"): " WAYS_OUT,
		s->path, n_events, s->settings->max_events);
}

static int fail_bytes(const struct perfetto_show *s, struct diag *d)
{
	return diag_set(d, -EFBIG,
		"%.240s: %" PRIu64 " bytes are too many for a browser: " WAYS_OUT, s->path,
		s->result.n_bytes);
}

/* With a selection, the number of events is only known after the conversion. */
static int check_before(const struct perfetto_show *s, struct diag *d)
{
	uint64_t n_events = s->view->selection ? 0 : s->view->n_events;

	return n_events > (uint64_t)s->settings->max_events ? fail_size(s, n_events, d) : 0;
}

static int check_after(const struct perfetto_show *s, struct diag *d)
{
	if (s->result.n_items > (uint64_t)s->settings->max_events)
		return fail_size(s, s->result.n_items, d);
	return s->result.n_bytes > PERFETTO_VIEW_MAX_BYTES ? fail_bytes(s, d) : 0;
}

/* --- the file ------------------------------------------------------------------------------ */

/* Opens a file without a name, which the kernel removes however this process ends. */
static int open_unlinked(const char *directory)
{
	_cleanup_free_ char *path = NULL;
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
		return fd < 0 ? -errno : fd;
	if (asprintf(&path, "%s/proftap-XXXXXX", directory) < 0)
		return -ENOMEM;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}

static int fail_file(const char *directory, int r, struct diag *d)
{
	return diag_set(d, r,
		"%.200s: cannot write a temporary file: %s; choose another directory with TMPDIR",
		directory, errno_words(-r));
}

static int convert_view(struct perfetto_show *s, struct diag *d)
{
	const struct trace_conversion c = {
		.codec = codec_find("perfetto"), .options = CODEC_OPTIONS_INIT};
	const char *directory = getenv("TMPDIR");
	int r;

	if (!directory || !*directory)
		directory = "/tmp";
	s->fd = open_unlinked(directory);
	if (s->fd < 0)
		return fail_file(directory, s->fd, d);
	r = conversion_write(&c, s->view, s->fd, false, &s->result, d);
	return r && !d->text[0] ? fail_file(directory, r, d) : r;
}

/* --- the report ---------------------------------------------------------------------------- */

static const char *get_host_stem(const struct perfetto_show *s)
{
	const char *slash = strrchr(s->path, '/');

	return s->view->n_archives == 1 ? s->view->hosts[0].stem : slash ? slash + 1 : s->path;
}

static void say_text(const struct perfetto_show *s)
{
	FILE *out = s->settings->out;

	fprintf(stderr, "serving %" PRIu64 " of %" PRIu64 " events, %.1f MB, %s; Ctrl-C ends it\n",
		s->result.n_items, s->view->n_events, (double)s->result.n_bytes / 1e6,
		s->settings->keeps ? "any number of times" : "until it was fetched once");
	conversion_say_losses(codec_find("perfetto"), s->view, &s->result);
	if (s->result.n_items == 0)
		fprintf(stderr, "  warning: there are no events in it\n");
	if (s->link.tunnel[0])
		fprintf(stderr,
			"if the browser is on another machine, run the ssh command below there, then open "
			"the link\n");
	else if (s->settings->port != PERFETTO_LINK_PORT)
		fprintf(stderr,
			"  note: the Perfetto UI fetches from port %d only, unless its flag \"Relax CSP\" is set\n",
			PERFETTO_LINK_PORT);
	fprintf(out, "%s\n", s->link.text);
	if (s->link.tunnel[0])
		fprintf(out, "%s\n", s->link.tunnel);
}

static void say_json(const struct perfetto_show *s)
{
	struct json j;

	json_begin(&j, s->settings->out);
	json_text(&j, "link", s->link.text);
	json_text(&j, "url", s->link.url);
	json_known_text(&j, "tunnel", s->link.tunnel);
	json_int(&j, "port", s->settings->port);
	json_text(&j, "format", "perfetto");
	conversion_write_json_members(s->view, &s->result, &j);
	json_end(&j);
}

/* --- serving ------------------------------------------------------------------------------- */

/* Opens the port before the conversion, so that a port in use is reported at once. */
static int open_server(struct perfetto_show *s, struct diag *d)
{
	s->server = (struct trace_server){
		.port = (uint16_t)s->settings->port,
		.port_option = s->settings->port_option,
		.path = s->link.path,
		.keeps = s->settings->keeps,
		.n_interrupts = s->settings->n_interrupts,
	};
	return trace_server_open(&s->server, d);
}

static int serve_file(struct perfetto_show *s, struct diag *d)
{
	s->server.fd = s->fd;
	s->server.n_bytes = s->result.n_bytes;
	interrupt_start();
	if (s->settings->is_json)
		say_json(s);
	else
		say_text(s);
	if (s->settings->out == stdout && streams_finish())
		return EXIT_FAILED;
	return trace_server_run(&s->server, d);
}

static int convert_and_serve(struct perfetto_show *s, struct diag *d)
{
	int r = convert_view(s, d);

	if (r == 0)
		r = check_after(s, d);
	if (r == 0)
		return serve_file(s, d);
	return r == -ECANCELED ? EXIT_INTERRUPTED : EXIT_FAILED;
}

int perfetto_view_run(
	const struct perfetto_view *p, const struct view *view, const char *path, struct diag *d)
{
	struct perfetto_show s = {.settings = p, .view = view, .path = path, .fd = -1};
	int code;

	if (check_before(&s, d) ||
		perfetto_link_make(&s.link, (uint16_t)p->port, get_host_stem(&s), d) ||
		open_server(&s, d))
		return EXIT_FAILED;
	code = convert_and_serve(&s, d);
	trace_server_close(&s.server);
	closep(&s.fd);
	return code;
}

/* --- the command for trace_processor ------------------------------------------------------- */

#define FILE_NAME "FILE.pftrace"

static void write_option(const struct processor_option *o, FILE *out)
{
	fprintf(out, " --%s", o->name);
	if (!o->value)
		return;
	putc('=', out);
	terminal_write_word(o->value, out);
}

/* Returns true if an operand begins with '-', so that "--" must precede the operands. */
static bool is_end_needed(const struct processor_command *c)
{
	for (size_t i = 0; i < c->n_places; i++)
		if (c->places[i][0] == '-')
			return true;
	return false;
}

void processor_command_write(const struct processor_command *c, FILE *out)
{
	fputs("  proftap convert -t perfetto -o " FILE_NAME, out);
	for (size_t i = 0; i < c->n_options; i++)
		write_option(&c->options[i], out);
	fputs(is_end_needed(c) ? " --" : "", out);
	for (size_t i = 0; i < c->n_places; i++) {
		putc(' ', out);
		terminal_write_word(c->places[i], out);
	}
	fputs(" && trace_processor server http " FILE_NAME "\n", out);
}
