/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline: reads the files of a directory, compresses them and writes the result, again and again,
 * until Ctrl-C. It is a program with several threads on which users can try proftap:
 *
 *	pipeline --port 9999 /usr/share/doc
 *	proftap capture 9999 500 --log_dir logs
 *
 *	reader ──▶ queue ──▶ workers (zlib) ──▶ queue ──▶ writer
 *
 * Only the lines with ptap_ and PTAP_ are needed for a recording. The lines with count_ are the
 * example's own count, for tests (see count.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <getopt.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include <proftap/proftap.h>

#include "docs/examples/count.h"
#include "docs/examples/queue.h"

#define MAX_FILES 4096
#define MAX_FILE_BYTES (1u << 20)
#define MAX_OUTPUT_BYTES (64l << 20) /* then the writer begins at the front again */
#define FILES_PER_BATCH 32
#define MAX_WORKERS 64

struct options {
	long port; /* 0: any free one */
	long n_workers;
	long seconds; /* 0: until a signal */
	long per_capture; /* batches in each capture; 0: work all the time */
	long n_batches; /* the program ends after these and prints their time; 0: no end */
	const char *count_path; /* NULL: do not count */
	bool no_server;
	const char *directory;
};

/* One file on its way through the pipeline. */
struct job {
	const char *path; /* borrowed */
	unsigned char *data;
	size_t n_bytes;
};

static struct options options = {.n_workers = 2};
static char *files[MAX_FILES];
static size_t n_files;
static struct queue raw = QUEUE_INIT;
static struct queue compressed = QUEUE_INIT;
static atomic_bool stopping;
static struct timespec began, began_cpu; /* clock and processor time at the first batch */
static FILE *output;

/* --- reader -------------------------------------------------------------------------------- */

static void job_free(struct job *job)
{
	free(job->data);
	free(job);
}

static struct job *job_new(const char *path, size_t n_bytes)
{
	struct job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->path = path;
	job->data = malloc(n_bytes ? n_bytes : 1);
	if (!job->data) {
		free(job);
		return NULL;
	}
	return job;
}

/* Fills |job| with at most |size| bytes of its file. */
static void load(struct job *job, size_t size)
{
	int fd;
	ssize_t n = 0;

	count_span(1, "open");
	{
		PTAP_SPAN("open");
		fd = open(job->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	}
	if (fd < 0)
		return;
	count_span(1, "load");
	PTAP_SPAN("load");
	while (job->n_bytes < size &&
		(n = read(fd, job->data + job->n_bytes, size - job->n_bytes)) > 0)
		job->n_bytes += (size_t)n;
	close(fd);
}

static struct job *read_file(const char *path)
{
	struct stat st;
	size_t size = 0;
	struct job *job;

	if (stat(path, &st) == 0)
		size = st.st_size < MAX_FILE_BYTES ? (size_t)st.st_size : MAX_FILE_BYTES;
	count_span(1, "read");
	PTAP_SPAN_ARGS("read", PTAP_S("file", path), PTAP_U("bytes", size));
	job = job_new(path, size);
	if (job)
		load(job, size);
	return job;
}

static void read_batch(long number)
{
	size_t n = n_files < FILES_PER_BATCH ? n_files : FILES_PER_BATCH;

	count_step("batch");
	PTAP_STEP("batch", number);
	for (size_t i = 0; i < n && !stopping; i++) {
		struct job *job = read_file(files[((size_t)number * n + i) % n_files]);
		size_t length;

		if (!job)
			continue;
		length = queue_push(&raw, job);
		count_counter("queue to compress");
		PTAP_COUNTER("queue to compress", (int64_t)length);
	}
}

static void wait_for_capture(bool on)
{
	const struct timespec pause = {.tv_nsec = 200 * 1000};

	while (!stopping && !!ptap_enabled(1) != on)
		nanosleep(&pause, NULL);
}

static void begin_time(void)
{
	clock_gettime(CLOCK_MONOTONIC, &began);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &began_cpu);
}

static void *run_reader(void *unused)
{
	long number = 0;

	(void)unused;
	ptap_thread_name("reader");
	count_thread("reader");
	while (!stopping && !(options.n_batches && number == options.n_batches)) {
		if (options.per_capture && number % options.per_capture == 0) {
			if (number > 0)
				wait_for_capture(false);
			wait_for_capture(true);
		}
		if (number == 0)
			begin_time();
		read_batch(number++);
	}
	queue_close(&raw);
	if (!stopping)
		kill(getpid(), SIGTERM);
	return NULL;
}

/* --- workers ------------------------------------------------------------------------------- */

/* Replaces the job's bytes by their compressed form. */
static void compress_job(struct job *job)
{
	uLongf size = compressBound(job->n_bytes);
	unsigned char *packed;

	count_span(1, "compress");
	PTAP_SPAN_ARGS("compress", PTAP_S("file", job->path), PTAP_U("bytes", job->n_bytes));
	packed = malloc(size);
	if (!packed)
		return;
	count_span(1, "deflate");
	PTAP_BEGIN("deflate");
	if (compress2(packed, &size, job->data, job->n_bytes, Z_DEFAULT_COMPRESSION) != Z_OK)
		size = 0;
	PTAP_END();
	free(job->data);
	job->data = packed;
	job->n_bytes = size;
}

static void *run_worker(void *name)
{
	struct job *job;

	ptap_thread_name(name);
	count_thread(name);
	while ((job = queue_pop(&raw))) {
		size_t length;

		compress_job(job);
		length = queue_push(&compressed, job);
		count_counter("queue to write");
		PTAP_COUNTER("queue to write", (int64_t)length);
	}
	return NULL;
}

/* --- writer -------------------------------------------------------------------------------- */

static void write_job(const struct job *job)
{
	count_span(1, "write");
	PTAP_SPAN_ARGS("write", PTAP_S("file", job->path), PTAP_U("bytes", job->n_bytes));
	if (ftell(output) > MAX_OUTPUT_BYTES)
		rewind(output);
	count_span(3, "checksum");
	{
		PTAP_SPAN_LEVEL(3, "checksum");
		fprintf(output, "%s %zu %08lx\n", job->path, job->n_bytes,
			crc32(0, job->data, (uInt)job->n_bytes));
	}
	fwrite(job->data, 1, job->n_bytes, output);
}

static void *run_writer(void *unused)
{
	struct job *job;

	(void)unused;
	ptap_thread_name("writer");
	count_thread("writer");
	while ((job = queue_pop(&compressed))) {
		write_job(job);
		job_free(job);
	}
	return NULL;
}

/* --- main ---------------------------------------------------------------------------------- */

static int add_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)ftw;
	if (type == FTW_F && S_ISREG(st->st_mode) && access(path, R_OK) == 0)
		files[n_files++] = strdup(path);
	return n_files == MAX_FILES || (n_files > 0 && !files[n_files - 1]);
}

static void usage(FILE *out)
{
	fputs("usage: pipeline [options] DIRECTORY\n"
	      "  --port N         profiler server on 127.0.0.1:N (default: any free port, printed)\n"
	      "  --no-server      start no profiler server\n"
	      "  --workers N      threads that compress (default 2)\n"
	      "  --seconds N      stop after N seconds (default: at SIGINT or SIGTERM)\n"
	      "  --per-capture N  idle; work through N batches whenever a capture runs\n"
	      "  --batches N      stop after N batches, and print their duration\n"
	      "  --count FILE     at the end, and on SIGUSR1, write the counts of annotations in captures\n",
		out);
}

static long number(const char *name, const char *text, long min, long max)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < min || value > max) {
		fprintf(stderr, "pipeline: --%s %s: not a number from %ld to %ld\n", name, text,
			min, max);
		exit(2);
	}
	return value;
}

static void parse_options(int argc, char **argv)
{
	static const struct option table[] = {
		{"batches", required_argument, NULL, 'B'},
		{"count", required_argument, NULL, 'c'},
		{"help", no_argument, NULL, 'h'},
		{"no-server", no_argument, NULL, 'n'},
		{"per-capture", required_argument, NULL, 'b'},
		{"port", required_argument, NULL, 'p'},
		{"seconds", required_argument, NULL, 's'},
		{"workers", required_argument, NULL, 'w'},
		{NULL, 0, NULL, 0},
	};
	int c;

	while ((c = getopt_long(argc, argv, "", table, NULL)) != -1) {
		switch (c) {
		case 'B':
			options.n_batches = number("batches", optarg, 1, LONG_MAX);
			break;
		case 'b':
			options.per_capture = number("per-capture", optarg, 1, LONG_MAX);
			break;
		case 'c':
			options.count_path = optarg;
			break;
		case 'n':
			options.no_server = true;
			break;
		case 'p':
			options.port = number("port", optarg, 0, 65535);
			break;
		case 's':
			options.seconds = number("seconds", optarg, 1, INT_MAX);
			break;
		case 'w':
			options.n_workers = number("workers", optarg, 1, MAX_WORKERS);
			break;
		default:
			usage(c == 'h' ? stdout : stderr);
			exit(c == 'h' ? 0 : 2);
		}
	}
	if (optind != argc - 1) {
		usage(stderr);
		exit(2);
	}
	options.directory = argv[optind];
}

static double get_ms_since(clockid_t clock, const struct timespec *start)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)(now.tv_sec - start->tv_sec) * 1e3 +
	       (double)(now.tv_nsec - start->tv_nsec) / 1e6;
}

static void print_time(void)
{
	printf("pipeline: %ld batches in %.3f ms, %.3f ms of the processor\n", options.n_batches,
		get_ms_since(CLOCK_MONOTONIC, &began),
		get_ms_since(CLOCK_PROCESS_CPUTIME_ID, &began_cpu));
}

static void start_thread(pthread_t *thread, void *(*run)(void *), void *argument)
{
	int r = pthread_create(thread, NULL, run, argument);

	if (r != 0) {
		fprintf(stderr, "pipeline: cannot start a thread: %s\n", strerror(r));
		exit(1);
	}
}

static void write_count(void)
{
	int r = options.count_path ? count_write(options.count_path) : 0;

	if (r != 0)
		fprintf(stderr, "pipeline: %s: %s\n", options.count_path, strerror(-r));
}

/* Returns when the program is to end. |signals| are blocked in all threads. */
static void wait_for_end(const sigset_t *signals)
{
	struct timespec end, now, left = {0};
	int signal;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += options.seconds;
	do {
		clock_gettime(CLOCK_MONOTONIC, &now);
		left.tv_sec = end.tv_sec > now.tv_sec ? end.tv_sec - now.tv_sec : 0;
		signal = sigtimedwait(signals, NULL, options.seconds ? &left : NULL);
		if (signal == SIGUSR1)
			write_count();
	} while (signal == SIGUSR1 || (signal < 0 && errno == EINTR));
}

static void run_pipeline(const sigset_t *signals)
{
	pthread_t reader, writer, workers[MAX_WORKERS];
	char names[MAX_WORKERS][32];

	start_thread(&writer, run_writer, NULL);
	for (long i = 0; i < options.n_workers; i++) {
		snprintf(names[i], sizeof(names[i]), "worker-%ld", i + 1);
		start_thread(&workers[i], run_worker, names[i]);
	}
	start_thread(&reader, run_reader, NULL);

	wait_for_end(signals);
	stopping = true;
	pthread_join(reader, NULL);
	for (long i = 0; i < options.n_workers; i++)
		pthread_join(workers[i], NULL);
	queue_close(&compressed);
	pthread_join(writer, NULL);
	if (options.n_batches)
		print_time();
	write_count();
}

int main(int argc, char **argv)
{
	sigset_t signals;

	parse_options(argc, argv);
	nftw(options.directory, add_file, 16, FTW_PHYS);
	if (n_files == 0) {
		fprintf(stderr, "pipeline: %s: no files there that can be read\n",
			options.directory);
		return 1;
	}
	output = tmpfile();
	if (!output) {
		fprintf(stderr, "pipeline: cannot make a temporary file: %s\n", strerror(errno));
		return 1;
	}
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);

	if (!options.no_server && ptap_server_start((uint16_t)options.port) != 0) {
		fprintf(stderr, "pipeline: %s\n", ptap_last_error());
		return 1;
	}
	printf("pipeline: pid %d, port %d, %zu files of %s\n", (int)getpid(), ptap_server_port(),
		n_files, options.directory);
	fflush(stdout);
	run_pipeline(&signals);
	/* The server ends with the program. */
	return 0;
}
