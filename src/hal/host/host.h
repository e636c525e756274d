// SPDX-License-Identifier: Apache-2.0
// What the files of the host back end share.
#ifndef SHMEMI_HAL_HOST_HOST_H
#define SHMEMI_HAL_HOST_HOST_H

#include "hal/hal.h"

/* --- huge pages (huge.c) ----------------------------------------------------------------------------------------- */

/* 0 when memory of `bytes` can be made of pages of exactly `page` bytes: this kernel has the size and at least one is
   to be had. */
int shmemi_host_huge_wish(const char *label, size_t bytes, size_t page);

/* 0 when `bytes` more can be taken in such pages now; else -ENOMEM with what there is and the remedy. */
int shmemi_host_huge_may_take(const char *label, size_t bytes, size_t page);

/* 0 when the kernel may put shared memory into transparent huge pages; else -ENOTSUP with the remedy. */
int shmemi_host_transparent_wish(const char *label);

/* Bytes of a transparent huge page; 0: this kernel has none. */
size_t shmemi_host_transparent_page(void);

/* The page size of hugetlb memory behind a handle; 0 when it is ordinary memory. */
size_t shmemi_host_huge_page_of(int handle);

/* Takes pages through a mapping of its own that asks for transparent huge ones (of `page` bytes), which fallocate does
   not do. What it does not take is left to fallocate. */
void shmemi_host_take_huge(int handle, size_t offset, size_t bytes, size_t page);

/* "2 MiB", "1 GiB", "64 KiB" */
const char *shmemi_host_size_name(size_t bytes, char text[40]);

/* --- where it lies (place.c) ------------------------------------------------------------------------------------- */

int shmemi_host_place(void *at, size_t bytes, const struct shmemi_wish *wish);
int shmemi_host_lock(void *at, size_t bytes);
void shmemi_host_report(const void *at, size_t bytes, struct shmemi_obtained *out);

#endif
