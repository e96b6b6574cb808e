/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hostile program without libproftap: `hostile SEED WHAT`. It makes the memory that a server
 * expects, starts a server, and overwrites that memory with random bytes for the rest of its life.
 * WHAT is "records" or "all". "records" spares the words of the control thread, which the program
 * plays correctly, so that captures go on. It prints "PORT SERVER_PID", and how the server ended,
 * if it does.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "lib/wire/arena.h"
#include "lib/wire/serve.h"

#define N_RINGS 8u
#define RING_BYTES ARENA_MIN_RING_BYTES
#define LIFE_S 60

static struct arena *arena;
static uint64_t random_state;
static bool has_ticks; /* whether the server expects ticks */

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void fail(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t arena_bytes(void)
{
	return arena_size_bytes(N_RINGS, RING_BYTES);
}

static int make_arena(void)
{
	int fd = memfd_create("hostile", MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, (off_t)arena_bytes()) ||
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		fail("arena");
	arena = mmap(NULL, arena_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (arena == MAP_FAILED)
		fail("arena");
	arena->magic = ARENA_MAGIC;
	arena->version_low = ARENA_VERSION_LOW;
	arena->version_high = ARENA_VERSION_HIGH;
	arena->n_rings = N_RINGS;
	arena->ring_bytes = RING_BYTES;
	arena->size_bytes = arena_bytes();
	arena->pid = (int32_t)getpid();
	strcpy(arena->name, "hostile");
	return fd;
}

static int make_listener(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t n = sizeof address;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (struct sockaddr *)&address, n) || listen(fd, 16) ||
		getsockname(fd, (struct sockaddr *)&address, &n))
		fail("listener");
	arena->port = ntohs(address.sin_port);
	return fd;
}

static pid_t start_server(int listener, int memfd)
{
	char pid[16];
	pid_t child;

	snprintf(pid, sizeof pid, "%d", (int)getpid());
	child = fork();
	if (child)
		return child;
	listener = fcntl(listener, F_DUPFD, 10);
	memfd = fcntl(memfd, F_DUPFD, 10);
	dup2(listener, SPAWN_FD_LISTENER);
	dup2(memfd, SPAWN_FD_ARENA);
	close(listener);
	close(memfd);
	execl(getenv("PROFTAPD"), "proftapd", "--attached", pid, (char *)NULL);
	_exit(127);
}

/* Plays the control thread: announces it, and acknowledges each command. */
static void play_along(void)
{
	uint32_t command = atomic_load(&arena->command);

	atomic_store(&arena->guest, (uint32_t)getpid() | ARENA_WAITERS);
	if (atomic_load(&arena->ack) == command)
		return;
	atomic_store(&arena->word, 7);
	atomic_store(&arena->ack, command);
	syscall(SYS_futex, &arena->ack, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static uint64_t now(void)
{
	struct timespec t;

	if (has_ticks)
		return ticks_read();
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Half of the words are noise, the others are close to valid ones. */
static uint64_t next_word(void)
{
	uint64_t random = next_random();

	switch (random % 8) {
	case 0:
		return 7; /* the capture's word, a small length, a state */
	case 1:
		return RING_USED * UINT64_C(0x0101010101010101);
	case 2:
		return record_word0(now(), 1 + random % 5, random % 128, random % 4);
	case 3:
		return slot_word0(random % 4096, (enum slot_type)(random % 9), random % 100);
	default:
		return next_random();
	}
}

/* Overwrites up to |n| words between |from| and |to|, from a random word on. */
static void scribble(uint64_t from, uint64_t to, unsigned n)
{
	_Atomic uint64_t *words = (_Atomic uint64_t *)arena;
	uint64_t at = from + next_random() % (to - from);

	for (; n-- && at < to; at++)
		atomic_store_explicit(&words[at], next_word(), memory_order_relaxed);
}

/* Overwrites ring |i|'s head; half of the time it then appears to hold new records. */
static void advance(uint32_t i)
{
	struct ring *ring = arena_ring(arena, i, RING_BYTES);
	uint64_t at = (uint64_t)((char *)ring - (char *)arena) / 8;

	scribble(at, at + sizeof *ring / 8, 16);
	if (next_random() % 2) {
		atomic_store(&ring->head, atomic_load(&ring->tail) + next_random() % 2048);
		/* With some limits part of the records counts as overwritten. */
		ring->limit = atomic_load(&ring->head) + next_random() % 8192;
	}
	atomic_store(&ring->word, 7);
	atomic_store(&arena->ring_state[i], RING_USED);
}

static void overwrite(bool spares_control)
{
	uint64_t first = offsetof(struct arena, owner) / 8;
	uint64_t behind = offsetof(struct arena, strings_used) / 8;
	uint64_t end = arena_bytes() / 8;

	scribble(behind, end, 4096);
	scribble(arena_rings_offset() / 8, end, 64);
	scribble(behind, ARENA_HEAD_BYTES / 8, 64);
	scribble(0, first, 8);
	for (uint32_t i = 0; i < N_RINGS; i++)
		advance(i);
	if (spares_control)
		play_along();
	else
		scribble(0, behind, 4);
}

int main(int argc, char **argv)
{
	bool spares_control = argc > 2 && strcmp(argv[2], "records") == 0;
	int memfd;
	pid_t server;
	int status;

	if (argc < 3 || !getenv("PROFTAPD"))
		return 2;
	random_state = strtoull(argv[1], NULL, 0) * 2 + 1;
	alarm(LIFE_S);
	setvbuf(stdout, NULL, _IOLBF, 0);
	memfd = make_arena();
	server = start_server(make_listener(), memfd);
	while (atomic_load(&arena->hello) == ARENA_HELLO_NONE && !waitpid(server, &status, WNOHANG))
		play_along();
	has_ticks = atomic_load(&arena->clock) == ARENA_CLOCK_TICKS;
	printf("%d %d\n", arena->port, (int)server);
	while (!waitpid(server, &status, WNOHANG))
		overwrite(spares_control);
	printf("ended %s %d\n", WIFSIGNALED(status) ? "by signal" : "with",
		WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return 0;
}
