// SPDX-License-Identifier: Apache-2.0
// futex_waitv where the kernel has it, else one word with short naps.
#include "futex.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

/* Whether futex_waitv answered ENOSYS once: a hint that saves a system call, so relaxed accesses are enough. */
static _Atomic bool no_waitv;

static int result_of(long rc)
{
    if (rc >= 0 || errno == EAGAIN)
        return 0;
    return errno == ETIMEDOUT || errno == EINTR ? -errno : 0;
}

static int wait_one(const struct shmemi_futex *f, int64_t deadline)
{
    struct timespec until = shmemi_timespec(deadline);
    /* FUTEX_WAIT_BITSET takes an absolute monotonic time, like futex_waitv. */
    return result_of(syscall(SYS_futex, f->word, FUTEX_WAIT_BITSET, f->value,
                             deadline == SHMEMI_NO_DEADLINE ? NULL : &until, NULL, FUTEX_BITSET_MATCH_ANY));
}

int shmemi_futex_wait(const struct shmemi_futex *words, unsigned count, int64_t deadline)
{
    if (count == 1)
        return wait_one(words, deadline);
#ifdef SYS_futex_waitv
    if (!atomic_load_explicit(&no_waitv, memory_order_relaxed)) { /* a hint */
        struct futex_waitv list[SHMEMI_FUTEX_MOST];
        for (unsigned i = 0; i < count; i++)
            list[i] = (struct futex_waitv){.val = words[i].value, .uaddr = (uintptr_t)words[i].word, .flags = FUTEX_32};
        struct timespec until = shmemi_timespec(deadline);
        long rc =
            syscall(SYS_futex_waitv, list, count, 0, deadline == SHMEMI_NO_DEADLINE ? NULL : &until, CLOCK_MONOTONIC);
        if (rc >= 0 || errno != ENOSYS)
            return result_of(rc);
        atomic_store_explicit(&no_waitv, true, memory_order_relaxed); /* a hint */
    }
#endif
    int64_t nap = shmemi_now() + 20000000;
    int rc = wait_one(words, nap < deadline ? nap : deadline);
    return rc == -ETIMEDOUT && nap < deadline ? 0 : rc;
}

int shmemi_futex_wake(_Atomic uint32_t *word, int count)
{
    long rc = syscall(SYS_futex, word, FUTEX_WAKE, count, NULL, NULL, 0);
    return rc > 0 ? (int)rc : 0;
}
