/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the container of a process, according to /proc. */
#include "daemon/kernel/container.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/fake_root.h"
#include "tests/unit/unit.h"

#define ID "3f2a9c1b4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8"
#define OTHER_ID "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define POD "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
#define POD_ "0a1b2c3d_4e5f_6071_8293_a4b5c6d7e8f9"
#define STATIC_POD "0a1b2c3d4e5f60718293a4b5c6d7e8f9"

/* Texts that the kernel writes, and the containers that they name. */
static const struct {
	const char *file;
	const char *cgroup;
	const char *id;
	const char *name;
	const char *pod;
} rows[] = {
	/* These processes are in no container. */
	{"0::/user.slice/user-1000.slice/session-3.scope\n",
		"/user.slice/user-1000.slice/session-3.scope", "", "", ""},
	{"0::/system.slice/docker.service\n", "/system.slice/docker.service", "", "", ""},
	{"0::/\n", "/", "", "", ""},
	{"", "", "", "", ""},
	{"nonsense", "", "", "", ""},
	/* Docker with systemd, without it, and with version 1 of cgroups. */
	{"0::/system.slice/docker-" ID ".scope\n", "/system.slice/docker-" ID ".scope", ID, "", ""},
	{"0::/docker/" ID "\n", "/docker/" ID, ID, "", ""},
	{"12:pids:/docker/" ID "\n1:name=systemd:/docker/" ID "\n", "/docker/" ID, ID, "", ""},
	{"12:pids:/docker/" ID "\n0::/\n", "/docker/" ID, ID, "", ""},
	/* For a container in another one, the inner one counts. */
	{"0::/docker/" OTHER_ID "/docker/" ID "\n", "/docker/" OTHER_ID "/docker/" ID, ID, "", ""},
	/* Podman, run by root and by a user. */
	{"0::/machine.slice/libpod-" ID ".scope/container\n",
		"/machine.slice/libpod-" ID ".scope/container", ID, "", ""},
	{"0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope\n",
		"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope", ID,
		"", ""},
	/* Kubernetes: containerd and CRI-O with systemd, and without it. */
	{"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD_
	 ".slice/cri-containerd-" ID ".scope\n",
		"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD_
		".slice/cri-containerd-" ID ".scope",
		ID, "", POD},
	{"0::/kubepods.slice/kubepods-pod" POD_ ".slice/crio-" ID ".scope\n",
		"/kubepods.slice/kubepods-pod" POD_ ".slice/crio-" ID ".scope", ID, "", POD},
	{"11:memory:/kubepods/besteffort/pod" POD "/" ID "\n",
		"/kubepods/besteffort/pod" POD "/" ID, ID, "", POD},
	{"0::/kubepods/pod" STATIC_POD "/" ID "\n", "/kubepods/pod" STATIC_POD "/" ID, ID, "",
		STATIC_POD},
	/* LXC and LXD. */
	{"0::/lxc.payload.web-1/system.slice/nginx.service\n",
		"/lxc.payload.web-1/system.slice/nginx.service", "", "web-1", ""},
	{"4:cpu:/lxc/web-1\n", "/lxc/web-1", "", "web-1", ""},
	/* systemd-nspawn, started by machinectl and by its unit. */
	{"0::/machine.slice/machine-web\\x2d1.scope/payload\n",
		"/machine.slice/machine-web\\x2d1.scope/payload", "", "web-1", ""},
	{"0::/machine.slice/systemd-nspawn@web\\x2d1.service/payload/init.scope\n",
		"/machine.slice/systemd-nspawn@web\\x2d1.service/payload/init.scope", "", "web-1",
		""},
	/* These ids have too many or too few digits. */
	{"0::/docker/" ID "0\n", "/docker/" ID "0", "", "", ""},
	{"0::/docker/3f2a9c1b4d5e\n", "/docker/3f2a9c1b4d5e", "", "", ""},
};

START_TEST(cgroups_tell_of_containers)
{
	struct container c;

	fake_root_write("/proc/42/cgroup", rows[_i].file);
	container_find(fake_root, 42, &c);
	ck_assert_str_eq(c.cgroup, rows[_i].cgroup);
	ck_assert_str_eq(c.id, rows[_i].id);
	ck_assert_str_eq(c.name, rows[_i].name);
	ck_assert_str_eq(c.pod, rows[_i].pod);
	ck_assert_int_eq(container_is_known(&c), *rows[_i].id || *rows[_i].name || *rows[_i].pod);
}
END_TEST

static void expect_inside(const char *status, int pid)
{
	struct container c;

	fake_root_write("/proc/4242/status", status);
	container_find(fake_root, 4242, &c);
	ck_assert_msg(c.pid_inside == pid, "\"%s\": %d, not %d", status, (int)c.pid_inside, pid);
}

START_TEST(the_pid_inside_is_the_innermost)
{
	expect_inside("Name:\tx\nNSpid:\t4242\nNSpgid:\t4242\n", 4242);
	expect_inside("Name:\tx\nNSpid:\t4242\t7\nNSpgid:\t1\n", 7);
	expect_inside("Name:\tx\nNSpid:\t4242\t300\t1\nNSpgid:\t1\n", 1);
	/* An old kernel does not write this line. */
	expect_inside("Name:\tx\nPid:\t4242\n", 4242);
	expect_inside("Name:\tx\nNSpid:\tnone\n", 4242);
}
END_TEST

START_TEST(container_of_an_absent_process_is_unknown)
{
	struct container c;

	container_find(fake_root, 43, &c);
	ck_assert_int_eq(c.pid_inside, 43);
	ck_assert_str_eq(c.cgroup, "");
	ck_assert_int_eq(container_is_known(&c), 0);
}
END_TEST

START_TEST(texts_are_cut_and_printable)
{
	char file[4000];
	struct container c;

	memset(file, 'a', sizeof file);
	memcpy(file, "0::/lxc/\x1b[31m", 12);
	file[sizeof file - 1] = '\0';
	fake_root_write("/proc/42/cgroup", file);
	container_find(fake_root, 42, &c);
	ck_assert_uint_eq(strlen(c.cgroup), sizeof c.cgroup - 1);
	ck_assert_uint_eq(strlen(c.name), sizeof c.name - 1);
	ck_assert_ptr_null(strchr(c.cgroup, '\x1b'));
	ck_assert_ptr_null(strchr(c.name, '\x1b'));
	fake_root_write("/proc/42/cgroup", "0::/machine.slice/machine-a\\x1b\\x00b.scope\n");
	container_find(fake_root, 42, &c);
	ck_assert_ptr_null(strchr(c.name, '\x1b'));
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_LOOP(cgroups_tell_of_containers, sizeof rows / sizeof *rows),
	UNIT_TEST(the_pid_inside_is_the_innermost),
	UNIT_TEST(container_of_an_absent_process_is_unknown),
	UNIT_TEST(texts_are_cut_and_printable),
	{NULL},
};

UNIT_MAIN("container", .set_up = fake_root_make, .tear_down = fake_root_remove, .tests = tests)
