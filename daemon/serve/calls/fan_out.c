/* SPDX-License-Identifier: Apache-2.0 */
/* One recording of many hosts; see fan_out.h. */
#include "daemon/serve/calls/fan_out.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/local_name.h"
#include "daemon/serve/calls/errand.h"
#include "daemon/serve/calls/fan_out_own.h"
#include "daemon/serve/calls/fan_out_round.h"
#include "daemon/serve/session/repository.h"
#include "daemon/serve/session/session.h"
#include "daemon/target/family.h"
#include "daemon/target/target.h"
#include "trace/run_dir.h"

/* Who. */

static int is_own_name(const struct arena *arena, const char *host)
{
	char name[256];

	if (local_name_is(host) || strcmp(host, "127.0.0.1") == 0 || strcmp(host, "[::1]") == 0)
		return 1;
	repository_name_host(name, sizeof name);
	return strcmp(host, name) == 0 || strncmp(host, arena->address, sizeof arena->address) == 0;
}

static int is_own(const struct fan_out *f, const char *address)
{
	const struct arena *arena = f->session->family->main->arena;
	const char *colon = strrchr(address, ':');
	char host[256];

	if (!colon || strtoul(colon + 1, NULL, 10) != arena->port)
		return 0;
	snprintf(host, sizeof host, "%.*s", (int)(colon - address), address);
	return is_own_name(arena, host);
}

#define DIGITS "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

static int is_port(const char *text)
{
	size_t n = strspn(text, DIGITS);
	unsigned long port = strtoul(text, NULL, 10);

	return n > 0 && n < 6 && !text[n] && port > 0 && port <= UINT16_MAX;
}

/* Nothing else is connected to: no path, and no scheme of gRPC's. */
static int is_address(const char *text)
{
	const char *colon = strrchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : 0;
	size_t n_host = n > 2 && text[0] == '[' && text[n - 1] == ']'
				? 2 + strspn(text + 1, DIGITS "abcdefABCDEF:.")
				: strspn(text, DIGITS LETTERS ".-_");

	return n > 0 && n == n_host && is_port(colon + 1);
}

static int is_known(const struct fan_out *f, const char *address)
{
	for (size_t i = 0; i < f->n_hosts; i++)
		if (strcmp(f->hosts[i].name, address) == 0)
			return 1;
	return f->own && is_own(f, address);
}

int fan_out_add(struct fan_out *f, const char *address, struct diag *d)
{
	struct fan_out_host *h = &f->hosts[f->n_hosts];

	if (!is_address(address) || strlen(address) >= sizeof h->capture.address)
		return diag_set(d, -EINVAL, "host \"%.100s\": must be HOST:PORT", address);
	if (is_known(f, address))
		return 0;
	if (f->n_hosts - (f->own != NULL) == FAN_OUT_MAX_HOSTS)
		return diag_set(d, -EINVAL, "there may be %d hosts at most", FAN_OUT_MAX_HOSTS);
	h->name = address;
	if (is_own(f, address))
		f->own = h;
	f->n_hosts++;
	return 0;
}

/* It records itself, whether it is among the hosts or not. */
static void add_own(struct fan_out *f)
{
	if (f->own)
		return;
	f->own = &f->hosts[f->n_hosts++];
	repository_name_host(f->own_name, 256);
	snprintf(f->own_name + strlen(f->own_name), 16, "_%u",
		f->session->family->main->arena->port);
	f->own->name = f->own_name;
}

/* All. */

static void start_others(struct fan_out *f)
{
	int64_t end_ns = fan_out_round_find_end_ns(f->request);

	/* What the disk has left bounds them. */
	f->share.max_bytes = UINT64_MAX;
	for (size_t i = 0; i < f->n_hosts; i++)
		if (&f->hosts[i] != f->own)
			fan_out_host_start(&f->hosts[i], &f->asked, &f->share, end_ns);
}

/* What each is asked: the client's request, but for the place of the data. */
static void set_request(struct fan_out *f)
{
	f->asked = *f->request;
	f->asked.emit_xspace = 1;
	f->asked.repository_root = (char *)"";
	f->asked.session_id = (char *)f->session_id;
}

int fan_out_record(struct fan_out *f)
{
	struct fan_out_turn turn = {.stock = NULL};
	int is_cancelled = 0;

	add_own(f);
	set_request(f);
	start_others(f);
	fan_out_own_start(f);
	while (!is_cancelled && fan_out_round_poll(f->hosts, f->n_hosts, f->own, &turn))
		is_cancelled = errand_is_cancelled(f->errand);
	is_cancelled = fan_out_own_await(f, is_cancelled);
	for (size_t i = 0; i < f->n_hosts; i++)
		if (&f->hosts[i] != f->own)
			fan_out_host_end(&f->hosts[i]);
	return is_cancelled;
}

static void publish(struct fan_out *f, struct fan_out_host *h, const char *root)
{
	struct run_dir run;
	struct diag d = DIAG_INIT;
	int r;

	if (!h->trace || h->is_empty || h->error[0])
		return;
	r = repository_open_run(f->repository, root, f->session_id, &run, &d);
	if (!r) {
		r = repository_publish(&run, h->trace, h->name, &d);
		run_dir_close(&run);
	}
	if (r)
		fan_out_host_fail(h, d.text);
	/* Its place is the next file's. */
	fan_out_host_deinit(h);
}

void fan_out_publish(struct fan_out *f, const char *root)
{
	for (size_t i = 0; i < f->n_hosts; i++)
		publish(f, &f->hosts[i], root);
}

void fan_out_deinit(struct fan_out *f)
{
	for (size_t i = 0; i < f->n_hosts; i++)
		fan_out_host_deinit(&f->hosts[i]);
}
