// SPDX-License-Identifier: Apache-2.0
// System calls for code that runs while memory is on its way: they touch registers and the caller's stack,
// and nothing else. libc's own wrappers write errno, and a page of thread-local storage, of libc's data or of
// a sanitizer's may be just the one that is missing: the thread that has to bring it back would wait for
// itself.
#ifndef SHMEMI_MAP_RAW_H
#define SHMEMI_MAP_RAW_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#if defined(__has_attribute) && __has_attribute(no_stack_protector)
#define SHMEMI_NO_CANARY __attribute__((no_stack_protector)) /* the canary is thread-local */
#else
#define SHMEMI_NO_CANARY
#endif
#if defined(__clang__) && __has_attribute(disable_sanitizer_instrumentation)
#define SHMEMI_NO_SANITIZER                                                                                            \
    __attribute__((disable_sanitizer_instrumentation, no_sanitize("address", "thread", "undefined", "memory")))
#elif defined(__clang__)
#define SHMEMI_NO_SANITIZER __attribute__((no_sanitize("address", "thread", "undefined", "memory")))
#else
#define SHMEMI_NO_SANITIZER __attribute__((no_sanitize_address, no_sanitize_thread, no_sanitize_undefined))
#endif

/* For functions that may run then: they call only each other and the calls below. */
#define SHMEMI_BARE __attribute__((no_instrument_function)) SHMEMI_NO_CANARY SHMEMI_NO_SANITIZER

/* Returns what the kernel returns: a negative errno on failure. */
SHMEMI_BARE static inline long shmemi_raw(long number, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e,
                                          uintptr_t f)
{
#if defined(__x86_64__)
    long rc;
    register uintptr_t r10 __asm__("r10") = d;
    register uintptr_t r8 __asm__("r8") = e;
    register uintptr_t r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(rc)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return rc;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register uintptr_t x0 __asm__("x0") = a;
    register uintptr_t x1 __asm__("x1") = b;
    register uintptr_t x2 __asm__("x2") = c;
    register uintptr_t x3 __asm__("x3") = d;
    register uintptr_t x4 __asm__("x4") = e;
    register uintptr_t x5 __asm__("x5") = f;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return (long)x0;
#else
#error "shmem knows the system calls of x86-64 and aarch64"
#endif
}

#endif
