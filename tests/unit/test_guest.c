/* SPDX-License-Identifier: Apache-2.0 */
/* The library's page: as forked children find it, and when a server takes the place of another. */
#define PTAP_IMPL_BUILDING
#include "lib/record/guest.h"

#include <check.h>
#include <proftap/proftap.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/record/lock.h"
#include "lib/record/site.h"
#include "lib/record/strings.h"

/* Also in a program that never started a server: nothing else wipes the page here. */
START_TEST(forked_children_find_no_lock_taken)
{
	struct guest *guest = guest_get();
	int status = -1;
	pid_t pid;

	guest_lock(&guest->lock);
	guest_lock(&guest->error_lock);
	pid = fork();
	if (pid == 0)
		_exit(!lock_try(&guest->lock) || !lock_try(&guest->error_lock));
	lock_release(&guest->error_lock);
	lock_release(&guest->lock);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

static char *name;
static struct arena *arenas[2];

static struct arena *make_arena(void)
{
	void *p = mmap(NULL, arena_rings_offset(), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(p, MAP_FAILED);
	return p;
}

/* While a thread is about to register a name: its server stops, and another one starts. */
static void replace_server(int signal)
{
	(void)signal;
	guest_get()->arena = arenas[1];
	strings_append(arenas[1], "another place");
	mprotect(name, 4096, PROT_READ | PROT_WRITE);
}

START_TEST(sites_keep_no_id_of_a_server_that_was_replaced)
{
	const struct sigaction action = {.sa_handler = replace_server};
	uint32_t id = 0;

	for (int i = 0; i < 2; i++) {
		arenas[i] = make_arena();
		atomic_store(&arenas[i]->strings_used, 8);
	}
	guest_get()->arena = arenas[0];
	name = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(name, MAP_FAILED);
	strcpy(name, "a place");
	ck_assert_int_eq(mprotect(name, 4096, PROT_NONE), 0);
	ck_assert_int_eq(sigaction(SIGSEGV, &action, NULL), 0);
	site_register(&id, name);
	ck_assert_uint_eq(id, 0);
	site_register(&id, name);
	ck_assert_str_eq(arena_strings(arenas[1]) + id * 8 + sizeof id, "a place");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("guest");
	TCase *tcase = tcase_create("page");
	SRunner *runner;

	tcase_add_test(tcase, forked_children_find_no_lock_taken);
	tcase_add_test(tcase, sites_keep_no_id_of_a_server_that_was_replaced);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	srunner_free(runner);
	return 0;
}
