// SPDX-License-Identifier: Apache-2.0
// What the files of the Ascend back end share.
#ifndef SHMEMI_HAL_ASCEND_ASCEND_H
#define SHMEMI_HAL_ASCEND_ASCEND_H

#include "../device.h"
#include "load.h"

int shmemi_ascend_enter(int device, struct shmemi_device_current *before);
void shmemi_ascend_leave(const struct shmemi_device_current *before);
/* For questions that any context will do for: the thread's own, or one that is there already, so that none is made. */
int shmemi_ascend_enter_any(struct shmemi_device_current *before);
int shmemi_ascend_id(int device, uint8_t id[16]);
int shmemi_ascend_find(const uint8_t id[16], int *device);
int shmemi_ascend_identify(int device, int32_t *process);
int shmemi_ascend_reach(int device, int peer);

/* *page (may be NULL): bytes of the pages that it lies in; 0: not known. */
int shmemi_ascend_pointer(const void *address, struct shmemi_device_pointer *out, size_t *page);

/* The best way of sharing that the driver has all calls of; -ENOTSUP when there is none. */
int shmemi_ascend_way(enum shmemi_device_way *out);
int shmemi_ascend_allocate(int device, size_t bytes, struct shmemi_device_memory *out);
void shmemi_ascend_release(struct shmemi_device_memory *memory);
int shmemi_ascend_export_memory(struct shmemi_device_memory *memory, const int32_t *processes, size_t count,
                                struct shmemi_device_ticket *ticket, int *descriptor);
int shmemi_ascend_adopt(const void *address, size_t bytes, struct shmemi_device_memory *out);
int shmemi_ascend_allocate_plain(int device, size_t bytes, void **out);
int shmemi_ascend_free_plain(int device, void *address);
int shmemi_ascend_import_memory(const struct shmemi_device_ticket *ticket, int descriptor, int device,
                                struct shmemi_device_memory *out);

int shmemi_ascend_make_words(int device, size_t count, struct shmemi_device_words *out);
void shmemi_ascend_free_words(struct shmemi_device_words *words);
int shmemi_ascend_tell(const struct shmemi_device_words *words, size_t i, struct shmemi_device_stream stream);
int shmemi_ascend_hold(const struct shmemi_device_words *words, size_t i, uint64_t number,
                       struct shmemi_device_stream stream);
int shmemi_ascend_let_go(const struct shmemi_device_words *words, size_t i, uint64_t number);

#endif
