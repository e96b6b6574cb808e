/* SPDX-License-Identifier: Apache-2.0 */
/* Notes which instructions were reached; see code.h. */
#include "tests/crash/code.h"

#include <check.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"

#define LINE_BYTES 512

struct instruction {
	uint64_t at; /* address before relocation */
	bool is_reached;
	char source[200]; /* file:line */
	char text[96];
};

/* Functions that start and stop the recording. No annotation calls them. */
static const char *const others[] = {
	"<guest_choose_clock>:",
	"<guest_lock>:",
	"<guest_next_word>:",
	"<guest_wipe_on_fork>:",
	"<ptap_version>:",
	/*
	 * NVTX's functions: text arguments, and the names that it has given to threads. This
	 * program gives no such name, so a lookup finds nothing.
	 */
	"<args_write_text>:",
	"<thread_names_find>:",
	"<thread_names_set>:",
};

/* Source lines for which the compiler also emits instructions that can never run here. */
static const char *const never_reached[] = {
	/* Texts here do not have every length. */
	"memcpy(",
	"memset(",
	/* The loop over NVTX's thread names: there are none here. */
	"&names[i].tid",
};

static struct instruction *code;
static size_t n_code;
static size_t n_allocated;
static uint64_t bias; /* load address of the program minus its link address */

static int find_bias(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	bias = info->dlpi_addr;
	return 1; /* the first object is the program */
}

/* Returns true if the instruction is only padding between functions or before loops. */
static bool is_padding(const char *text)
{
	return strstr(text, "nop") || strstr(text, "data16") || strstr(text, "xchg   %ax,%ax");
}

static bool is_other(const char *label)
{
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (strstr(label, others[i]))
			return true;
	return false;
}

static void add(uint64_t at, const char *text, const char *source)
{
	struct instruction *i;

	if (is_padding(text))
		return;
	ck_assert_int_eq(grow(&code, &n_allocated, n_code + 1), 0);
	i = &code[n_code++];
	memset(i, 0, sizeof *i);
	i->at = at;
	snprintf(i->text, sizeof i->text, "%.*s", (int)strcspn(text, "\n"), text);
	snprintf(i->source, sizeof i->source, "%.*s", (int)strcspn(source, " \n"), source);
}

/*
 * A function belongs to lib/record if its first line does. Code that is inlined into it may come
 * from base.
 */
static void read_listing(FILE *f)
{
	char line[LINE_BYTES];
	char source[LINE_BYTES] = "";
	bool is_first = false; /* the next line is the first of a function */
	bool is_ours = false;

	while (fgets(line, sizeof line, f)) {
		unsigned long at;
		int n = 0;

		if (line[0] == '/') {
			if (is_first)
				is_ours = strstr(line, "/lib/record/") != NULL;
			is_first = false;
			snprintf(source, sizeof source, "%s", line);
		} else if (line[0] == '0' && strstr(line, ">:\n")) {
			is_first = !is_other(line);
			is_ours = false;
		} else if (is_ours && sscanf(line, " %lx:%n", &at, &n) == 1 && n) {
			add(at, line + n + 1, source);
		}
	}
}

int code_load(void)
{
	char command[128];
	FILE *f;

	snprintf(command, sizeof command, "objdump -d -l --no-show-raw-insn /proc/%d/exe 2>&1",
		(int)getpid());
	f = popen(command, "re");
	if (!f)
		return -errno;
	read_listing(f);
	pclose(f);
	dl_iterate_phdr(find_bias, NULL);
	return n_code ? 0 : -ENOENT;
}

/* For bsearch(): objdump lists the instructions in ascending order of address. */
static int compare(const void *key, const void *element)
{
	uint64_t at = *(const uint64_t *)key;
	const struct instruction *i = element;

	return at < i->at ? -1 : at > i->at;
}

bool code_reach(uint64_t pc)
{
	uint64_t at = pc - bias;
	struct instruction *found =
		n_code ? bsearch(&at, code, n_code, sizeof *code, compare) : NULL;

	if (found)
		found->is_reached = true;
	return found != NULL;
}

bool code_is_program(uint64_t pc)
{
	extern const char __executable_start[];
	extern const char etext[];

	return pc >= (uintptr_t)__executable_start && pc < (uintptr_t)etext;
}

size_t code_count(void)
{
	return n_code;
}

/* Returns true if the source line of the instruction is one of never_reached. */
static bool is_never_reached(const struct instruction *i)
{
	const char *colon = strrchr(i->source, ':');
	char line[LINE_BYTES] = "";
	char path[sizeof i->source];
	FILE *f;

	snprintf(path, sizeof path, "%.*s", colon ? (int)(colon - i->source) : 0, i->source);
	f = fopen(path, "re");
	ck_assert_msg(f != NULL, "%s: %s, so its lines cannot be read", path, strerror(errno));
	for (int n = colon ? atoi(colon + 1) : 0; n > 0 && fgets(line, sizeof line, f); n--)
		;
	fclose(f);
	for (size_t k = 0; k < sizeof never_reached / sizeof never_reached[0]; k++)
		if (strstr(line, never_reached[k]))
			return true;
	return false;
}

size_t code_report(void)
{
	size_t n = 0;

	for (size_t i = 0; i < n_code; i++) {
		if (code[i].is_reached || is_never_reached(&code[i]))
			continue;
		printf("# not reached: %s: %s\n", code[i].source, code[i].text);
		n++;
	}
	return n;
}
