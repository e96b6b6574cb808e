/* SPDX-License-Identifier: Apache-2.0 */
/* Text for a terminal; see terminal.h. */
#include "client/process/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/printable.h"

void terminal_write(const char *text, FILE *out)
{
	size_t n = strlen(text);

	while (n > 0) {
		size_t kept;
		size_t length = printable_next(text, n, &kept);

		if (kept)
			fwrite(text, 1, kept, out);
		else
			putc('?', out);
		text += length;
		n -= length;
	}
}

void terminal_write_line(const char *label, const char *text, FILE *out)
{
	fprintf(out, "  %s: ", label);
	terminal_write(text, out);
	putc('\n', out);
}

/* A shell would replace a leading '~' by a home directory. */
static bool is_ordinary(const char *word)
{
	static const char ordinary[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				       "0123456789_./~@%+=:,-";

	return word[0] && word[0] != '~' && word[strspn(word, ordinary)] == '\0';
}

void terminal_write_word(const char *word, FILE *out)
{
	if (is_ordinary(word)) {
		fputs(word, out);
		return;
	}
	putc('\'', out);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", out);
		else
			putc(*word, out);
	}
	putc('\'', out);
}

size_t terminal_get_width(FILE *out)
{
	struct winsize size;

	return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static bool is_nonempty(const char *value)
{
	return value && *value;
}

bool terminal_has_color(FILE *out)
{
	const char *term = getenv("TERM");

	return isatty(fileno(out)) && !is_nonempty(getenv("NO_COLOR")) && is_nonempty(term) &&
	       strcmp(term, "dumb") != 0;
}

void terminal_write_colored(const char *color, const char *text, FILE *out)
{
	fputs(color, out);
	terminal_write(text, out);
	fputs(*color ? TERMINAL_PLAIN : "", out);
}

/* --- standard streams ------------------------------------------------------------------------- */

/* The state before streams_start(). */
static bool was_closed[STDERR_FILENO + 1];
static void (*file_size_action)(int);

void streams_start(void)
{
	/*
	 * open() takes the lowest free number. The file is opened for reading only, so that
	 * writing fails with EBADF.
	 */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		was_closed[fd] = fcntl(fd, F_GETFD) < 0 && errno == EBADF;
		if (was_closed[fd] && open("/dev/null", O_RDONLY) < 0)
			break;
	}
	file_size_action = signal(SIGXFSZ, SIG_IGN);
}

void streams_expect_pipe(void)
{
	signal(SIGPIPE, SIG_IGN);
}

void streams_give_back(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (was_closed[fd])
			close(fd);
	signal(SIGXFSZ, file_size_action);
}

/* Keeps the first failure, because a second fflush() would not report it again. */
static int first_error;

int streams_fail(int r)
{
	if (!first_error)
		fprintf(stderr, "standard output: cannot write: %s\n", errno_words(-r));
	first_error = first_error ? first_error : r;
	return first_error;
}

int streams_finish(void)
{
	if (first_error)
		return first_error;
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	return streams_fail(errno ? -errno : -EIO);
}
