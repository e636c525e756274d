// SPDX-License-Identifier: Apache-2.0
// What the files of the CUDA back end share.
#ifndef SHMEMI_HAL_CUDA_CUDA_H
#define SHMEMI_HAL_CUDA_CUDA_H

#include "../device.h"
#include "load.h"

/* The primary context of a device, which PyTorch and the runtime interface use too; retained until the process ends. */
int shmemi_cuda_context(int device, cuda_context *out);
int shmemi_cuda_enter(int device, struct shmemi_device_current *before);
void shmemi_cuda_leave(const struct shmemi_device_current *before);
/* For questions that any context will do for: the thread's own, or one that is there already, so that none is made. */
int shmemi_cuda_enter_any(struct shmemi_device_current *before);
int shmemi_cuda_id(int device, uint8_t id[16]);
int shmemi_cuda_find(const uint8_t id[16], int *device);
int shmemi_cuda_reach(int device, int peer);

int shmemi_cuda_allocate(int device, size_t bytes, struct shmemi_device_memory *out);
void shmemi_cuda_release(struct shmemi_device_memory *memory);
int shmemi_cuda_export_memory(struct shmemi_device_memory *memory, const int32_t *processes, size_t count,
                              struct shmemi_device_ticket *ticket, int *descriptor);
int shmemi_cuda_adopt(const void *address, size_t bytes, struct shmemi_device_memory *out);
int shmemi_cuda_allocate_plain(int device, size_t bytes, void **out);
int shmemi_cuda_free_plain(int device, void *address);
int shmemi_cuda_import_memory(const struct shmemi_device_ticket *ticket, int descriptor, int device,
                              struct shmemi_device_memory *out);
int shmemi_cuda_describe_pointer(const void *address, struct shmemi_device_pointer *out);

int shmemi_cuda_make_words(int device, size_t count, struct shmemi_device_words *out);
void shmemi_cuda_free_words(struct shmemi_device_words *words);
int shmemi_cuda_tell(const struct shmemi_device_words *words, size_t i, struct shmemi_device_stream stream);
int shmemi_cuda_hold(const struct shmemi_device_words *words, size_t i, uint64_t number,
                     struct shmemi_device_stream stream);
int shmemi_cuda_let_go(const struct shmemi_device_words *words, size_t i, uint64_t number);

#endif
