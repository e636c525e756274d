// SPDX-License-Identifier: Apache-2.0
// Huge pages: hugetlb memory of an exact page size, which an administrator sets aside, and transparent ones, which the
// kernel makes by itself where its settings let it.
#include "host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/error.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

#define HUGE_FOLDER "/sys/kernel/mm/hugepages"
#define TRANSPARENT_FOLDER "/sys/kernel/mm/transparent_hugepage"

const char *shmemi_host_size_name(size_t bytes, char text[40])
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    for (; bytes >= 1024 && bytes % 1024 == 0 && unit < 4; unit++)
        bytes /= 1024;
    snprintf(text, 40, "%zu %s", bytes, units[unit]);
    return text;
}

/* The first line of a file in /sys, without its end. */
static bool read_line(const char *path, char *out, size_t size)
{
    FILE *file = fopen(path, "re");
    bool found = file && fgets(out, (int)size, file);
    if (file)
        fclose(file);
    if (found)
        out[strcspn(out, "\n")] = 0;
    return found;
}

/* --- pages of an exact size -------------------------------------------------------------------------------------- */

struct counts {
    size_t total, free, resv, overcommit, surplus;
};

static size_t read_count(size_t page, const char *name)
{
    char path[128], line[32];
    snprintf(path, sizeof path, HUGE_FOLDER "/hugepages-%zukB/%s", page / 1024, name);
    return read_line(path, line, sizeof line) ? strtoull(line, NULL, 10) : 0;
}

static struct counts read_counts(size_t page)
{
    return (struct counts){.total = read_count(page, "nr_hugepages"),
                           .free = read_count(page, "free_hugepages"),
                           .resv = read_count(page, "resv_hugepages"),
                           .overcommit = read_count(page, "nr_overcommit_hugepages"),
                           .surplus = read_count(page, "surplus_hugepages")};
}

/* Pages that nobody has and nobody was promised, and those that the kernel may make beyond its pool. */
static size_t available(const struct counts *c)
{
    return (c->free > c->resv ? c->free - c->resv : 0) + (c->overcommit > c->surplus ? c->overcommit - c->surplus : 0);
}

/* Names the sizes that this kernel has; false if `page` is none of them. */
static bool find_size(size_t page, char *names, size_t size)
{
    DIR *folder = opendir(HUGE_FOLDER);
    bool found = false;
    snprintf(names, size, "none");
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        size_t kib, used = strcmp(names, "none") ? strlen(names) : 0;
        char text[40];
        if (sscanf(entry->d_name, "hugepages-%zukB", &kib) != 1)
            continue;
        found |= kib * 1024 == page;
        snprintf(names + used, size - used, "%s%s", used ? ", " : "", shmemi_host_size_name(kib * 1024, text));
    }
    if (folder)
        closedir(folder);
    return found;
}

/* `needed` pages, of which some are missing: what there is, and how to get more. */
static int refuse_pages(const char *label, size_t needed, size_t page)
{
    char name[40];
    struct counts c = read_counts(page);
    return shmemi_fail(
        -ENOMEM,
        "'%s' needs at least %zu huge page%s of %s, but %zu of %zu are free (%zu of these promised to others): as "
        "root, 'sysctl vm.nr_hugepages=%zu' sets aside so many of the usual size, and 'echo %zu > " HUGE_FOLDER
        "/hugepages-%zukB/nr_hugepages' of any; or ask for transparent huge pages",
        label, needed, needed == 1 ? "" : "s", shmemi_host_size_name(page, name), c.free, c.total, c.resv,
        c.total + needed, c.total + needed, page / 1024);
}

int shmemi_host_huge_may_take(const char *label, size_t bytes, size_t page)
{
    struct counts c = read_counts(page);
    size_t needed = (bytes + page - 1) / page;
    return needed <= available(&c) ? 0 : refuse_pages(label, needed, page);
}

int shmemi_host_huge_wish(const char *label, size_t bytes, size_t page)
{
    char wished[40], names[256];
    if (!find_size(page, names, sizeof names))
        return shmemi_fail(-ENOTSUP, "'%s' is to have pages of %s, a size that this kernel does not have; it has %s",
                           label, shmemi_host_size_name(page, wished), names);
    if (bytes % page)
        return shmemi_fail(-EINVAL, "'%s' has %zu bytes, which is no multiple of its huge pages of %s", label, bytes,
                           shmemi_host_size_name(page, wished));
    return bytes ? shmemi_host_huge_may_take(label, page, page) : 0;
}

size_t shmemi_host_huge_page_of(int handle)
{
    struct statfs fs;
    return fstatfs(handle, &fs) == 0 && (unsigned long)fs.f_type == HUGETLBFS_MAGIC ? (size_t)fs.f_bsize : 0;
}

/* --- transparent ones -------------------------------------------------------------------------------------------- */

size_t shmemi_host_transparent_page(void)
{
    char line[32];
    return read_line(TRANSPARENT_FOLDER "/hpage_pmd_size", line, sizeof line) ? strtoull(line, NULL, 10) : 0;
}

/* The word in brackets: "always [advise] never". */
static bool chosen(const char *path, char *out, size_t size)
{
    char line[128];
    if (!read_line(path, line, sizeof line))
        return false;
    char *begin = strchr(line, '['), *end = begin ? strchr(begin, ']') : NULL;
    if (!end)
        return false;
    *end = 0;
    snprintf(out, size, "%s", begin + 1);
    return true;
}

static bool allows(const char *word)
{
    static const char *const good[] = {"always", "within_size", "advise", "force"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!strcmp(word, good[i]))
            return true;
    return false;
}

/* Since Linux 6.11 each size has a setting of its own, which may say "inherit"; "deny" and "force" of all stand above.
 */
static bool kernel_allows(const char *all, size_t page)
{
    char path[128], own[32];
    snprintf(path, sizeof path, TRANSPARENT_FOLDER "/hugepages-%zukB/shmem_enabled", page / 1024);
    if (!strcmp(all, "deny") || !strcmp(all, "force") || !chosen(path, own, sizeof own) || !strcmp(own, "inherit"))
        return allows(all);
    return allows(own);
}

int shmemi_host_transparent_wish(const char *label)
{
    static const char setting[] = TRANSPARENT_FOLDER "/shmem_enabled";
    char all[32];
    if (!chosen(setting, all, sizeof all))
        return shmemi_fail(
            -ENOTSUP,
            "'%s' is to have transparent huge pages, which this kernel does not have for shared memory (no %s)", label,
            setting);
    if (prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) > 0)
        return shmemi_fail(-ENOTSUP,
                           "'%s' is to have transparent huge pages, but this process has them switched off (prctl "
                           "PR_SET_THP_DISABLE, which children inherit)",
                           label);
    if (kernel_allows(all, shmemi_host_transparent_page()))
        return 0;
    return shmemi_fail(
        -ENOTSUP, "'%s' is to have transparent huge pages, but %s is '%s': as root, 'echo advise > %s' allows them",
        label, setting, all, setting);
}

/* fallocate takes small pages where the setting is `advise`, for it has no mapping to be advised by. So pages are taken
   through a mapping, at an address that lies in its huge page as the offset does in its own. */
void shmemi_host_take_huge(int handle, size_t offset, size_t bytes, size_t page)
{
    char *window = mmap(NULL, bytes + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (window == MAP_FAILED)
        return;
    char *at = window + (offset - (uintptr_t)window) % page;
    if (mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, handle, (off_t)offset) == at &&
        madvise(at, bytes, MADV_HUGEPAGE) == 0)
        madvise(at, bytes, MADV_POPULATE_WRITE);
    munmap(window, bytes + page);
}
