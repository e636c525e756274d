// SPDX-License-Identifier: Apache-2.0
// The parts of bench-device: what all of them say and use (device.c), every path checked (device_test.c, and between
// PEs device_pes.c), copies timed (device_speed.c), calls of the driver counted (device_counts.c), and the driver
// itself, used without this library, as other libraries use it (device_driver.c).
#ifndef BENCH_DEVICE_H
#define BENCH_DEVICE_H

#include <shmem.h>
#include <shmemx.h>

#include <stdbool.h>
#include <stddef.h>

enum { BYTES = 3 << 20, POOL = 16 << 20, PLACES = 16 };

struct place {
    shmemx_device_info_t info;
    char name[32]; /* "npu:0" */
    shmemx_device_pool_t pool;
    void *a, *b; /* of the pool, BYTES each */
};

extern unsigned char *host; /* BYTES of host memory */

/* --- saying: lines for people, of which shmem-bench reads those that begin with "result" and "count" ---------------
 */

/* Says whether a step went well: rc of the call, or of wrong(). */
void step(const char *device, const char *what, int rc);
void skip(const char *device, const char *what, const char *why);
/* -1; the text of a step that fails without the library. */
__attribute__((format(printf, 1, 2))) int wrong(const char *format, ...);
/* 1, an exit status: what the other process of a step says before it ends. */
int complain(const char *what);
/* The text of what failed last: of wrong(), or of the library. */
const char *why(void);

/* --- bytes -------------------------------------------------------------------------------------------------------- */

/* Of `host`; put and check are of BYTES of device memory, by way of it. */
unsigned char pattern(size_t i, int seed);
void fill(size_t bytes, int seed);
int compare(size_t bytes, int seed);
int put(void *to, int seed);
int check(const void *from, int seed);

/* --- places ------------------------------------------------------------------------------------------------------- */

/* The devices of a type (NULL: of all), each with a pool; says what is there and what is not. *seen: devices that the
   drivers show. Returns how many a pool could be made on. */
int find_places(const char *wanted, struct place places[PLACES], int *seen);
void close_places(struct place *places, int count);
/* "npu:0" in its parts. */
int read_place(const char *place, char type[16], int *number);
/* Another process of this program; its process number or -1. */
int start(const char *what, const char *key, const char *more);

/* --- the driver itself -------------------------------------------------------------------------------------------- */

enum direction { TO_DEVICE, FROM_DEVICE, WITHIN_DEVICE };

struct driver {
    bool cuda, entered;
    void *library;
};

/* The driver that this library has opened; the device (-1: none) is the calling thread's until driver_close(). 0, or -1
   with the reason by wrong(), as all of these. */
int driver_open(struct driver *d, const char *type, int number);
void driver_close(struct driver *d);
int driver_allocate(const struct driver *d, size_t bytes, void **out);
int driver_free(const struct driver *d, void *at);
/* Queues a copy on a stream of the driver's (shmemx_stream_native); waits for it. */
int driver_copy(const struct driver *d, void *to, const void *from, size_t bytes, enum direction way, void *stream);
int driver_wait(const struct driver *d, void *stream);
/* A double counts its calls, and can make all streams wait; NULL and nothing of a real one. */
const unsigned long *driver_calls(const struct driver *d);
void driver_hold(const struct driver *d, int on);

/* --- parts -------------------------------------------------------------------------------------------------------- */

void test_place(struct place *p);                 /* all of one device */
void test_pair(struct place *p, struct place *q); /* from one to the other */
void measure_place(struct place *p);
void count_place(struct place *p);
/* For a person: the share of the driver's own copies that copies of this library reach. */
void tell_shares(struct place *p);

/* Two PEs, of which this process becomes the first and starts the second, which runs the second of each pair. */
int ordered(const struct place *p);
int run_other_player(const char *id, const char *place);
int heaped(const struct place *p);
int run_other_heap(const char *id, const char *place);
int counted(const struct place *p);
int run_other_counted(const char *id, const char *place);

/* In the second process: exit statuses. */
int run_importer(const char *key, int seed);
int run_victim(const char *key);

/* --- two PEs ------------------------------------------------------------------------------------------------------ */

enum { PART = 64 << 10 };

struct player {
    int rank;
    shmemx_device_pool_t pool;
    void *x;                                              /* of the device, PART bytes */
    shmemx_region_t own_x, their_x, own_word, their_word; /* the words are in the heap */
    shmemx_stream_t stream;
};

/* What the two of counted() do once they are a job. */
int count_operations(const struct player *p);
int be_counted(const struct player *p);

#endif
