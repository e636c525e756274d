// SPDX-License-Identifier: Apache-2.0
#include "compare.h"

#include "shmem.h"

/* Acquire: what the peer wrote before it changed the object is visible to whoever saw the change. */
#define COMPARE(name, T)                                                                                               \
    bool shmemi_compare_##name(const volatile void *ivar, int cmp, const void *value)                                  \
    {                                                                                                                  \
        const T found = __atomic_load_n((const volatile T *)ivar, __ATOMIC_ACQUIRE);                                   \
        const T wanted = *(const T *)value;                                                                            \
        switch (cmp) {                                                                                                 \
        case SHMEM_CMP_EQ:                                                                                             \
            return found == wanted;                                                                                    \
        case SHMEM_CMP_NE:                                                                                             \
            return found != wanted;                                                                                    \
        case SHMEM_CMP_GT:                                                                                             \
            return found > wanted;                                                                                     \
        case SHMEM_CMP_GE:                                                                                             \
            return found >= wanted;                                                                                    \
        case SHMEM_CMP_LT:                                                                                             \
            return found < wanted;                                                                                     \
        default: /* SHMEM_CMP_LE; the caller has checked */                                                            \
            return found <= wanted;                                                                                    \
        }                                                                                                              \
    }

COMPARE(short, short)
COMPARE(int, int)
COMPARE(long, long)
COMPARE(longlong, long long)
COMPARE(ushort, unsigned short)
COMPARE(uint, unsigned int)
COMPARE(ulong, unsigned long)
COMPARE(ulonglong, unsigned long long)
