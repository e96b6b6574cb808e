/* SPDX-License-Identifier: Apache-2.0 */
/* The library's page, as forked children find it. */
#include "lib/record/guest.h"

#include <check.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/record/lock.h"

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

int main(void)
{
	Suite *suite = suite_create("guest");
	TCase *tcase = tcase_create("page");
	SRunner *runner;

	tcase_add_test(tcase, forked_children_find_no_lock_taken);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	srunner_free(runner);
	return 0;
}
