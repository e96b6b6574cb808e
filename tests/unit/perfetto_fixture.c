/* SPDX-License-Identifier: Apache-2.0 */
/* Perfetto's packets for tests; see perfetto_fixture.h. */
#include "tests/unit/perfetto_fixture.h"

#include <check.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/diag.h"
#include "tests/unit/view_fixture.h"
#include "trace/codec/codec.h"
#include "trace/codec/sink.h"
#include "trace/xspace/pbwire.h"

#define MAX_PACKETS 4096

struct codec_result result;

static unsigned char *bytes;
static char *packets[MAX_PACKETS];
static size_t n_packets;
static char *found;

void perfetto_fixture_open(void)
{
	bytes = NULL;
	n_packets = 0;
	found = NULL;
}

static void forget(void)
{
	free(bytes);
	bytes = NULL;
	for (size_t i = 0; i < n_packets; i++)
		free(packets[i]);
	n_packets = 0;
}

void perfetto_fixture_close(void)
{
	forget();
	free(found);
}

const unsigned char *perfetto_convert(int level, int n_threads, size_t *n_bytes)
{
	struct codec_options options = {.level = level, .n_threads = n_threads};
	int fd = memfd_create("perfetto", MFD_CLOEXEC);
	struct diag d = DIAG_INIT;
	struct sink sink;

	forget();
	result = (struct codec_result){.n_items = 0};
	ck_assert_int_eq(sink_init(&sink, fd, 0), 0);
	ck_assert_msg(codec_perfetto.write(view, &options, &sink, &result, &d) == 0, "%s", d.text);
	ck_assert_int_eq(sink_finish(&sink), 0);
	*n_bytes = sink.n_written;
	sink_deinit(&sink);
	bytes = malloc(*n_bytes + 1);
	ck_assert_int_eq(pread(fd, bytes, *n_bytes, 0), (ssize_t)*n_bytes);
	close(fd);
	return bytes;
}

/* --- packets as text ----------------------------------------------------------------------- */

/* The paths of field numbers whose values are messages. */
static const char *const messages[] = {"6", "6.1", "11", "11.4", "12", "12.1", "12.2", "12.3",
	"12.5", "12.6", "12.7", "12.16", "12.17", "12.19", "35", "35.1", "35.18", "45", "59",
	"59.11", "59.12", "59.12.1", "60", "60.3", "60.4", "60.8", "66", "89", "126", "126.1"};

static bool is_message(const char *path)
{
	for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++)
		if (strcmp(messages[i], path) == 0)
			return true;
	return false;
}

static void write_fields(FILE *out, struct pb_reader r, const char *path);

static void write_len(FILE *out, const struct pb_field *f, const char *path)
{
	if (is_message(path)) {
		fputc('{', out);
		write_fields(out, pb_enter(f), path);
		fputc('}', out);
	} else {
		fprintf(out, ":\"%.*s\"", (int)f->n_bytes, (const char *)f->data);
	}
}

static void write_fields(FILE *out, struct pb_reader r, const char *path)
{
	const char *space = "";
	struct pb_field f;
	char inner[64];
	int rc;

	while ((rc = pb_next(&r, &f)) > 0) {
		snprintf(inner, sizeof inner, "%s%s%u", path, path[0] ? "." : "", f.tag >> 3);
		fprintf(out, "%s%u", space, f.tag >> 3);
		if ((f.tag & 7) == PB_LEN)
			write_len(out, &f, inner);
		else
			fprintf(out, (f.tag & 7) == PB_VARINT ? ":%" PRId64 : ":#%" PRIx64,
				f.value);
		space = " ";
	}
	ck_assert_int_eq(rc, 0);
}

static char *describe(const struct pb_field *packet)
{
	char *text;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	write_fields(out, pb_enter(packet), "");
	fclose(out);
	return text;
}

void perfetto_read(void)
{
	size_t n_bytes;
	const unsigned char *data = perfetto_convert(0, 1, &n_bytes);
	struct pb_reader r = pb_reader(data, n_bytes);
	struct pb_field f;
	int rc;

	while ((rc = pb_next(&r, &f)) > 0) {
		ck_assert_uint_eq(f.tag, PB_TAG(1, PB_LEN));
		ck_assert_uint_lt(n_packets, MAX_PACKETS);
		packets[n_packets++] = describe(&f);
	}
	ck_assert_int_eq(rc, 0);
}

const char *perfetto_packet(size_t index)
{
	return index < n_packets ? packets[index] : NULL;
}

const char *perfetto_find(const char *text)
{
	size_t n;
	FILE *out;

	free(found);
	out = open_memstream(&found, &n);
	for (size_t i = 0; i < n_packets; i++)
		if (strstr(packets[i], text))
			fprintf(out, "%s\n", packets[i]);
	fclose(out);
	return found;
}
