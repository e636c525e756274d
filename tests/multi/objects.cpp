// SPDX-License-Identifier: Apache-2.0
// C++ with symmetric static data: constructors have run, templates pick the typed functions, exceptions pass.
#include <complex>
#include <cstdio>
#include <shmem.h>
#include <shmemx.h>
#include <stdexcept>
#include <vector>

struct Counter {
    long value;
    Counter() : value(41) {}
};
static Counter counter;                    // made before main, after the data became symmetric
static std::complex<double> z(1.0, 2.0);

template <typename T> T put_and_read(T *where, T value, int pe);
template <> long put_and_read(long *where, long value, int pe)
{
    shmem_long_p(where, value, pe);
    shmem_quiet();
    return shmem_long_g(where, pe);
}

int main()
{
    shmem_init();
    const int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
    if (counter.value != 41 || z != std::complex<double>(1.0, 2.0))
        shmem_global_exit(2);
    shmem_barrier_all();
    if (put_and_read(&counter.value, 100L + me, next) != 100 + me)
        shmem_global_exit(3);
    shmem_barrier_all();
    std::vector<long> got(1);
    shmem_getmem(got.data(), &counter.value, sizeof(long), next);
    if (got[0] != 100 + me || counter.value != 100 + (me + n - 1) % n)
        shmem_global_exit(4);
    try {
        throw std::runtime_error("passes");
    } catch (const std::exception &) {
        shmem_barrier_all();
    }
    if (me == 0)
        std::printf("static data works on %d PEs\n", n);
    shmem_finalize();
}
