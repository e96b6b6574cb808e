/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills rings with names that are nowhere else in memory, and aborts. A text on the heap lets the
 * test verify that its search of the core file works. usage: core [stay]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/guest/guest.h"

#define NAMES 20000

static void write_text(char *to, size_t n, const char *where, int i)
{
	snprintf(to, n, "%s%s%d", "only ", where, i);
}

static void annotate(void)
{
	char name[32];

	for (int i = 0; i < NAMES; i++) {
		write_text(name, sizeof name, "in rings ", i);
		PTAP_SPAN_DYN(name);
	}
	explicit_bzero(name, sizeof name);
}

int main(int argc, char **argv)
{
	char *text = malloc(32);

	if (!text)
		return 1;
	write_text(text, 32, "on heap ", 1);
	GUEST_START();
	annotate();
	printf("full\n");
	fflush(stdout);
	if (argc > 1 && strcmp(argv[1], "stay") == 0)
		for (int i = 0; i < 2000 && access("end", F_OK); i++)
			usleep(10000);
	else
		abort();
	free(text);
	return 0;
}
