// SPDX-License-Identifier: Apache-2.0
// Skipping a cmocka test with the reason, which cmocka itself does not pass on. Include it after cmocka.h.
#ifndef TESTS_LIB_SKIP_H
#define TESTS_LIB_SKIP_H

/* Skips the test, with the reason where the count of results looks for it. */
#define skip_because(...)                                                                                              \
    do {                                                                                                               \
        print_message("# skip: " __VA_ARGS__);                                                                         \
        print_message("\n");                                                                                           \
        skip();                                                                                                        \
    } while (0)

#endif
