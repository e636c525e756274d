// SPDX-License-Identifier: Apache-2.0
// Where mapped host memory lies: NUMA node, huge pages, locked or not; and what came of it.
#include "host.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"

/* --- NUMA nodes -------------------------------------------------------------------------------------------------- */

enum { NODES_MOST = 1024, WORD_BITS = 8 * sizeof(unsigned long) };

/* The text after `key` on the line of the file that begins with it; "" for a file of one line. */
static bool read_text(const char *path, const char *key, char *out, size_t size)
{
    FILE *file = fopen(path, "re");
    char line[512];
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        found = !strncmp(line, key, strlen(key));
        if (found) {
            const char *text = line + strlen(key);
            text += strspn(text, " \t");
            snprintf(out, size, "%.*s", (int)strcspn(text, "\n"), text);
        }
    }
    if (file)
        fclose(file);
    return found;
}

/* Whether a list such as "0-3,8" has the number. */
static bool in_list(const char *list, int number)
{
    for (char *end; *list; list = *end ? end + 1 : end) {
        long first = strtol(list, &end, 10), last = first;
        if (end == list)
            return false;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        if (number >= first && number <= last)
            return true;
    }
    return false;
}

static int check_node(int node)
{
    char list[512] = "0";
    read_text("/sys/devices/system/node/online", "", list, sizeof list);
    if (node >= NODES_MOST || !in_list(list, node))
        return shmemi_fail(-EINVAL, "memory is to lie on NUMA node %d, which this machine does not have; it has %s",
                           node, list);
    if (read_text("/proc/self/status", "Mems_allowed_list:", list, sizeof list) && !in_list(list, node))
        return shmemi_fail(-EPERM,
                           "memory is to lie on NUMA node %d, but this process's cpuset allows only %s (cpuset.mems)",
                           node, list);
    return 0;
}

static int bind_to_node(void *at, size_t bytes, int node)
{
    unsigned long mask[NODES_MOST / WORD_BITS] = {0};
    int rc = check_node(node);
    if (rc < 0)
        return rc;
    mask[node / WORD_BITS] = 1ul << node % WORD_BITS;
    if (syscall(SYS_mbind, at, bytes, MPOL_BIND, mask, NODES_MOST + 1ul, MPOL_MF_STRICT) == 0)
        return 0;
    if (errno == ENOSYS && node == 0)
        return 0; /* a kernel without NUMA: all memory is node 0 */
    if (errno == EPERM)
        return shmemi_fail(-EPERM,
                           "memory is to lie on NUMA node %d, but mbind(2) is forbidden here: in a container, allow "
                           "it (with Docker: --cap-add SYS_NICE)",
                           node);
    return shmemi_fail_errno("binding %zu bytes to NUMA node %d", bytes, node);
}

/* --- the slots --------------------------------------------------------------------------------------------------- */

int shmemi_host_place(void *at, size_t bytes, const struct shmemi_wish *wish)
{
    if (!wish)
        return 0;
    int rc = wish->node >= 0 ? bind_to_node(at, bytes, wish->node) : 0;
    if (rc == 0 && wish->page == SHMEMI_PAGES_TRANSPARENT && madvise(at, bytes, MADV_HUGEPAGE) < 0)
        rc = shmemi_fail_errno("asking for transparent huge pages for %zu bytes", bytes);
    return rc;
}

int shmemi_host_lock(void *at, size_t bytes)
{
    struct rlimit limit;
    char text[32] = "unlimited";
    if (syscall(SYS_mlock, at, bytes) == 0) /* mlock() itself does nothing in a program with a sanitizer */
        return 0;
    int failed = errno;
    if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        snprintf(text, sizeof text, "%llu", (unsigned long long)limit.rlim_cur);
    return shmemi_fail(
        failed == EPERM ? -EPERM : -ENOMEM,
        "%zu bytes are to be locked in memory, but this fails (%s): the limit of locked memory is %s bytes "
        "in all; raise it (ulimit -l in KiB, LimitMEMLOCK= of a systemd service), or give CAP_IPC_LOCK",
        bytes, strerror(failed), text);
}

/* --- what came of it --------------------------------------------------------------------------------------------- */

/* What /proc/self/smaps says of a range: of all mappings that it reaches into. */
struct seen {
    size_t mappings, unlocked, page, huge_bytes;
    bool writable;
};

static void see_flags(const char *flags, struct seen *seen)
{
    seen->unlocked += !strstr(flags, " lo");
    seen->writable = strstr(flags, " wr") != NULL;
}

/* One line of a mapping in the range: "KernelPageSize:  4 kB", or "VmFlags: rd wr sh lo". */
static void see_line(const char *line, struct seen *seen)
{
    static const char *const huge[] = {"AnonHugePages", "ShmemPmdMapped", "FilePmdMapped", "Shared_Hugetlb",
                                       "Private_Hugetlb"};
    char name[64];
    size_t kib;
    if (!strncmp(line, "VmFlags:", 8))
        see_flags(line + 8, seen);
    if (sscanf(line, "%63[^:]: %zu kB", name, &kib) != 2)
        return;
    if (!strcmp(name, "KernelPageSize") && kib * 1024 > seen->page)
        seen->page = kib * 1024;
    for (size_t i = 0; i < sizeof huge / sizeof *huge; i++)
        if (!strcmp(name, huge[i]))
            seen->huge_bytes += kib * 1024;
}

static void look(const void *at, size_t bytes, struct seen *seen)
{
    FILE *file = fopen("/proc/self/smaps", "re");
    char line[4400];
    uintptr_t low = (uintptr_t)at, high = low + bytes, from, to;
    bool inside = false;
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2) {
            if (from >= high)
                break;
            inside = to > low;
            seen->mappings += inside;
        } else if (inside) {
            see_line(line, seen);
        }
    }
    if (file)
        fclose(file);
}

/* Asking for the node of a page that is not mapped here yet brings it in, so that is done only for one that there is
   and that somebody has written (one that is only reserved does not count for mincore).
   Of memory that this process may not write, mincore pretends that all of it is there. */
static int node_of(const void *at, bool writable)
{
    void *page = (void *)((uintptr_t)at & ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1)); /* NOLINT: an address */
    int node = -1;
    unsigned char there = 0;
    if (syscall(SYS_move_pages, 0, 1ul, &page, NULL, &node, 0) == 0 && node >= 0)
        return node;
    if (!writable || mincore(page, 1, &there) != 0 || !(there & 1) ||
        syscall(SYS_get_mempolicy, &node, NULL, 0ul, page, (unsigned long)(MPOL_F_NODE | MPOL_F_ADDR)) != 0)
        return -1;
    return node;
}

void shmemi_host_report(const void *at, size_t bytes, struct shmemi_obtained *out)
{
    struct seen seen = {0};
    look(at, bytes, &seen);
    size_t usual = (size_t)sysconf(_SC_PAGESIZE);
    size_t page = seen.page ? seen.page : usual, transparent = shmemi_host_transparent_page();
    if (seen.huge_bytes && transparent > page)
        page = transparent;
    *out = (struct shmemi_obtained){.page = page,
                                    .node = node_of(at, seen.writable),
                                    .locked = seen.mappings && !seen.unlocked,
                                    .huge_bytes = seen.huge_bytes};
}
