// SPDX-License-Identifier: Apache-2.0
// Kinds of memory that symmetric blocks lie in: of the host, or of devices of one type.
#ifndef SHMEMI_JOB_KIND_H
#define SHMEMI_JOB_KIND_H

#include <stdint.h>

enum { SHMEMI_KIND_HOST = 0, SHMEMI_KINDS = 3 /* the host, and each type of device */ };

struct shmemi_kind {
    uint32_t which; /* SHMEMI_KIND_HOST, or 1 + the index of a back end */
    int number;     /* of the device; -1: chosen by the PE's number */
};

/* 'host', 'npu', 'cuda', or a type with a number: 'npu:1'. -EINVAL with a text in which `name` is where it was found.
 */
int shmemi_kind_parse(const char *name, const char *text, struct shmemi_kind *out);

/* "host", "npu", "cuda"; "memory of no kind" for what is none. */
const char *shmemi_kind_name(uint32_t which);

#endif
