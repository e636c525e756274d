// SPDX-License-Identifier: Apache-2.0
// The same pairs of alloc and free in a managed_shared_memory of Boost.Interprocess: pool-boost PROCESSES.
#include <boost/interprocess/managed_shared_memory.hpp>

#include <memory>

#include "pairs.h"

namespace ipc = boost::interprocess;

static std::unique_ptr<ipc::managed_shared_memory> segment;

/* The name goes as soon as everybody has opened it, so that a process that is killed leaves nothing in /dev/shm. */
static void attach(int worker, struct pairs_shared *shared)
{
    try {
        if (worker == 0) {
            segment = std::make_unique<ipc::managed_shared_memory>(ipc::create_only, shared->name, PAIRS_BYTES);
            pairs_made(shared);
        } else {
            pairs_wait(shared, &shared->ready, 1);
            segment = std::make_unique<ipc::managed_shared_memory>(ipc::open_only, shared->name);
        }
    } catch (const std::exception &error) {
        fprintf(stderr, "Boost.Interprocess: %s\n", error.what());
        _exit(1);
    }
}

static void attached(int worker, struct pairs_shared *shared)
{
    if (worker == 0)
        ipc::shared_memory_object::remove(shared->name);
}

static void *take(size_t size)
{
    return segment->allocate(size, std::nothrow);
}

static void give(void *block)
{
    segment->deallocate(block);
}

int main(int argc, char **argv)
{
    const struct pairs_allocator allocator = {attach, attached, nullptr};
    return pairs(argc > 1 ? atoi(argv[1]) : 1, &allocator, take, give);
}
