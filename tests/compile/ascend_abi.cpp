// SPDX-License-Identifier: Apache-2.0
// Our declarations of AscendCL against CANN's own: compiled where there is an acl_rt.h. In C++, which can take a type
// of a function apart: arguments have to be as many, of the same sizes, and pointers where those are.
#include <cstdint>
/* Not in every version: where it is, this has to be the same. */
extern "C" int aclrtGetPhyDevIdByUserDevId(const int32_t user, int32_t *const physical);

#include <acl/acl_rt.h>
#include <cstddef>
#include <type_traits>

#define _Static_assert static_assert
#include "hal/ascend/driver.h"

template <typename Mine, typename Theirs> constexpr bool alike()
{
    return sizeof(Mine) == sizeof(Theirs) && std::is_pointer<Mine>::value == std::is_pointer<Theirs>::value;
}

template <typename Mine, typename Theirs> struct same : std::false_type {
};
template <typename R, typename S, typename... A, typename... B> struct same<R (*)(A...), S (*)(B...)> {
    static constexpr bool value = [] {
        if constexpr (sizeof...(A) != sizeof...(B))
            return false;
        else
            return alike<R, S>() && (alike<A, B>() && ...);
    }();
};

#define SAME(required, since, symbol, arguments)                                                                       \
    static_assert(same<decltype(shmemi_ascend_driver::symbol), decltype(&symbol)>::value, #symbol);
SHMEMI_ASCEND_CALLS(SAME)

#define SIZE(ours, theirs) static_assert(sizeof(ours) == sizeof(theirs), #theirs)
SIZE(shmemi_ascend_location, aclrtMemLocation);
SIZE(shmemi_ascend_properties, aclrtPhysicalMemProp);
SIZE(shmemi_ascend_access, aclrtMemAccessDesc);
SIZE(shmemi_ascend_pointer, aclrtPtrAttributes);

#define PLACE(ours, our_field, theirs, field)                                                                          \
    static_assert(offsetof(ours, our_field) == offsetof(theirs, field), #theirs "." #field)
PLACE(shmemi_ascend_location, id, aclrtMemLocation, id);
PLACE(shmemi_ascend_location, type, aclrtMemLocation, type);
PLACE(shmemi_ascend_properties, handle_type, aclrtPhysicalMemProp, handleType);
PLACE(shmemi_ascend_properties, allocation_type, aclrtPhysicalMemProp, allocationType);
PLACE(shmemi_ascend_properties, attribute, aclrtPhysicalMemProp, memAttr);
PLACE(shmemi_ascend_properties, location, aclrtPhysicalMemProp, location);
PLACE(shmemi_ascend_access, flags, aclrtMemAccessDesc, flags);
PLACE(shmemi_ascend_access, location, aclrtMemAccessDesc, location);
PLACE(shmemi_ascend_pointer, location, aclrtPtrAttributes, location);
PLACE(shmemi_ascend_pointer, page_size, aclrtPtrAttributes, pageSize);

#define VALUE(ours, theirs) static_assert(static_cast<int>(ours) == static_cast<int>(theirs), #theirs)
VALUE(ACL_REPEATED, ACL_ERROR_REPEAT_INITIALIZE);
VALUE(ACL_NO_ROOM, ACL_ERROR_BAD_ALLOC);
VALUE(ACL_UNSUPPORTED, ACL_ERROR_API_NOT_SUPPORT);
VALUE(ACL_HBM, ACL_HBM_MEM);
VALUE(ACL_HBM_HUGE, ACL_HBM_MEM_HUGE);
VALUE(ACL_ON_DEVICE, ACL_MEM_LOCATION_TYPE_DEVICE);
VALUE(ACL_READ_WRITE, ACL_RT_MEM_ACCESS_FLAGS_READWRITE);
VALUE(ACL_HUGE_ONLY, ACL_MEM_MALLOC_HUGE_ONLY);
VALUE(ACL_SHARED_DEFAULT, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT);
VALUE(1, ACL_MEMCPY_HOST_TO_DEVICE);
VALUE(2, ACL_MEMCPY_DEVICE_TO_HOST);
VALUE(3, ACL_MEMCPY_DEVICE_TO_DEVICE);
VALUE(0, ACL_MEM_HANDLE_TYPE_NONE);
VALUE(0, ACL_MEM_ALLOCATION_TYPE_PINNED);
VALUE(0, ACL_STREAM_STATUS_COMPLETE);
