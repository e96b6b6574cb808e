/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests proftap doctor's checks of the needs of a recording, each on a machine that has what it
 * checks, and on one that lacks it.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/doctor/library.h"
#include "client/doctor/port.h"
#include "tests/unit/doctor_fixture.h"
#include "tests/unit/fake_root.h"
#include "tests/unit/socket_tables.h"
#include "tests/unit/unit.h"

#define yes doctor_expect_yes
#define no doctor_expect_no
#define none doctor_expect_none

/* --- the kernel ---------------------------------------------------------------------------- */

START_TEST(proc_is_mounted_or_not)
{
	no("proc", "/proc is not mounted", "sudo mount -t proc proc /proc");
	doctor_system.uid = 0;
	no("proc", "/proc is not mounted", "mount -t proc proc /proc");
	fake_root_write("/proc/self/status", "Name:\tproftap\nPid:\t7\n");
	yes("proc", "mounted");
}
END_TEST

START_TEST(calls_that_are_missing_differ_from_calls_that_are_forbidden)
{
	yes("memory", "memfd_create");
	yes("pidfd", "pidfd_open");
	doctor_attempts[ATTEMPT_MEMFD] = -ENOSYS;
	no("memory", "function not implemented", NULL);
	ck_assert_ptr_nonnull(strstr(doctor_ask("memory")->reason, "Linux 3.17"));
	doctor_attempts[ATTEMPT_PIDFD] = -EPERM;
	no("pidfd", "operation not permitted", NULL);
	ck_assert_ptr_nonnull(strstr(doctor_ask("pidfd")->reason, "seccomp"));
}
END_TEST

START_TEST(loopback_is_up_or_not)
{
	yes("loopback", "127.0.0.1");
	doctor_attempts[ATTEMPT_LOOPBACK] = -ENETUNREACH;
	no("loopback", "127.0.0.1: network is unreachable", "sudo ip link set lo up");
}
END_TEST

START_TEST(owners_of_sockets_are_known_or_not)
{
	yes("sock_diag", "whose connection");
	doctor_attempts[ATTEMPT_SOCK_DIAG] = -EPROTONOSUPPORT;
	no("sock_diag", "does not tell", "sudo modprobe -a inet_diag tcp_diag");
	fake_root_write("/proc/self/net/tcp", "");
	yes("sock_diag", "/proc/net/tcp tells whose connection it is; sock_diag does not");
}
END_TEST

START_TEST(sock_diag_is_tried_on_a_socket)
{
	ck_assert_int_eq(attempt(ATTEMPT_SOCK_DIAG, 0), 0);
	socket_tables_lack_tcp();
	ck_assert_int_eq(attempt(ATTEMPT_SOCK_DIAG, 0), -ENOENT);
}
END_TEST

#if defined(__x86_64__)
#define SOURCES "/sys/devices/system/clocksource/clocksource0/"

START_TEST(the_counter_is_used_where_the_kernel_trusts_it)
{
	fake_root_write(SOURCES "current_clocksource", "tsc\n");
	yes("clock", "clocksource tsc");
	fake_root_write(SOURCES "current_clocksource", "hpet\n");
	fake_root_write(SOURCES "available_clocksource", "hpet acpi_pm \n");
	no("clock", "the clocksource is hpet", NULL);
	fake_root_write(SOURCES "available_clocksource", "tsc hpet acpi_pm \n");
	no("clock", "the clocksource is hpet",
		"sudo sh -c 'echo tsc >/sys/devices/system/clocksource/clocksource0/current_clocksource'");
}
END_TEST

START_TEST(a_virtual_clock_needs_a_constant_counter)
{
	fake_root_write(SOURCES "current_clocksource", "kvm-clock\n");
	fake_root_write("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu tsc constant_tsc\n");
	no("clock", "the counter is not constant", NULL);
	fake_root_write(
		"/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu tsc constant_tsc nonstop_tsc\n");
	yes("clock", "clocksource kvm-clock");
}
END_TEST
#endif

/* --- programs ------------------------------------------------------------------------------ */

/* Makes an executable file with this answer to --version. */
static void give_proftapd(const char *version)
{
	char path[256];

	fake_root_write("/proftapd", "");
	snprintf(path, sizeof path, "%s/proftapd", fake_root);
	chmod(path, 0755);
	setenv("PROFTAPD", path, 1);
	doctor_print.text = version;
}

START_TEST(proftapd_is_of_this_version_or_not)
{
	give_proftapd("proftapd " PACKAGE_VERSION);
	yes("proftapd", "/proftapd, " PACKAGE_VERSION);
	ck_assert_ptr_nonnull(strstr(doctor_program, "/proftapd --version"));
	give_proftapd("proftapd 99.0");
	no("proftapd", "is proftapd 99.0", "make install");
	doctor_print.code = -ETIMEDOUT;
	ck_assert_ptr_nonnull(strstr(doctor_ask("proftapd")->text, "no answer"));
	setenv("PROFTAPD", "/nonexistent", 1);
	no("proftapd", "PROFTAPD=/nonexistent is not an executable file", "unset PROFTAPD");
	unsetenv("PROFTAPD");
}
END_TEST

START_TEST(libproftap_is_of_this_version_or_not)
{
	char path[256];

	fake_root_write("/libproftap.so.1", "");
	snprintf(path, sizeof path, "%s/libproftap.so.1", fake_root);
	setenv("PROFTAP_LIB", path, 1);
	doctor_libraries[LIBRARY_PROFTAP] = (struct doctor_answer){0, PACKAGE_VERSION};
	yes("libproftap", PACKAGE_VERSION);
	ck_assert_str_eq(doctor_library_path, path);
	doctor_libraries[LIBRARY_PROFTAP].text = "99.0";
	no("libproftap", "is 99.0", "make install");
	doctor_libraries[LIBRARY_PROFTAP] = (struct doctor_answer){-ENOENT, "invalid ELF header"};
	ck_assert_ptr_nonnull(
		strstr(doctor_ask("libproftap")->text, "cannot be loaded: invalid ELF header"));
	setenv("PROFTAP_LIB", "/nonexistent", 1);
	no("libproftap", "PROFTAP_LIB=/nonexistent is not a file", "unset PROFTAP_LIB");
	unsetenv("PROFTAP_LIB");
}
END_TEST

START_TEST(a_library_that_a_command_needs_can_be_loaded_or_not)
{
	static const struct {
		const char *key;
		enum asked_library library;
		const char *file;
		const char *reason;
	} rows[] = {
		{"microhttpd", LIBRARY_MICROHTTPD, "libmicrohttpd.so.12",
			"serving pages needs it; install it (Debian: libmicrohttpd12)"},
		{"sqlite", LIBRARY_SQLITE, "libsqlite3.so.0",
			"writing a database needs it; install it (Debian: libsqlite3-0)"},
		{"libdw", LIBRARY_DW, "libdw.so.1",
			"finding the callers of functions needs it; install it (Debian: libdw1)"},
	};
	struct doctor_answer *answer = &doctor_libraries[rows[_i].library];

	*answer = (struct doctor_answer){-ENOENT, "file too short"};
	no(rows[_i].key, "cannot be loaded: file too short", NULL);
	ck_assert_str_eq(doctor_ask(rows[_i].key)->reason, rows[_i].reason);
	ck_assert_str_eq(doctor_library_path, rows[_i].file);
	*answer = (struct doctor_answer){0, "1.2.3"};
	yes(rows[_i].key, ", 1.2.3");
}
END_TEST

/* --- places -------------------------------------------------------------------------------- */

static void use_own_user(void)
{
	doctor_system.uid = geteuid();
	unsetenv("XDG_RUNTIME_DIR");
}

/* Makes files of all four places, which should be directories. */
static void spoil_places(void)
{
	char path[128];

	fake_root_write("/run/proftap", "");
	snprintf(path, sizeof path, "/run/user/%u/proftap", geteuid());
	fake_root_write(path, "");
	snprintf(path, sizeof path, "/tmp/proftap-%u", geteuid());
	fake_root_write(path, "");
}

START_TEST(the_first_place_for_sockets_counts)
{
	use_own_user();
	fake_root_add_folder("/run/proftap");
	yes("runtime_dir", "/run/proftap, mode 0700");
	setenv("XDG_RUNTIME_DIR", "/here", 1);
	fake_root_add_folder("/here");
	yes("runtime_dir", "/here/proftap (made when it is needed)");
	unsetenv("XDG_RUNTIME_DIR");
}
END_TEST

START_TEST(no_place_for_sockets_is_left)
{
	char command[128];

	use_own_user();
	spoil_places();
	snprintf(command, sizeof command, "%srm -r %s/tmp/proftap-%u", geteuid() ? "sudo " : "",
		fake_root, geteuid());
	no("runtime_dir", "none that only this user can access", command);
}
END_TEST

START_TEST(the_log_directory_can_be_written_or_not)
{
	char path[256];

	setenv("PROFTAP_LOG_DIR", fake_root, 1);
	ck_assert_ptr_nonnull(strstr(doctor_ask("log_dir")->text, fake_root));
	snprintf(path, sizeof path, "%s/logs/new", fake_root);
	setenv("PROFTAP_LOG_DIR", path, 1);
	yes("log_dir", "/logs/new (made when it is needed)");
	setenv("PROFTAP_LOG_DIR", "logs_of_mine/new", 1);
	yes("log_dir", "logs_of_mine/new (made when it is needed)");
	fake_root_write("/logs", "");
	setenv("PROFTAP_LOG_DIR", path, 1);
	no("log_dir", "(PROFTAP_LOG_DIR): not a directory", "export PROFTAP_LOG_DIR=$HOME/proftap");
	path[strlen(path) - strlen("/new")] = '\0';
	setenv("PROFTAP_LOG_DIR", path, 1);
	no("log_dir", "not a directory", "export PROFTAP_LOG_DIR=$HOME/proftap");
	unsetenv("PROFTAP_LOG_DIR");
}
END_TEST

/* --- limits -------------------------------------------------------------------------------- */

static const char *const limits[][3] = {
	{"limit_files", "Max open files", "ulimit -n 1024"},
	{"limit_file_size", "Max file size", "ulimit -f unlimited"},
	{"limit_memory", "Max address space", "ulimit -v unlimited"},
	{"limit_locked", "Max locked memory", "ulimit -l 8192"},
	{"limit_processes", "Max processes", "ulimit -u 256"},
};

START_TEST(a_limit_is_high_enough_or_not)
{
	const char *const *limit = limits[_i];
	char line[128];

	none(limit[0], "does not report it");
	snprintf(line, sizeof line, "Limit   Soft\n%-26s%-21s%-21s units\n", limit[1], "unlimited",
		"unlimited");
	fake_root_write("/proc/self/limits", line);
	yes(limit[0], "unlimited");
	snprintf(line, sizeof line, "Limit   Soft\n%-26s%-21llu%-21s units\n", limit[1], 1ull << 40,
		"unlimited");
	fake_root_write("/proc/self/limits", line);
	yes(limit[0], "");
	snprintf(line, sizeof line, "Limit   Soft\n%-26s%-21s%-21s units\n", limit[1], "100",
		"unlimited");
	fake_root_write("/proc/self/limits", line);
	no(limit[0], ": ", limit[2]);
}
END_TEST

/* --- the host daemon ----------------------------------------------------------------------- */

static void expect_unit(const char *shown, const char *text, const char *command)
{
	doctor_print = (struct doctor_answer){0, shown};
	no("unit_socket", text, command);
}

START_TEST(units_are_as_systemd_says)
{
	none("unit_socket", "systemd does not run here");
	fake_root_add_folder("/run/systemd/system");
	expect_unit("LoadState=not-found\nUnitFileState=\nActiveState=inactive", "not installed",
		"sudo make install");
	expect_unit("LoadState=masked\nUnitFileState=masked\nActiveState=inactive", "masked",
		"sudo systemctl unmask proftapd.socket");
	expect_unit("LoadState=loaded\nUnitFileState=disabled\nActiveState=inactive",
		"disabled, inactive", "sudo systemctl enable --now proftapd.socket");
	expect_unit("LoadState=loaded\nUnitFileState=enabled\nActiveState=failed", "failed",
		"sudo systemctl restart proftapd.socket");
	expect_unit("LoadState=loaded\nUnitFileState=enabled\nActiveState=inactive",
		"enabled, inactive", "sudo systemctl start proftapd.socket");
	doctor_print = (struct doctor_answer){
		0, "LoadState=loaded\nUnitFileState=enabled\nActiveState=active"};
	yes("unit_socket", "enabled, active");
	yes("unit_service", "enabled, active");
	ck_assert_ptr_nonnull(strstr(doctor_program, "systemctl show "));
	ck_assert_ptr_nonnull(strstr(doctor_program, " proftapd.service"));
	doctor_print.code = -ENOENT;
	no("unit_socket", "systemctl show: no such file", "systemctl status proftapd.socket");
}
END_TEST

START_TEST(ports_are_ours_or_not)
{
	doctor_port.code = PORT_GRPC;
	yes("port_grpc", "127.0.0.1:9021");
	ck_assert_uint_eq(doctor_port_number, 9021);
	no("port_web", "another program, a gRPC server", "sudo ss -ltnp sport = :9022");
	doctor_port = (struct doctor_answer){PORT_OTHER, "SSH-2.0"};
	no("port_grpc", "another program, SSH-2.0", "sudo ss -ltnp sport = :9021");
	doctor_port.code = PORT_WEB;
	yes("port_web", "a web server");
	doctor_port.code = PORT_NOBODY;
	no("port_web", "no server", "proftapd --host");
	fake_root_add_folder("/run/systemd/system");
	no("port_grpc", "no server", "sudo systemctl start proftapd.socket");
	no("port_web", "no server", "sudo systemctl start proftapd-web.socket");
}
END_TEST

START_TEST(owner_of_the_port_is_named)
{
	fake_root_write("/proc/net/tcp",
		"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
		"   0: 0100007F:233D 0200007F:0050 01 00000000:00000000 00:00000000 00000000  7 0 6 1 0\n"
		"   1: 0100007F:233D 00000000:0000 0A 00000000:00000000 00:00000000 00000000  99 0 77 1 0\n");
	doctor_port.code = PORT_GRPC;
	yes("port_grpc", "127.0.0.1:9021: a gRPC server of uid 99");
	fake_root_link("/proc/1/fd/3", "socket:[77]");
	fake_root_link("/proc/812/fd/4", "socket:[77]");
	fake_root_link("/proc/900/fd/4", "socket:[78]");
	fake_root_write("/proc/812/status", "Name:\tproftapd\n");
	yes("port_grpc", "a gRPC server of uid 99: proftapd, pid 812");
	fake_root_write("/proc/812/status", "Name:\tenvoy\n");
	no("port_grpc", "another program, a gRPC server of uid 99: envoy, pid 812",
		"sudo ss -ltnp sport = :9021");
}
END_TEST

START_TEST(a_port_of_the_unit_is_found)
{
	fake_root_add_folder("/run/systemd/system");
	doctor_print = (struct doctor_answer){
		0, "Listen=[::1]:9120 (Stream)\nListen=127.0.0.1:9121 (Stream)\n"};
	doctor_port.code = PORT_GRPC;
	doctor_only_port = 9121;
	yes("port_grpc", "127.0.0.1:9121, not 9021: a gRPC server");
	ck_assert_str_eq(doctor_program, "systemctl show --property Listen proftapd.socket");
	doctor_only_port = 9122;
	no("port_grpc", "127.0.0.1:9021: no server", "sudo systemctl start proftapd.socket");
}
END_TEST

static int listen_at(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	snprintf(a.sun_path, sizeof a.sun_path, "%s%s", fake_root, path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
	ck_assert_int_eq(listen(fd, 8), 0);
	return fd;
}

/* The owner of the registry is this process, whose sockets are those of the test. */
START_TEST(ports_of_the_owner_of_the_registry_are_found)
{
	char path[64];
	int fd;

	use_own_user();
	fake_root_add_folder("/run/proftap");
	fd = listen_at("/run/proftap/registry.sock");
	doctor_port.code = PORT_GRPC;
	doctor_only_port = 9121;
	no("port_grpc", "127.0.0.1:9021: no server; the host daemon, pid ",
		geteuid() ? "sudo proftap doctor" : "proftap doctor");
	fake_root_write("/proc/net/tcp",
		"   0: 0100007F:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0 0 76 1 0\n"
		"   1: 0100007F:23A1 00000000:0000 0A 00000000:00000000 00:00000000 00000000  99 0 77 1 0\n");
	snprintf(path, sizeof path, "/proc/%d/fd/4", (int)getpid());
	fake_root_link(path, "socket:[77]");
	snprintf(path, sizeof path, "/proc/%d/status", (int)getpid());
	fake_root_write(path, "Name:\tproftapd\n");
	yes("port_grpc", "127.0.0.1:9121, not 9021: a gRPC server of uid 99: proftapd, pid ");
	none("port_web", "127.0.0.1:9022: no server; the host daemon, pid ");
	close(fd);
	no("port_grpc", "127.0.0.1:9021: no server", "proftapd --host");
}
END_TEST

START_TEST(a_registry_is_there_or_not)
{
	int fd;

	use_own_user();
	no("registry", "no host daemon", "proftapd --host");
	fake_root_add_folder("/run/proftap");
	fd = listen_at("/run/proftap/registry.sock");
	yes("registry", "/run/proftap/registry.sock, uid ");
	close(fd);
	no("registry", "no process listens on it", "proftapd --host");
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(proc_is_mounted_or_not),
	UNIT_TEST(calls_that_are_missing_differ_from_calls_that_are_forbidden),
	UNIT_TEST(loopback_is_up_or_not),
	UNIT_TEST(owners_of_sockets_are_known_or_not),
	UNIT_TEST(sock_diag_is_tried_on_a_socket),
#if defined(__x86_64__)
	UNIT_TEST(the_counter_is_used_where_the_kernel_trusts_it),
	UNIT_TEST(a_virtual_clock_needs_a_constant_counter),
#endif
	UNIT_TEST(proftapd_is_of_this_version_or_not),
	UNIT_TEST(libproftap_is_of_this_version_or_not),
	UNIT_LOOP(a_library_that_a_command_needs_can_be_loaded_or_not, 3),
	UNIT_TEST(the_first_place_for_sockets_counts),
	UNIT_TEST(no_place_for_sockets_is_left),
	UNIT_TEST(the_log_directory_can_be_written_or_not),
	UNIT_LOOP(a_limit_is_high_enough_or_not, sizeof limits / sizeof *limits),
	UNIT_TEST(units_are_as_systemd_says),
	UNIT_TEST(ports_are_ours_or_not),
	UNIT_TEST(owner_of_the_port_is_named),
	UNIT_TEST(a_port_of_the_unit_is_found),
	UNIT_TEST(ports_of_the_owner_of_the_registry_are_found),
	UNIT_TEST(a_registry_is_there_or_not),
	{NULL},
};

UNIT_MAIN("doctor_needs", .set_up = doctor_fixture_make, .tear_down = doctor_fixture_remove,
	.tests = tests)
