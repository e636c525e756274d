// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "device.h"

int shmemi_device_check_ticket(const struct shmemi_device_ticket *ticket, int32_t self)
{
    if (ticket->magic != SHMEMI_TICKET_MAGIC || ticket->zero || ticket->way < SHMEMI_WAY_DESCRIPTOR ||
        ticket->way > SHMEMI_WAY_LEGACY)
        return shmemi_fail(-EINVAL, "this is no ticket for a device's memory");
    if (ticket->bytes == 0 || ticket->bytes > SIZE_MAX / 2 || ticket->offset > SIZE_MAX / 2 || ticket->owner <= 0 ||
        (ticket->way == SHMEMI_WAY_KEY && !memchr(ticket->key, 0, sizeof ticket->key)))
        return shmemi_fail(-EINVAL, "a ticket for a device's memory is damaged");
    if (ticket->owner == self)
        return shmemi_fail(-EINVAL, "this process owns that device memory already: it is used as it is, not imported");
    return 0;
}
