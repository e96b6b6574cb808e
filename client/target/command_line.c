/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines of processes; see command_line.h. */
#include "client/target/command_line.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "client/process/terminal.h"

#define MAX_BYTES 65536

/*
 * Reads /proc/PID/|file| into *out, terminated; the caller frees it. Returns the number of bytes or
 * a negative errno.
 */
static ssize_t read_all(const char *root, pid_t pid, const char *file, char **out)
{
	char path[PATH_MAX];
	size_t n = 0;
	FILE *f;

	*out = NULL;
	snprintf(path, sizeof path, "%s/proc/%d/%s", root, (int)pid, file);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	*out = malloc(MAX_BYTES + 1);
	if (*out) {
		n = fread(*out, 1, MAX_BYTES, f);
		(*out)[n] = '\0';
	}
	fclose(f);
	return *out ? (ssize_t)n : -ENOMEM;
}

/* Reads the working directory of the process; "" if the kernel does not report it. */
static void read_dir(const char *root, const char *pid_dir, char *out, size_t n)
{
	char path[PATH_MAX];
	ssize_t length;

	snprintf(path, sizeof path, "%s%s/cwd", root, pid_dir);
	length = readlink(path, out, n - 1);
	out[length > 0 ? length : 0] = '\0';
}

/* Returns true if |path| is the file that the process runs, or a hard link to it. */
static bool is_its_program(const char *root, pid_t pid, const char *path)
{
	char link[PATH_MAX];
	struct stat a;
	struct stat b;

	snprintf(link, sizeof link, "%s/proc/%d/exe", root, (int)pid);
	return stat(link, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static const char *find_variable(const char *environment, ssize_t n, const char *name)
{
	size_t n_name = strlen(name);

	for (const char *p = environment; n > 0 && p < environment + n; p += strlen(p) + 1)
		if (strncmp(p, name, n_name) == 0 && p[n_name] == '=')
			return p + n_name + 1;
	return NULL;
}

/*
 * Looks for |word| in the directories of the process's PATH. A relative directory begins in |dir|,
 * the working directory of the process; an empty one means |dir|.
 */
static bool find_in_path(
	const char *root, pid_t pid, const char *word, const char *dir, char out[static PATH_MAX])
{
	_cleanup_free_ char *environment = NULL;
	ssize_t n = read_all(root, pid, "environ", &environment);
	const char *dirs = find_variable(environment, n, "PATH");

	dirs = dirs ? dirs : getenv("PATH");
	while (dirs) {
		int length = (int)strcspn(dirs, ":");
		bool is_absolute = dirs[0] == '/';

		if (snprintf(out, PATH_MAX, "%s%s%.*s/%s", is_absolute ? "" : dir,
			    is_absolute || !length ? "" : "/", length, dirs, word) < PATH_MAX &&
			is_its_program(root, pid, out))
			return true;
		dirs = dirs[length] ? dirs + length + 1 : NULL;
	}
	return false;
}

static bool find_program(
	const char *root, pid_t pid, const char *word, const char *dir, char out[static PATH_MAX])
{
	int n;

	if (!strchr(word, '/'))
		return find_in_path(root, pid, word, dir, out);
	n = word[0] == '/' ? snprintf(out, PATH_MAX, "%s", word)
			   : snprintf(out, PATH_MAX, "%s/%s", dir, word);
	return n < PATH_MAX && is_its_program(root, pid, out);
}

/*
 * Returns true if |word| is a file in the process's working directory |dir|, but not the same file
 * in ours.
 */
static bool is_file_of(const char *dir, const char *word)
{
	char path[PATH_MAX];
	struct stat there;
	struct stat here;

	if (!*word || word[0] == '/' || !*dir ||
		snprintf(path, sizeof path, "%s/%s", dir, word) >= (int)sizeof path ||
		stat(path, &there))
		return false;
	return stat(word, &here) || here.st_dev != there.st_dev || here.st_ino != there.st_ino;
}

/* Writes |first| and the words from |rest| to |end| into |out|; |n|, its size, is at least 4. */
static void format_words(const char *first, const char *rest, const char *end, char *out, size_t n)
{
	_cleanup_free_ char *text = NULL;
	size_t n_bytes = 0;
	FILE *f = open_memstream(&text, &n_bytes);

	out[0] = '\0';
	if (!f)
		return;
	terminal_write_word(first, f);
	for (const char *p = rest; p < end; p += strlen(p) + 1) {
		fputc(' ', f);
		terminal_write_word(p, f);
	}
	if (fclose(f) == 0 && text)
		utf8_fit(out, n, text);
}

/*
 * Returns the name of the program's file. If the process has set a title with
 * blanks, returns all of it.
 */
static const char *name_program(const char *word)
{
	const char *slash = strchr(word, ' ') ? NULL : strrchr(word, '/');

	return slash && slash[1] ? slash + 1 : word;
}

void command_line_show(pid_t pid, char *out, size_t n)
{
	_cleanup_free_ char *words = NULL;
	ssize_t n_bytes = read_all("", pid, "cmdline", &words);

	out[0] = '\0';
	if (n_bytes <= 0)
		return;
	format_words(name_program(words), words + strlen(words) + 1, words + n_bytes, out, n);
	printable_clean(out);
}

bool command_line_replace(const char *word, const char *to, char *out, size_t n)
{
	_cleanup_free_ char *words = NULL;
	_cleanup_free_ char *changed = NULL;
	ssize_t n_bytes = read_all("", getpid(), "cmdline", &words);
	size_t n_changed = 0;
	int n_found = 0;
	FILE *f = n_bytes > 0 ? open_memstream(&changed, &n_changed) : NULL;

	if (!f)
		return false;
	for (const char *p = words; p < words + n_bytes; p += strlen(p) + 1) {
		bool is_it = strcmp(p, word) == 0;

		n_found += is_it;
		fwrite(is_it ? to : p, 1, strlen(is_it ? to : p) + 1, f);
	}
	if (fclose(f) || !changed || n_found != 1)
		return false;
	format_words(
		name_program(changed), changed + strlen(changed) + 1, changed + n_changed, out, n);
	return out[0] && strlen(out) + sizeof UTF8_CUT < n;
}

int command_line_read(const char *root, pid_t pid, struct command_line *out)
{
	_cleanup_free_ char *words = NULL;
	ssize_t n = read_all(root, pid, "cmdline", &words);
	const char *arguments;
	char pid_dir[32];
	char dir[PATH_MAX];

	memset(out, 0, sizeof *out);
	if (n < 0)
		return (int)n;
	snprintf(pid_dir, sizeof pid_dir, "/proc/%d", (int)pid);
	read_dir(root, pid_dir, dir, sizeof dir);
	if (!words[0] || !find_program(root, pid, words, dir, out->program))
		return -ENODATA;
	arguments = words + strlen(words) + 1;
	format_words(out->program, arguments, words + n, out->text, sizeof out->text);
	for (const char *p = arguments; p < words + n; p += strlen(p) + 1)
		if (is_file_of(dir, p))
			snprintf(out->dir, sizeof out->dir, "%s", dir);
	return out->text[0] ? 0 : -ENOMEM;
}
