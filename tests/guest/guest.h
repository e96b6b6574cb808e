/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every host program here includes this file. A host is an ordinary program. Its behaviour
 * is its standard output and its exit status. It is built twice: NAME.plain without libproftap, and
 * NAME.host with it. It starts its server by GUEST_START(); the driver (host.py) chooses the effect
 * by GUEST_MODE:
 *
 * 	off        nothing
 * 	armed      starts a server
 * 	recording  starts a server and waits until a capture records
 *
 * Each start writes a line for the driver to the file GUEST_REPORT: "pid result port sentence".
 */
#ifndef GUEST_GUEST_H
#define GUEST_GUEST_H

#include <proftap/proftap.h>

#ifdef PTAP_DISABLE
#define GUEST_START() ((void)0)
#define GUEST_STOP() ((void)0)
#define GUEST_AWAIT() ((void)0)
#else
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define GUEST_START() guest_start()
#define GUEST_STOP() ((void)ptap_server_stop())
#define GUEST_AWAIT() guest_await()

#define GUEST_UNUSED __attribute__((unused))

#define GUEST_N_SLOTS 63
#define GUEST_SLOT_BYTES 1024

/*
 * The file GUEST_REPORT: the first slot is a count, the others are lines. It is mapped, so it needs
 * no descriptor.
 */
static char *guest_slots;

static __attribute__((constructor)) void guest_map_report(void)
{
	const char *path = getenv("GUEST_REPORT");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;

	if (fd < 0)
		return;
	guest_slots = (char *)mmap(NULL, (GUEST_N_SLOTS + 1) * GUEST_SLOT_BYTES,
		PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
}

static GUEST_UNUSED int guest_mode_is(const char *mode)
{
	const char *asked = getenv("GUEST_MODE");

	return asked && strcmp(asked, mode) == 0;
}

static GUEST_UNUSED void guest_report(int result)
{
	unsigned n = __atomic_fetch_add((unsigned *)(void *)guest_slots, 1, __ATOMIC_SEQ_CST);

	if (n < GUEST_N_SLOTS)
		snprintf(guest_slots + (n + 1) * GUEST_SLOT_BYTES, GUEST_SLOT_BYTES,
			"%d %d %d %s\n", (int)getpid(), result, ptap_server_port(),
			result ? ptap_last_error() : "");
}

/* Waits until a capture records. Does nothing in the other modes. */
static GUEST_UNUSED void guest_await(void)
{
	const struct timespec tick = {0, 1000000};
	time_t give_up = time(NULL) + 15;

	if (!guest_mode_is("recording"))
		return;
	while (!ptap_enabled(1)) {
		if (time(NULL) > give_up)
			_exit(99);
		nanosleep(&tick, NULL);
	}
	PTAP_INSTANT("guest awaited");
}

static GUEST_UNUSED void guest_start(void)
{
	const char *port = getenv("GUEST_PORT");
	const char *ring_bytes = getenv("GUEST_RING_BYTES");
	struct ptap_server_options options = PTAP_SERVER_OPTIONS_INIT;
	int cancel_state;
	int result;

	if (!guest_slots || (!guest_mode_is("armed") && !guest_mode_is("recording")))
		return;
	options.port = (uint16_t)(port ? atoi(port) : 0);
	options.ring_bytes = ring_bytes ? (uint32_t)atoi(ring_bytes) : 0;
	options.log_dir = getenv("GUEST_LOG_DIR");
	result = ptap_server_start_with(&options);
	/* A host that is cancelled writes its report first. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	guest_report(result);
	pthread_setcancelstate(cancel_state, NULL);
	if (result == 0)
		guest_await();
}
#endif

#endif
