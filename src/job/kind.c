// SPDX-License-Identifier: Apache-2.0
#include "kind.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/settings.h"
#include "hal/device.h"

enum { NUMBER_MOST = 63 };

const char *shmemi_kind_name(uint32_t which)
{
    const struct shmemi_device_hal *hal = which && which < SHMEMI_KINDS ? shmemi_device_hal((int)which - 1) : NULL;
    return which == SHMEMI_KIND_HOST ? "host" : hal ? hal->type : "memory of no kind";
}

static int no_kind(const char *name, const char *text)
{
    return shmemi_fail(-EINVAL,
                       "%s is '%s', but must be host, npu or cuda; npu:1 and the like are the device of that number",
                       name, text);
}

int shmemi_kind_parse(const char *name, const char *text, struct shmemi_kind *out)
{
    const char *colon = strchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    long number = -1;
    uint32_t which = 0;
    while (which < SHMEMI_KINDS &&
           (strlen(shmemi_kind_name(which)) != length || memcmp(shmemi_kind_name(which), text, length)))
        which++;
    if (which == SHMEMI_KINDS || (colon && (which == SHMEMI_KIND_HOST || colon[1] < '0' || colon[1] > '9')))
        return no_kind(name, text);
    if (colon && shmemi_parse_int(name, colon + 1, 0, NUMBER_MOST, &number) < 0)
        return shmemi_fail(-EINVAL, "%s is '%s', but the number of a device is one from 0 to %d", name, text,
                           NUMBER_MOST);
    *out = (struct shmemi_kind){which, (int)number};
    return 0;
}
