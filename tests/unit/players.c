/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that annotate; see players.h. */
#include "tests/unit/players.h"

#include <check.h>
#include <proftap/proftap.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

struct player {
	pthread_t thread;
	sem_t go;
	sem_t is_done;
	void (*act)(void); /* NULL: the thread is to end */
};

static struct player players[N_PLAYERS];
struct played played;
static _Thread_local int opened;

static void *play_all(void *context)
{
	struct player *p = context;

	while (sem_wait(&p->go), p->act) {
		p->act();
		sem_post(&p->is_done);
	}
	return NULL;
}

void players_start(void)
{
	for (int i = 0; i < N_PLAYERS; i++) {
		struct player *p = &players[i];

		sem_init(&p->go, 0, 0);
		sem_init(&p->is_done, 0, 0);
		ck_assert_int_eq(pthread_create(&p->thread, NULL, play_all, p), 0);
	}
}

void players_play(int i, void (*act)(void))
{
	players[i].act = act;
	sem_post(&players[i].go);
	sem_wait(&players[i].is_done);
}

void players_stop(int i)
{
	players[i].act = NULL;
	sem_post(&players[i].go);
	pthread_join(players[i].thread, NULL);
}

static const char *note_event(void)
{
	static char name[16];

	ck_assert_int_lt(played.n, PLAYED_MAX);
	played.events[played.n].start = played.events[played.n].end = played.now;
	snprintf(name, sizeof name, "%d", played.n++);
	return name;
}

void play_begin(void)
{
	ptap_begin_dyn(note_event());
	opened = played.n - 1;
}

void play_end(void)
{
	played.events[opened].end = played.now;
	ptap_end();
}

void play_point(void)
{
	ptap_instant_dyn(note_event());
}

void play_begin_and_end(void)
{
	play_begin();
	played.now += 12;
	play_end();
	played.now += 6;
}
