// SPDX-License-Identifier: Apache-2.0
// Our declarations of the CUDA driver against the toolkit's own: compiled where there is a cuda.h.
#include <cuda.h>
#include <stddef.h>

#define SHMEMI_CUDA_TYPES
typedef CUresult cuda_result;
typedef CUdevice cuda_device;
typedef CUdevice_attribute cuda_attribute;
typedef CUpointer_attribute cuda_pointer_attribute;
typedef CUmemAllocationHandleType cuda_handle_type;
typedef CUmemAllocationGranularity_flags cuda_granularity;
typedef CUdeviceptr cuda_address;
typedef CUmemGenericAllocationHandle cuda_memory;
typedef unsigned long long cuda_u64;
typedef CUcontext cuda_context;
typedef CUstream cuda_stream;
typedef CUmemAllocationProp cuda_properties;
typedef CUmemAccessDesc cuda_access;
typedef CUuuid cuda_uuid;
typedef CUipcMemHandle cuda_ipc;
/* The header's value operations take its own name of a 64-bit number. */
#define uint64_t cuuint64_t
#include "hal/cuda/driver.h"
#undef uint64_t

/* Every function has the real one's type. */
#define SAME(required, since, symbol, arguments)                                                                       \
    _Static_assert(                                                                                                    \
        __builtin_types_compatible_p(__typeof__(&symbol), __typeof__(((struct shmemi_cuda_driver *)0)->symbol)),       \
        #symbol);
SHMEMI_CUDA_CALLS(SAME)

#define SIZE(ours, theirs) _Static_assert(sizeof(struct ours) == sizeof(theirs), #theirs)
#define PLACE(ours, our_field, theirs, field)                                                                          \
    _Static_assert(offsetof(struct ours, our_field) == offsetof(theirs, field), #theirs "." #field)
SIZE(shmemi_cuda_properties, CUmemAllocationProp);
SIZE(shmemi_cuda_access, CUmemAccessDesc);
SIZE(shmemi_cuda_uuid, CUuuid);
SIZE(shmemi_cuda_ipc, CUipcMemHandle);
PLACE(shmemi_cuda_properties, type, CUmemAllocationProp, type);
PLACE(shmemi_cuda_properties, handle_types, CUmemAllocationProp, requestedHandleTypes);
PLACE(shmemi_cuda_properties, location.type, CUmemAllocationProp, location.type);
PLACE(shmemi_cuda_properties, location.id, CUmemAllocationProp, location.id);
PLACE(shmemi_cuda_properties, win32, CUmemAllocationProp, win32HandleMetaData);
PLACE(shmemi_cuda_properties, flags, CUmemAllocationProp, allocFlags);
PLACE(shmemi_cuda_access, location.type, CUmemAccessDesc, location.type);
PLACE(shmemi_cuda_access, location.id, CUmemAccessDesc, location.id);
PLACE(shmemi_cuda_access, flags, CUmemAccessDesc, flags);

#define VALUE(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs)
VALUE(CUDA_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY);
VALUE(CUDA_DEINITIALIZED, CUDA_ERROR_DEINITIALIZED);
VALUE(CUDA_STUB, CUDA_ERROR_STUB_LIBRARY);
VALUE(CUDA_UNAVAILABLE, CUDA_ERROR_DEVICE_UNAVAILABLE);
VALUE(CUDA_NO_DEVICE, CUDA_ERROR_NO_DEVICE);
VALUE(CUDA_INVALID_DEVICE, CUDA_ERROR_INVALID_DEVICE);
VALUE(CUDA_ALREADY_MAPPED, CUDA_ERROR_ALREADY_MAPPED);
VALUE(CUDA_POINTER_BUFFER, CU_POINTER_ATTRIBUTE_BUFFER_ID);
VALUE(CUDA_PEER_UNSUPPORTED, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
VALUE(CUDA_NO_CONTEXT, CUDA_ERROR_INVALID_CONTEXT);
VALUE(CUDA_BAD_HANDLE, CUDA_ERROR_INVALID_HANDLE);
VALUE(CUDA_NOT_READY, CUDA_ERROR_NOT_READY);
VALUE(CUDA_PEER_ALREADY, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
VALUE(CUDA_NOT_PERMITTED, CUDA_ERROR_NOT_PERMITTED);
VALUE(CUDA_NOT_SUPPORTED, CUDA_ERROR_NOT_SUPPORTED);
VALUE(CUDA_PINNED, CU_MEM_ALLOCATION_TYPE_PINNED);
VALUE(CUDA_DESCRIPTOR, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
VALUE(CUDA_ON_DEVICE, CU_MEM_LOCATION_TYPE_DEVICE);
VALUE(CUDA_READ_WRITE, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
VALUE(CUDA_HAS_VMM, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
VALUE(CUDA_HAS_DESCRIPTORS, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED);
VALUE(CUDA_HAS_VALUES_64, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS);
VALUE(CUDA_POINTER_TYPE, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
VALUE(CUDA_POINTER_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
VALUE(CUDA_POINTER_LEGACY, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE);
VALUE(CUDA_TYPE_DEVICE, CU_MEMORYTYPE_DEVICE);
VALUE(CUDA_IPC_LAZY_PEER, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
VALUE(CUDA_HOST_PORTABLE, CU_MEMHOSTALLOC_PORTABLE);
VALUE(CUDA_HOST_MAPPED, CU_MEMHOSTALLOC_DEVICEMAP);
