// SPDX-License-Identifier: Apache-2.0
// What the examples share: end the program with the reason when a call fails or a result is wrong.
#ifndef EXAMPLES_COMMON_H
#define EXAMPLES_COMMON_H

#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        if ((call) < 0) {                                                                                              \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, shmemx_last_error());                                   \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: wrong result: %s\n", __FILE__, __LINE__, #condition);                              \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#endif
