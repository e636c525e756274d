// SPDX-License-Identifier: Apache-2.0
// Waiting for a change of memory, and waking those who wait.
#ifndef SHMEMI_COMM_WAIT_H
#define SHMEMI_COMM_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "job/job.h"

/* Wakes whoever sleeps in pe for a change of its memory. */
void shmemi_wake(int pe) SHMEMI_COLD;

/* After every store into pe's memory. [user-sleep]: the sleeper announces itself, runs membarrier and looks at its word
   once more before it sleeps, so this plain load may not be reordered to where it matters; the acquire side is
   shmemi_wait()'s. */
SHMEMI_INLINE void shmemi_stored(int pe)
{
    const struct shmemi_job *job = shmemi_current;
    atomic_signal_fence(
        memory_order_seq_cst); /* [user-sleep] the compiler must not move this before the store either */
    if (shmemi_unlikely(atomic_load_explicit(&job->slots[pe].sleepers, memory_order_relaxed)))
        shmemi_wake(pe);
}

/* Waits until done(argument) is true; done is called often and must be cheap. Ends the job when a PE has died, or when
   all others have left (nobody can make the change any more). fn: the public function's name. */
void shmemi_wait(const char *fn, bool (*done)(void *argument), void *argument);

/* Compares the object at ivar with the value at `value` by the SHMEM_CMP_ operator. One such function a type. */
typedef bool (*shmemi_compare)(const volatile void *ivar, int cmp, const void *value);

/* The operators, numbered as shmem.h numbers them; api/ checks that they agree. */
enum shmemi_cmp { SHMEMI_CMP_EQ = 1, SHMEMI_CMP_NE, SHMEMI_CMP_GT, SHMEMI_CMP_GE, SHMEMI_CMP_LT, SHMEMI_CMP_LE };

/* left cmp right, for any arithmetic type; false for an operator that does not exist (wait and test refuse that). */
#define shmemi_compare_values(cmp, left, right)                                                                        \
    ((cmp) == SHMEMI_CMP_EQ   ? (left) == (right)                                                                      \
     : (cmp) == SHMEMI_CMP_NE ? (left) != (right)                                                                      \
     : (cmp) == SHMEMI_CMP_GT ? (left) > (right)                                                                       \
     : (cmp) == SHMEMI_CMP_GE ? (left) >= (right)                                                                      \
     : (cmp) == SHMEMI_CMP_LT ? (left) < (right)                                                                       \
                              : (cmp) == SHMEMI_CMP_LE && (left) <= (right))

/* One element of the vector forms. `values` advances by value_stride bytes an element (0: the same value for all).
   status[i] != 0 leaves element i out; NULL takes all in. elem: bytes an element. These serve
   {wait_until,test}_{all,any,some}{,_vector}; the results are those of the standard. */
struct shmemi_wait_set {
    const volatile void *ivars;
    size_t nelems;
    size_t elem;
    const int *status;
    int cmp;
    const void *values;
    size_t value_stride;
    shmemi_compare compare;
};

void shmemi_wait_until(const char *fn, const volatile void *ivar, int cmp, const void *value, shmemi_compare compare);
bool shmemi_test(const char *fn, const volatile void *ivar, int cmp, const void *value, shmemi_compare compare);
void shmemi_wait_until_all(const char *fn, const struct shmemi_wait_set *set);
size_t shmemi_wait_until_any(const char *fn, const struct shmemi_wait_set *set);
size_t shmemi_wait_until_some(const char *fn, const struct shmemi_wait_set *set, size_t *indices);
int shmemi_test_all(const char *fn, const struct shmemi_wait_set *set);
size_t shmemi_test_any(const char *fn, const struct shmemi_wait_set *set);
size_t shmemi_test_some(const char *fn, const struct shmemi_wait_set *set, size_t *indices);

#endif
