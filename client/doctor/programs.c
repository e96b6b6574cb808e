/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks whether proftapd and libproftap are found and have this version, and whether the libraries
 * can be loaded that only some commands need.
 */
#include "client/doctor/programs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/env.h"
#include "base/server_path.h"
#include "base/shared_library.h"
#include "client/doctor/checks.h"
#include "client/doctor/finding.h"
#include "client/doctor/library.h"
#include "client/doctor/system.h"
#include "client/program/program.h"

/* Sets a "no", with the advice to install all programs of one version. */
static void set_other_version(struct finding *f, const char *path, const char *version)
{
	finding_no(f, "%s is %s, and this is proftap " PACKAGE_VERSION, path, version);
	finding_set_command(f, "make install");
	finding_set_reason(f, "of the version that is wanted, in the folder where it was built");
}

static int find_proftapd(char path[static PATH_MAX], struct diag *d)
{
	char library[PATH_MAX];
	int r = program_find_library(library, NULL);

	return server_path_find(r == 0 ? library : NULL, path, PATH_MAX, d);
}

static void set_unfound(struct finding *f, enum env_variable variable, const struct diag *d)
{
	finding_no(f, "%s", d->text);
	if (env_get(variable))
		finding_set_command(f, "unset %s", env_table[variable].name);
	else
		finding_set_command(f, "make install");
}

void check_proftapd(const struct system *sys, const struct check *self, struct finding *f)
{
	const char *argv[] = {NULL, "--version", NULL};
	char path[PATH_MAX];
	char said[128];
	char word[FINDING_WORD_BYTES];
	struct diag d = DIAG_INIT;
	int r;

	(void)self;
	if (find_proftapd(path, &d)) {
		set_unfound(f, ENV_PROFTAPD, &d);
		return;
	}
	argv[0] = path;
	r = sys->print(argv, said, sizeof said);
	if (r < 0) {
		finding_no(f, "%s does not run: %s", path,
			r == -ETIMEDOUT ? "no answer" : errno_words(r));
		finding_set_command(f, "ldd %s", finding_quote(word, path));
	} else if (r > 0 || strcmp(said, "proftapd " PACKAGE_VERSION) != 0) {
		set_other_version(f, path, said);
	} else {
		finding_yes(f, "%s, " PACKAGE_VERSION, path);
	}
}

void check_libproftap(const struct system *sys, const struct check *self, struct finding *f)
{
	char path[PATH_MAX];
	char said[256];
	char word[FINDING_WORD_BYTES];
	struct diag d = DIAG_INIT;
	int r;

	(void)self;
	if (program_find_library(path, &d)) {
		set_unfound(f, ENV_PROFTAP_LIB, &d);
		return;
	}
	r = sys->ask_library(&(struct library_question){LIBRARY_PROFTAP, path}, said, sizeof said);
	if (r) {
		finding_no(f, "%s cannot be loaded: %s", path, *said ? said : errno_words(r));
		finding_set_command(f, "ldd %s", finding_quote(word, path));
	} else if (strcmp(said, PACKAGE_VERSION) != 0) {
		set_other_version(f, path, said);
	} else {
		finding_yes(f, "%s, %s", path, said);
	}
}

static void check_optional(const struct system *sys, struct finding *f, enum asked_library which,
	const struct shared_library_name *name)
{
	char said[256];
	int r = sys->ask_library(&(struct library_question){which, name->file}, said, sizeof said);

	if (r) {
		finding_no(f, "%s cannot be loaded: %s", name->file, *said ? said : errno_words(r));
		finding_set_reason(f, "%s; install it (Debian: %s)", name->use, name->package);
	} else {
		finding_yes(f, "%s, %s", name->file, said);
	}
}

void check_microhttpd(const struct system *sys, const struct check *self, struct finding *f)
{
	(void)self;
	check_optional(sys, f, LIBRARY_MICROHTTPD, &shared_library_microhttpd);
}

void check_sqlite(const struct system *sys, const struct check *self, struct finding *f)
{
	(void)self;
	check_optional(sys, f, LIBRARY_SQLITE, &shared_library_sqlite);
}

void check_libdw(const struct system *sys, const struct check *self, struct finding *f)
{
	(void)self;
	check_optional(sys, f, LIBRARY_DW, &shared_library_dw);
}

void programs_set_setcap(const struct system *sys, struct finding *f, const char *capabilities)
{
	char path[PATH_MAX];
	char word[FINDING_WORD_BYTES];

	if (sys->uid == 0)
		finding_set_reason(f,
			"root lacks %s here: start the container with it, or run proftapd outside "
			"of the container",
			capabilities);
	else if (find_proftapd(path, NULL))
		finding_set_reason(f, "proftapd, which needs the capability, was not found");
	else
		system_set_command(
			sys, f, "setcap %s+ep %s", capabilities, finding_quote(word, path));
}
