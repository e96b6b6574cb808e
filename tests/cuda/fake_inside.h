/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files of the fake libcupti share; see fake.h. */
#ifndef TESTS_CUDA_FAKE_INSIDE_H
#define TESTS_CUDA_FAKE_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/cuda/fake.h"

/* Numbers of cupti_result.h. */
#define OK 0
#define INVALID_PARAMETER 1
#define INVALID_OPERATION 7
#define MAX_LIMIT_REACHED 12
#define NOT_INITIALIZED 15
#define INVALID_KIND 21
#define MULTIPLE_SUBSCRIBERS 39
#define UNKNOWN 999

#define N_KINDS 64u
#define N_ATTRIBUTES 16u

typedef void (*callback_function)(
	void *state, uint32_t domain, uint32_t callback, const void *information);
typedef void (*request_function)(uint8_t **buffer, size_t *bytes, size_t *max_records);
typedef void (*complete_function)(
	void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes);

/* --- fake_state.c: knobs, checks of the calling process, recorded calls -------------------- */

uint64_t knob(enum fake_knob k);
void knob_set(enum fake_knob k, uint64_t value);
void knobs_reset(void);
__attribute__((noreturn, format(printf, 1, 2))) void broken(const char *format, ...);

/*
 * Called first by each function: records the call, and returns the error that the script wants.
 * Ends the process if it was forked since the last reset.
 */
int asked(const char *function);
bool is_forked(void); /* since the last reset */
void check_process(const char *function); /* for functions that are not recorded */
void asked_fail(const char *function, int result, int nth);
int asked_count(const char *function);
bool asked_is_before(const char *first, const char *second);
void asked_reset(void);

/* The kind of the client's callback in which the calling thread is. */
enum inside {
	IN_NONE,
	IN_CALLBACK,
	IN_REQUEST,
	IN_COMPLETE,
};
enum inside inside_set(enum inside next); /* returns the state before */
bool inside_is_any(void);
enum inside inside_get(void);

/* Blocks until somebody calls fake->release(). */
void wait_for_release(void);
void release_all(void);

uint64_t now_ns(void);

/* --- fake_subscriber.c: the slot and its callbacks ----------------------------------------- */

void subscriber_reset(void);
/*
 * Kinds and buffers belong to the whole process. Ends the process if |function| is called by a
 * client whose subscription was refused because another tool is subscribed.
 */
void subscriber_check_right(const char *function);
void subscriber_take(const char *holder);
bool subscriber_is_there(void);
int subscriber_count_callbacks(void);
void subscriber_call(uint32_t domain, uint32_t callback, const void *information);
/* The same, but also without a subscriber if FAKE_ENDS_CALLS_LATE is set. */
void subscriber_call_late(uint32_t domain, uint32_t callback, const void *information);
void subscriber_end(void); /* CUPTI ends itself or is finalized */

/* --- fake_activity.c: kinds, attributes, the records' way into buffers ---------------------- */

void activity_reset(void);
bool activity_is_enabled(uint32_t kind);
uint64_t activity_get_attribute(uint32_t attribute);
void activity_end(void);

/* --- fake_buffers.c ------------------------------------------------------------------------ */

void buffers_reset(void);
void buffers_register(request_function request, complete_function complete);
void buffers_append(const struct fake_record *r);
void buffers_flush(bool is_forced);
void buffers_ask(void); /* requests one for the calling thread, with nothing to write */
void buffers_give_back(void); /* all that there are */
void buffers_hold_device(void);
void buffers_let_device_go(void);
int buffers_count(void);
size_t buffers_take_dropped(void);

/* --- fake_record.c ------------------------------------------------------------------------- */

size_t record_write(uint32_t version, const struct fake_record *r, uint8_t *at);
size_t record_stride(uint32_t version, uint32_t kind); /* 0: there is no such kind */
void record_set_end(uint8_t *at,
	uint64_t end_ns); /* for a record of record_write() whose kind runs on the device */
bool record_is_of_device(uint32_t kind);
void record_reset(void); /* frees all names that were not read */
int record_next(uint8_t *buffer, size_t valid_bytes, void **record);

/* --- fake_sampling.c: counters ------------------------------------------------------------- */

void sampling_reset(void);

/* --- fake_mapped.c: the driver, if the program has loaded one -------------------------------- */

bool driver_is_initialized(void);
void driver_guard(void); /* registers the check for forbidden calls with the driver */
void driver_set_context(uint32_t context, bool is_alive);

/* --- fake_program.c ------------------------------------------------------------------------ */

const char *program_name(uint32_t domain, uint32_t callback); /* NULL: there is none such */

#endif
