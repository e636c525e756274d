// SPDX-License-Identifier: Apache-2.0
// Sorts 64-bit keys: PE i gets the i-th part of the range of keys. Who has keys for a PE reserves room in its memory
// by an atomic addition and puts them there; then each PE sorts what it got. The figure is keys per second.
//   oshcc -O2 bucket_sort.c -o bucket_sort && oshrun -n 4 ./bucket_sort -k 1000000
#include "program.h"

static long keys = 1 << 20;
static uint64_t received;  /* how much of `room` is reserved */
static uint64_t *room;     /* keys that came, on each PE */
static size_t room_length; /* in keys */

/* By the upper half of the key, as a fraction of all it can be. */
static int bucket_of(uint64_t key)
{
    return (int)((key >> 32) * (uint64_t)shmem_n_pes() >> 32);
}

static uint64_t *make_keys(void)
{
    uint64_t *array = private_array((size_t)keys, sizeof *array);
    for (long i = 0; i < keys; i++)
        array[i] = scramble((uint64_t)shmem_my_pe() << 40 ^ (uint64_t)i);
    return array;
}

/* The keys in the order of their buckets; end[b] is where bucket b ends. */
static uint64_t *group(const uint64_t *array, size_t *end)
{
    uint64_t *grouped = private_array((size_t)keys, sizeof *grouped);
    for (long i = 0; i < keys; i++)
        end[bucket_of(array[i])]++;
    size_t before = 0;
    for (int b = 0; b < shmem_n_pes(); b++) {
        const size_t count = end[b];
        end[b] = before;
        before += count;
    }
    for (long i = 0; i < keys; i++)
        grouped[end[bucket_of(array[i])]++] = array[i];
    return grouped;
}

/* Everybody begins with its right neighbour, so that not all go to one PE at a time. */
static void send(const uint64_t *grouped, const size_t *end)
{
    const int me = shmem_my_pe(), n = shmem_n_pes();
    for (int k = 1; k <= n; k++) {
        const int pe = (me + k) % n;
        const size_t begin = pe ? end[pe - 1] : 0, count = end[pe] - begin;
        const uint64_t at = shmem_uint64_atomic_fetch_add(&received, count, pe);
        if (at + count > room_length)
            give_up("a bucket is full: the keys are not spread evenly");
        shmem_uint64_put(&room[at], &grouped[begin], count, pe);
    }
}

/* By byte, the lowest first. Eight passes, so the result is where it began. */
static void radix_sort(uint64_t *array, size_t count)
{
    uint64_t *other = private_array(count, sizeof *other);
    for (int shift = 0; shift < 64; shift += 8) {
        size_t at[257] = {0};
        for (size_t i = 0; i < count; i++)
            at[(array[i] >> shift & 255) + 1]++;
        for (int b = 0; b < 256; b++)
            at[b + 1] += at[b];
        for (size_t i = 0; i < count; i++)
            other[at[array[i] >> shift & 255]++] = array[i];
        uint64_t *swap = array;
        array = other;
        other = swap;
    }
    free(other);
}

/* Does not depend on the order: the same before and after if no key was lost, doubled or changed. Sums wrap around. */
static long fingerprint(const uint64_t *array, size_t count)
{
    uint64_t sum = count;
    for (size_t i = 0; i < count; i++)
        sum += scramble(array[i]);
    return (long)sum;
}

static long count_wrong(void)
{
    long wrong = 0;
    for (size_t i = 0; i < received; i++)
        wrong += bucket_of(room[i]) != shmem_my_pe() || (i && room[i - 1] > room[i]);
    return wrong;
}

int main(int argc, char **argv)
{
    static const struct setting settings[] = {{'k', &keys, 0, 1L << 32, "keys on each PE"}};
    shmem_init();
    read_settings(argc, argv, "Sorts random 64-bit keys that are spread over all PEs.", settings, 1);
    const int me = shmem_my_pe(), n = shmem_n_pes();
    room_length = (size_t)keys + (size_t)keys / 4 + 4096;
    room = symmetric(room_length, sizeof *room);
    uint64_t *mine = make_keys();
    size_t *end = private_array((size_t)n, sizeof *end);

    shmem_barrier_all();
    const double start = seconds();
    uint64_t *grouped = group(mine, end);
    send(grouped, end);
    shmem_barrier_all();
    const double sent = seconds();
    radix_sort(room, received);
    shmem_barrier_all();
    const double time = seconds() - start;

    long wrong = count_wrong();
    if (sum_of_all(fingerprint(mine, (size_t)keys)) != sum_of_all(fingerprint(room, received)))
        wrong++;
    if (me == 0)
        printf("bucket_sort: %.2f million keys/s, %ld keys on %d PEs in %.3f s, %.3f s of it to group and send\n",
               (double)keys * n / time * 1e-6, keys * n, n, time, sent - start);
    free(mine);
    free(grouped);
    free(end);
    const int status = verdict(wrong);
    shmem_free(room);
    shmem_finalize();
    return status;
}
