// SPDX-License-Identifier: Apache-2.0
// Makes the static data of a program larger: oshcc.py includes it.
#ifndef TESTS_MULTI_MORE_STATICS_H
#define TESTS_MULTI_MORE_STATICS_H
char more_statics[1 << 20] = {1};
#endif
