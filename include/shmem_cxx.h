/* SPDX-License-Identifier: Apache-2.0 */
/* What the C11 generic macros of shmem.h are in C, in C++ by overloading. Part of <shmem.h>.
   Written by spec/generate.py from spec/openshmem.toml; do not edit. */
/* clang-format off */
#ifndef SHMEM_CXX_H
#define SHMEM_CXX_H

#include "shmem.h"

#ifdef __cplusplus
extern "C++" {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wlong-long"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* The address that an overload is chosen by. It is not a plain pointer, so that a function of that name which
   the program has itself is the better match and not a second definition. */
template <typename T> struct shmemi_at {
    T *at;
    shmemi_at(T *given) : at(given) {}
    shmemi_at(volatile T *given) : at(const_cast<T *>(given)) {}
};

#define SHMEMI_EACH0(F) F(float, float) F(double, double) F(longdouble, long double) F(char, char) F(schar, signed char) F(short, short) F(int, int) F(long, long) F(longlong, long long) F(uchar, unsigned char) F(ushort, unsigned short) F(uint, unsigned int) F(ulong, unsigned long) F(ulonglong, unsigned long long)
#define SHMEMI_EACH1(F) F(float, float) F(double, double) F(int, int) F(long, long) F(longlong, long long) F(uint, unsigned int) F(ulong, unsigned long) F(ulonglong, unsigned long long)
#define SHMEMI_EACH2(F) F(float, float) F(double, double) F(int, int) F(long, long) F(longlong, long long)
#define SHMEMI_EACH3(F) F(int, int) F(long, long) F(longlong, long long) F(uint, unsigned int) F(ulong, unsigned long) F(ulonglong, unsigned long long)
#define SHMEMI_EACH4(F) F(int, int) F(long, long) F(longlong, long long)
#define SHMEMI_EACH5(F) F(uint, unsigned int) F(ulong, unsigned long) F(ulonglong, unsigned long long) F(int32, int) F(int64, long)
#define SHMEMI_EACH6(F) F(uchar, unsigned char) F(ushort, unsigned short) F(uint, unsigned int) F(ulong, unsigned long) F(ulonglong, unsigned long long) F(int8, signed char) F(int16, short) F(int32, int) F(int64, long)
#define SHMEMI_EACH7(F) F(char, char) F(schar, signed char) F(short, short) F(int, int) F(long, long) F(longlong, long long) F(uchar, unsigned char) F(ushort, unsigned short) F(uint, unsigned int) F(ulong, unsigned long) F(ulonglong, unsigned long long) F(float, float) F(double, double) F(longdouble, long double)
#define SHMEMI_EACH8(F) F(char, char) F(schar, signed char) F(short, short) F(int, int) F(long, long) F(longlong, long long) F(uchar, unsigned char) F(ushort, unsigned short) F(uint, unsigned int) F(ulong, unsigned long) F(ulonglong, unsigned long long) F(float, float) F(double, double) F(longdouble, long double) F(complexd, std::complex<double>) F(complexf, std::complex<float>)
#define SHMEMI_EACH9(F) F(int, int) F(long, long) F(longlong, long long) F(uint, unsigned int) F(ulong, unsigned long) F(ulonglong, unsigned long long) F(short, short) F(ushort, unsigned short)
#define SHMEMI_F(NAME, T) inline void shmem_put(shmemi_at<T> dest, const T *source, size_t nelems, int pe) { return shmem_##NAME##_put(dest.at, source, nelems, pe); }
SHMEMI_EACH0(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_put(shmem_ctx_t ctx, shmemi_at<T> dest, const T *source, size_t nelems, int pe) { return shmem_ctx_##NAME##_put(ctx, dest.at, source, nelems, pe); }
SHMEMI_EACH0(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_p(shmemi_at<T> dest, T value, int pe) { return shmem_##NAME##_p(dest.at, value, pe); }
SHMEMI_EACH0(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_p(shmem_ctx_t ctx, shmemi_at<T> dest, T value, int pe) { return shmem_ctx_##NAME##_p(ctx, dest.at, value, pe); }
SHMEMI_EACH0(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_iput(shmemi_at<T> dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { return shmem_##NAME##_iput(dest.at, source, dst, sst, nelems, pe); }
SHMEMI_EACH0(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_iput(shmem_ctx_t ctx, shmemi_at<T> dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { return shmem_ctx_##NAME##_iput(ctx, dest.at, source, dst, sst, nelems, pe); }
SHMEMI_EACH0(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_ibput(shmemi_at<T> dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { return shmem_##NAME##_ibput(dest.at, source, dst, sst, bsize, nblocks, pe); }
SHMEMI_EACH0(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_ibput(shmem_ctx_t ctx, shmemi_at<T> dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { return shmem_ctx_##NAME##_ibput(ctx, dest.at, source, dst, sst, bsize, nblocks, pe); }
SHMEMI_EACH0(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_get(shmemi_at<T> dest, const T *source, size_t nelems, int pe) { return shmem_##NAME##_get(dest.at, source, nelems, pe); }
SHMEMI_EACH0(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_get(shmem_ctx_t ctx, shmemi_at<T> dest, const T *source, size_t nelems, int pe) { return shmem_ctx_##NAME##_get(ctx, dest.at, source, nelems, pe); }
SHMEMI_EACH0(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline T shmem_g(shmemi_at<const T> source, int pe) { return shmem_##NAME##_g(source.at, pe); }
SHMEMI_EACH0(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline T shmem_g(shmem_ctx_t ctx, shmemi_at<const T> source, int pe) { return shmem_ctx_##NAME##_g(ctx, source.at, pe); }
SHMEMI_EACH0(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_iget(shmemi_at<T> dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { return shmem_##NAME##_iget(dest.at, source, dst, sst, nelems, pe); }
SHMEMI_EACH0(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_iget(shmem_ctx_t ctx, shmemi_at<T> dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { return shmem_ctx_##NAME##_iget(ctx, dest.at, source, dst, sst, nelems, pe); }
SHMEMI_EACH0(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_ibget(shmemi_at<T> dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { return shmem_##NAME##_ibget(dest.at, source, dst, sst, bsize, nblocks, pe); }
SHMEMI_EACH0(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_ibget(shmem_ctx_t ctx, shmemi_at<T> dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) { return shmem_ctx_##NAME##_ibget(ctx, dest.at, source, dst, sst, bsize, nblocks, pe); }
SHMEMI_EACH0(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_put_nbi(shmemi_at<T> dest, const T *source, size_t nelems, int pe) { return shmem_##NAME##_put_nbi(dest.at, source, nelems, pe); }
SHMEMI_EACH0(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_put_nbi(shmem_ctx_t ctx, shmemi_at<T> dest, const T *source, size_t nelems, int pe) { return shmem_ctx_##NAME##_put_nbi(ctx, dest.at, source, nelems, pe); }
SHMEMI_EACH0(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_get_nbi(shmemi_at<T> dest, const T *source, size_t nelems, int pe) { return shmem_##NAME##_get_nbi(dest.at, source, nelems, pe); }
SHMEMI_EACH0(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_get_nbi(shmem_ctx_t ctx, shmemi_at<T> dest, const T *source, size_t nelems, int pe) { return shmem_ctx_##NAME##_get_nbi(ctx, dest.at, source, nelems, pe); }
SHMEMI_EACH0(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline T shmem_atomic_fetch(shmemi_at<const T> source, int pe) { return shmem_##NAME##_atomic_fetch(source.at, pe); }
SHMEMI_EACH1(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline T shmem_atomic_fetch(shmem_ctx_t ctx, shmemi_at<const T> source, int pe) { return shmem_ctx_##NAME##_atomic_fetch(ctx, source.at, pe); }
SHMEMI_EACH1(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline T shmem_fetch(shmemi_at<const T> source, int pe) { return shmem_##NAME##_fetch(source.at, pe); }
SHMEMI_EACH2(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_atomic_set(shmemi_at<T> dest, T value, int pe) { return shmem_##NAME##_atomic_set(dest.at, value, pe); }
SHMEMI_EACH1(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_atomic_set(shmem_ctx_t ctx, shmemi_at<T> dest, T value, int pe) { return shmem_ctx_##NAME##_atomic_set(ctx, dest.at, value, pe); }
SHMEMI_EACH1(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_set(shmemi_at<T> dest, T value, int pe) { return shmem_##NAME##_set(dest.at, value, pe); }
SHMEMI_EACH2(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline T shmem_atomic_compare_swap(shmemi_at<T> dest, T cond, T value, int pe) { return shmem_##NAME##_atomic_compare_swap(dest.at, cond, value, pe); }
SHMEMI_EACH3(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline T shmem_atomic_compare_swap(shmem_ctx_t ctx, shmemi_at<T> dest, T cond, T value, int pe) { return shmem_ctx_##NAME##_atomic_compare_swap(ctx, dest.at, cond, value, pe); }
SHMEMI_EACH3(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline T shmem_cswap(shmemi_at<T> dest, T cond, T value, int pe) { return shmem_##NAME##_cswap(dest.at, cond, value, pe); }
SHMEMI_EACH4(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline T shmem_atomic_swap(shmemi_at<T> dest, T value, int pe) { return shmem_##NAME##_atomic_swap(dest.at, value, pe); }
SHMEMI_EACH1(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline T shmem_atomic_swap(shmem_ctx_t ctx, shmemi_at<T> dest, T value, int pe) { return shmem_ctx_##NAME##_atomic_swap(ctx, dest.at, value, pe); }
SHMEMI_EACH1(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline T shmem_swap(shmemi_at<T> dest, T value, int pe) { return shmem_##NAME##_swap(dest.at, value, pe); }
SHMEMI_EACH2(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline T shmem_atomic_fetch_inc(shmemi_at<T> dest, int pe) { return shmem_##NAME##_atomic_fetch_inc(dest.at, pe); }
SHMEMI_EACH3(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline T shmem_atomic_fetch_inc(shmem_ctx_t ctx, shmemi_at<T> dest, int pe) { return shmem_ctx_##NAME##_atomic_fetch_inc(ctx, dest.at, pe); }
SHMEMI_EACH3(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline T shmem_finc(shmemi_at<T> dest, int pe) { return shmem_##NAME##_finc(dest.at, pe); }
SHMEMI_EACH4(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_atomic_inc(shmemi_at<T> dest, int pe) { return shmem_##NAME##_atomic_inc(dest.at, pe); }
SHMEMI_EACH3(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_atomic_inc(shmem_ctx_t ctx, shmemi_at<T> dest, int pe) { return shmem_ctx_##NAME##_atomic_inc(ctx, dest.at, pe); }
SHMEMI_EACH3(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_inc(shmemi_at<T> dest, int pe) { return shmem_##NAME##_inc(dest.at, pe); }
SHMEMI_EACH4(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline T shmem_atomic_fetch_add(shmemi_at<T> dest, T value, int pe) { return shmem_##NAME##_atomic_fetch_add(dest.at, value, pe); }
SHMEMI_EACH3(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline T shmem_atomic_fetch_add(shmem_ctx_t ctx, shmemi_at<T> dest, T value, int pe) { return shmem_ctx_##NAME##_atomic_fetch_add(ctx, dest.at, value, pe); }
SHMEMI_EACH3(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline T shmem_fadd(shmemi_at<T> dest, T value, int pe) { return shmem_##NAME##_fadd(dest.at, value, pe); }
SHMEMI_EACH4(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_atomic_add(shmemi_at<T> dest, T value, int pe) { return shmem_##NAME##_atomic_add(dest.at, value, pe); }
SHMEMI_EACH3(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_atomic_add(shmem_ctx_t ctx, shmemi_at<T> dest, T value, int pe) { return shmem_ctx_##NAME##_atomic_add(ctx, dest.at, value, pe); }
SHMEMI_EACH3(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_add(shmemi_at<T> dest, T value, int pe) { return shmem_##NAME##_add(dest.at, value, pe); }
SHMEMI_EACH4(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline T shmem_atomic_fetch_and(shmemi_at<T> dest, T value, int pe) { return shmem_##NAME##_atomic_fetch_and(dest.at, value, pe); }
SHMEMI_EACH5(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline T shmem_atomic_fetch_and(shmem_ctx_t ctx, shmemi_at<T> dest, T value, int pe) { return shmem_ctx_##NAME##_atomic_fetch_and(ctx, dest.at, value, pe); }
SHMEMI_EACH5(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_atomic_and(shmemi_at<T> dest, T value, int pe) { return shmem_##NAME##_atomic_and(dest.at, value, pe); }
SHMEMI_EACH5(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_atomic_and(shmem_ctx_t ctx, shmemi_at<T> dest, T value, int pe) { return shmem_ctx_##NAME##_atomic_and(ctx, dest.at, value, pe); }
SHMEMI_EACH5(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline T shmem_atomic_fetch_or(shmemi_at<T> dest, T value, int pe) { return shmem_##NAME##_atomic_fetch_or(dest.at, value, pe); }
SHMEMI_EACH5(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline T shmem_atomic_fetch_or(shmem_ctx_t ctx, shmemi_at<T> dest, T value, int pe) { return shmem_ctx_##NAME##_atomic_fetch_or(ctx, dest.at, value, pe); }
SHMEMI_EACH5(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_atomic_or(shmemi_at<T> dest, T value, int pe) { return shmem_##NAME##_atomic_or(dest.at, value, pe); }
SHMEMI_EACH5(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_atomic_or(shmem_ctx_t ctx, shmemi_at<T> dest, T value, int pe) { return shmem_ctx_##NAME##_atomic_or(ctx, dest.at, value, pe); }
SHMEMI_EACH5(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline T shmem_atomic_fetch_xor(shmemi_at<T> dest, T value, int pe) { return shmem_##NAME##_atomic_fetch_xor(dest.at, value, pe); }
SHMEMI_EACH5(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline T shmem_atomic_fetch_xor(shmem_ctx_t ctx, shmemi_at<T> dest, T value, int pe) { return shmem_ctx_##NAME##_atomic_fetch_xor(ctx, dest.at, value, pe); }
SHMEMI_EACH5(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_atomic_xor(shmemi_at<T> dest, T value, int pe) { return shmem_##NAME##_atomic_xor(dest.at, value, pe); }
SHMEMI_EACH5(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_atomic_xor(shmem_ctx_t ctx, shmemi_at<T> dest, T value, int pe) { return shmem_ctx_##NAME##_atomic_xor(ctx, dest.at, value, pe); }
SHMEMI_EACH5(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_atomic_fetch_nbi(shmemi_at<T> fetch, const T *source, int pe) { return shmem_##NAME##_atomic_fetch_nbi(fetch.at, source, pe); }
SHMEMI_EACH1(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_atomic_fetch_nbi(shmem_ctx_t ctx, shmemi_at<T> fetch, const T *source, int pe) { return shmem_ctx_##NAME##_atomic_fetch_nbi(ctx, fetch.at, source, pe); }
SHMEMI_EACH1(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_atomic_compare_swap_nbi(shmemi_at<T> fetch, T *dest, T cond, T value, int pe) { return shmem_##NAME##_atomic_compare_swap_nbi(fetch.at, dest, cond, value, pe); }
SHMEMI_EACH3(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_atomic_compare_swap_nbi(shmem_ctx_t ctx, shmemi_at<T> fetch, T *dest, T cond, T value, int pe) { return shmem_ctx_##NAME##_atomic_compare_swap_nbi(ctx, fetch.at, dest, cond, value, pe); }
SHMEMI_EACH3(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_atomic_swap_nbi(shmemi_at<T> fetch, T *dest, T value, int pe) { return shmem_##NAME##_atomic_swap_nbi(fetch.at, dest, value, pe); }
SHMEMI_EACH1(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_atomic_swap_nbi(shmem_ctx_t ctx, shmemi_at<T> fetch, T *dest, T value, int pe) { return shmem_ctx_##NAME##_atomic_swap_nbi(ctx, fetch.at, dest, value, pe); }
SHMEMI_EACH1(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_atomic_fetch_inc_nbi(shmemi_at<T> fetch, T *dest, int pe) { return shmem_##NAME##_atomic_fetch_inc_nbi(fetch.at, dest, pe); }
SHMEMI_EACH3(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_atomic_fetch_inc_nbi(shmem_ctx_t ctx, shmemi_at<T> fetch, T *dest, int pe) { return shmem_ctx_##NAME##_atomic_fetch_inc_nbi(ctx, fetch.at, dest, pe); }
SHMEMI_EACH3(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_atomic_fetch_add_nbi(shmemi_at<T> fetch, T *dest, T value, int pe) { return shmem_##NAME##_atomic_fetch_add_nbi(fetch.at, dest, value, pe); }
SHMEMI_EACH3(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_atomic_fetch_add_nbi(shmem_ctx_t ctx, shmemi_at<T> fetch, T *dest, T value, int pe) { return shmem_ctx_##NAME##_atomic_fetch_add_nbi(ctx, fetch.at, dest, value, pe); }
SHMEMI_EACH3(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_atomic_fetch_and_nbi(shmemi_at<T> fetch, T *dest, T value, int pe) { return shmem_##NAME##_atomic_fetch_and_nbi(fetch.at, dest, value, pe); }
SHMEMI_EACH5(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_atomic_fetch_and_nbi(shmem_ctx_t ctx, shmemi_at<T> fetch, T *dest, T value, int pe) { return shmem_ctx_##NAME##_atomic_fetch_and_nbi(ctx, fetch.at, dest, value, pe); }
SHMEMI_EACH5(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_atomic_fetch_or_nbi(shmemi_at<T> fetch, T *dest, T value, int pe) { return shmem_##NAME##_atomic_fetch_or_nbi(fetch.at, dest, value, pe); }
SHMEMI_EACH5(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_atomic_fetch_or_nbi(shmem_ctx_t ctx, shmemi_at<T> fetch, T *dest, T value, int pe) { return shmem_ctx_##NAME##_atomic_fetch_or_nbi(ctx, fetch.at, dest, value, pe); }
SHMEMI_EACH5(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_atomic_fetch_xor_nbi(shmemi_at<T> fetch, T *dest, T value, int pe) { return shmem_##NAME##_atomic_fetch_xor_nbi(fetch.at, dest, value, pe); }
SHMEMI_EACH5(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_atomic_fetch_xor_nbi(shmem_ctx_t ctx, shmemi_at<T> fetch, T *dest, T value, int pe) { return shmem_ctx_##NAME##_atomic_fetch_xor_nbi(ctx, fetch.at, dest, value, pe); }
SHMEMI_EACH5(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_put_signal(shmemi_at<T> dest, const T *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { return shmem_##NAME##_put_signal(dest.at, source, nelems, sig_addr, signal, sig_op, pe); }
SHMEMI_EACH0(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_put_signal(shmem_ctx_t ctx, shmemi_at<T> dest, const T *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { return shmem_ctx_##NAME##_put_signal(ctx, dest.at, source, nelems, sig_addr, signal, sig_op, pe); }
SHMEMI_EACH0(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_put_signal_nbi(shmemi_at<T> dest, const T *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { return shmem_##NAME##_put_signal_nbi(dest.at, source, nelems, sig_addr, signal, sig_op, pe); }
SHMEMI_EACH0(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_put_signal_nbi(shmem_ctx_t ctx, shmemi_at<T> dest, const T *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe) { return shmem_ctx_##NAME##_put_signal_nbi(ctx, dest.at, source, nelems, sig_addr, signal, sig_op, pe); }
SHMEMI_EACH0(SHMEMI_F)
#undef SHMEMI_F
inline void shmem_signal_add(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe) { return shmem_ctx_signal_add(ctx, sig_addr, signal, pe); }
inline void shmem_signal_set(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe) { return shmem_ctx_signal_set(ctx, sig_addr, signal, pe); }
inline int shmem_sync(shmem_team_t team) { return shmem_team_sync(team); }
#define SHMEMI_F(NAME, T) inline int shmem_alltoall(shmem_team_t team, shmemi_at<T> dest, const T *source, size_t nelems) { return shmem_##NAME##_alltoall(team, dest.at, source, nelems); }
SHMEMI_EACH0(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline int shmem_alltoalls(shmem_team_t team, shmemi_at<T> dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems) { return shmem_##NAME##_alltoalls(team, dest.at, source, dst, sst, nelems); }
SHMEMI_EACH0(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline int shmem_broadcast(shmem_team_t team, shmemi_at<T> dest, const T *source, size_t nelems, int PE_root) { return shmem_##NAME##_broadcast(team, dest.at, source, nelems, PE_root); }
SHMEMI_EACH0(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline int shmem_collect(shmem_team_t team, shmemi_at<T> dest, const T *source, size_t nelems) { return shmem_##NAME##_collect(team, dest.at, source, nelems); }
SHMEMI_EACH0(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline int shmem_fcollect(shmem_team_t team, shmemi_at<T> dest, const T *source, size_t nelems) { return shmem_##NAME##_fcollect(team, dest.at, source, nelems); }
SHMEMI_EACH0(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline int shmem_and_reduce(shmem_team_t team, shmemi_at<T> dest, const T *source, size_t nreduce) { return shmem_##NAME##_and_reduce(team, dest.at, source, nreduce); }
SHMEMI_EACH6(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline int shmem_or_reduce(shmem_team_t team, shmemi_at<T> dest, const T *source, size_t nreduce) { return shmem_##NAME##_or_reduce(team, dest.at, source, nreduce); }
SHMEMI_EACH6(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline int shmem_xor_reduce(shmem_team_t team, shmemi_at<T> dest, const T *source, size_t nreduce) { return shmem_##NAME##_xor_reduce(team, dest.at, source, nreduce); }
SHMEMI_EACH6(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline int shmem_max_reduce(shmem_team_t team, shmemi_at<T> dest, const T *source, size_t nreduce) { return shmem_##NAME##_max_reduce(team, dest.at, source, nreduce); }
SHMEMI_EACH7(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline int shmem_min_reduce(shmem_team_t team, shmemi_at<T> dest, const T *source, size_t nreduce) { return shmem_##NAME##_min_reduce(team, dest.at, source, nreduce); }
SHMEMI_EACH7(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline int shmem_sum_reduce(shmem_team_t team, shmemi_at<T> dest, const T *source, size_t nreduce) { return shmem_##NAME##_sum_reduce(team, dest.at, source, nreduce); }
SHMEMI_EACH8(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline int shmem_prod_reduce(shmem_team_t team, shmemi_at<T> dest, const T *source, size_t nreduce) { return shmem_##NAME##_prod_reduce(team, dest.at, source, nreduce); }
SHMEMI_EACH8(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline int shmem_sum_inscan(shmem_team_t team, shmemi_at<T> dest, const T *source, size_t nelems) { return shmem_##NAME##_sum_inscan(team, dest.at, source, nelems); }
SHMEMI_EACH8(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline int shmem_sum_exscan(shmem_team_t team, shmemi_at<T> dest, const T *source, size_t nelems) { return shmem_##NAME##_sum_exscan(team, dest.at, source, nelems); }
SHMEMI_EACH8(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_wait_until(shmemi_at<T> ivar, int cmp, T cmp_value) { return shmem_##NAME##_wait_until(ivar.at, cmp, cmp_value); }
SHMEMI_EACH9(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_wait_until_all(shmemi_at<T> ivars, size_t nelems, const int *status, int cmp, T cmp_value) { return shmem_##NAME##_wait_until_all(ivars.at, nelems, status, cmp, cmp_value); }
SHMEMI_EACH3(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline size_t shmem_wait_until_any(shmemi_at<T> ivars, size_t nelems, const int *status, int cmp, T cmp_value) { return shmem_##NAME##_wait_until_any(ivars.at, nelems, status, cmp, cmp_value); }
SHMEMI_EACH3(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline size_t shmem_wait_until_some(shmemi_at<T> ivars, size_t nelems, size_t *indices, const int *status, int cmp, T cmp_value) { return shmem_##NAME##_wait_until_some(ivars.at, nelems, indices, status, cmp, cmp_value); }
SHMEMI_EACH3(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline void shmem_wait_until_all_vector(shmemi_at<T> ivars, size_t nelems, const int *status, int cmp, const T *cmp_values) { return shmem_##NAME##_wait_until_all_vector(ivars.at, nelems, status, cmp, cmp_values); }
SHMEMI_EACH3(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline size_t shmem_wait_until_any_vector(shmemi_at<T> ivars, size_t nelems, const int *status, int cmp, const T *cmp_values) { return shmem_##NAME##_wait_until_any_vector(ivars.at, nelems, status, cmp, cmp_values); }
SHMEMI_EACH3(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline size_t shmem_wait_until_some_vector(shmemi_at<T> ivars, size_t nelems, size_t *indices, const int *status, int cmp, const T *cmp_values) { return shmem_##NAME##_wait_until_some_vector(ivars.at, nelems, indices, status, cmp, cmp_values); }
SHMEMI_EACH3(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline int shmem_test(shmemi_at<T> ivar, int cmp, T cmp_value) { return shmem_##NAME##_test(ivar.at, cmp, cmp_value); }
SHMEMI_EACH9(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline int shmem_test_all(shmemi_at<T> ivars, size_t nelems, const int *status, int cmp, T cmp_value) { return shmem_##NAME##_test_all(ivars.at, nelems, status, cmp, cmp_value); }
SHMEMI_EACH3(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline size_t shmem_test_any(shmemi_at<T> ivars, size_t nelems, const int *status, int cmp, T cmp_value) { return shmem_##NAME##_test_any(ivars.at, nelems, status, cmp, cmp_value); }
SHMEMI_EACH3(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline size_t shmem_test_some(shmemi_at<T> ivars, size_t nelems, size_t *indices, const int *status, int cmp, T cmp_value) { return shmem_##NAME##_test_some(ivars.at, nelems, indices, status, cmp, cmp_value); }
SHMEMI_EACH3(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline int shmem_test_all_vector(shmemi_at<T> ivars, size_t nelems, const int *status, int cmp, const T *cmp_values) { return shmem_##NAME##_test_all_vector(ivars.at, nelems, status, cmp, cmp_values); }
SHMEMI_EACH3(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline size_t shmem_test_any_vector(shmemi_at<T> ivars, size_t nelems, const int *status, int cmp, const T *cmp_values) { return shmem_##NAME##_test_any_vector(ivars.at, nelems, status, cmp, cmp_values); }
SHMEMI_EACH3(SHMEMI_F)
#undef SHMEMI_F
#define SHMEMI_F(NAME, T) inline size_t shmem_test_some_vector(shmemi_at<T> ivars, size_t nelems, size_t *indices, const int *status, int cmp, const T *cmp_values) { return shmem_##NAME##_test_some_vector(ivars.at, nelems, indices, status, cmp, cmp_values); }
SHMEMI_EACH3(SHMEMI_F)
#undef SHMEMI_F
#undef SHMEMI_EACH0
#undef SHMEMI_EACH1
#undef SHMEMI_EACH2
#undef SHMEMI_EACH3
#undef SHMEMI_EACH4
#undef SHMEMI_EACH5
#undef SHMEMI_EACH6
#undef SHMEMI_EACH7
#undef SHMEMI_EACH8
#undef SHMEMI_EACH9

/* float _Complex and double _Complex, which are no C++, but known to compilers; std::complex has their layout. */
__extension__ typedef float _Complex shmemi_complexf;
__extension__ typedef double _Complex shmemi_complexd;
inline int shmem_complexd_sum_reduce(shmem_team_t team, shmemi_complexd *dest, const shmemi_complexd *source, size_t nreduce) { return shmem_complexd_sum_reduce(team, reinterpret_cast<std::complex<double> *>(dest), reinterpret_cast<const std::complex<double> *>(source), nreduce); }
inline int shmem_complexf_sum_reduce(shmem_team_t team, shmemi_complexf *dest, const shmemi_complexf *source, size_t nreduce) { return shmem_complexf_sum_reduce(team, reinterpret_cast<std::complex<float> *>(dest), reinterpret_cast<const std::complex<float> *>(source), nreduce); }
inline int shmem_complexd_prod_reduce(shmem_team_t team, shmemi_complexd *dest, const shmemi_complexd *source, size_t nreduce) { return shmem_complexd_prod_reduce(team, reinterpret_cast<std::complex<double> *>(dest), reinterpret_cast<const std::complex<double> *>(source), nreduce); }
inline int shmem_complexf_prod_reduce(shmem_team_t team, shmemi_complexf *dest, const shmemi_complexf *source, size_t nreduce) { return shmem_complexf_prod_reduce(team, reinterpret_cast<std::complex<float> *>(dest), reinterpret_cast<const std::complex<float> *>(source), nreduce); }
inline int shmem_complexd_sum_inscan(shmem_team_t team, shmemi_complexd *dest, const shmemi_complexd *source, size_t nelems) { return shmem_complexd_sum_inscan(team, reinterpret_cast<std::complex<double> *>(dest), reinterpret_cast<const std::complex<double> *>(source), nelems); }
inline int shmem_complexf_sum_inscan(shmem_team_t team, shmemi_complexf *dest, const shmemi_complexf *source, size_t nelems) { return shmem_complexf_sum_inscan(team, reinterpret_cast<std::complex<float> *>(dest), reinterpret_cast<const std::complex<float> *>(source), nelems); }
inline int shmem_complexd_sum_exscan(shmem_team_t team, shmemi_complexd *dest, const shmemi_complexd *source, size_t nelems) { return shmem_complexd_sum_exscan(team, reinterpret_cast<std::complex<double> *>(dest), reinterpret_cast<const std::complex<double> *>(source), nelems); }
inline int shmem_complexf_sum_exscan(shmem_team_t team, shmemi_complexf *dest, const shmemi_complexf *source, size_t nelems) { return shmem_complexf_sum_exscan(team, reinterpret_cast<std::complex<float> *>(dest), reinterpret_cast<const std::complex<float> *>(source), nelems); }
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") inline void shmem_complexf_sum_to_all(shmemi_complexf *dest, const shmemi_complexf *source, int nreduce, int PE_start, int logPE_stride, int PE_size, shmemi_complexf *pWrk, long *pSync) { return shmem_complexf_sum_to_all(reinterpret_cast<std::complex<float> *>(dest), reinterpret_cast<const std::complex<float> *>(source), nreduce, PE_start, logPE_stride, PE_size, reinterpret_cast<std::complex<float> *>(pWrk), pSync); }
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") inline void shmem_complexd_sum_to_all(shmemi_complexd *dest, const shmemi_complexd *source, int nreduce, int PE_start, int logPE_stride, int PE_size, shmemi_complexd *pWrk, long *pSync) { return shmem_complexd_sum_to_all(reinterpret_cast<std::complex<double> *>(dest), reinterpret_cast<const std::complex<double> *>(source), nreduce, PE_start, logPE_stride, PE_size, reinterpret_cast<std::complex<double> *>(pWrk), pSync); }
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") inline void shmem_complexf_prod_to_all(shmemi_complexf *dest, const shmemi_complexf *source, int nreduce, int PE_start, int logPE_stride, int PE_size, shmemi_complexf *pWrk, long *pSync) { return shmem_complexf_prod_to_all(reinterpret_cast<std::complex<float> *>(dest), reinterpret_cast<const std::complex<float> *>(source), nreduce, PE_start, logPE_stride, PE_size, reinterpret_cast<std::complex<float> *>(pWrk), pSync); }
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") inline void shmem_complexd_prod_to_all(shmemi_complexd *dest, const shmemi_complexd *source, int nreduce, int PE_start, int logPE_stride, int PE_size, shmemi_complexd *pWrk, long *pSync) { return shmem_complexd_prod_to_all(reinterpret_cast<std::complex<double> *>(dest), reinterpret_cast<const std::complex<double> *>(source), nreduce, PE_start, logPE_stride, PE_size, reinterpret_cast<std::complex<double> *>(pWrk), pSync); }

/* Pointers to volatile, which is what these functions once took. */
inline void shmem_int_wait_until(volatile int *ivar, int cmp, int cmp_value) { return shmem_int_wait_until(const_cast<int *>(ivar), cmp, cmp_value); }
inline void shmem_long_wait_until(volatile long *ivar, int cmp, long cmp_value) { return shmem_long_wait_until(const_cast<long *>(ivar), cmp, cmp_value); }
inline void shmem_longlong_wait_until(volatile long long *ivar, int cmp, long long cmp_value) { return shmem_longlong_wait_until(const_cast<long long *>(ivar), cmp, cmp_value); }
inline void shmem_uint_wait_until(volatile unsigned int *ivar, int cmp, unsigned int cmp_value) { return shmem_uint_wait_until(const_cast<unsigned int *>(ivar), cmp, cmp_value); }
inline void shmem_ulong_wait_until(volatile unsigned long *ivar, int cmp, unsigned long cmp_value) { return shmem_ulong_wait_until(const_cast<unsigned long *>(ivar), cmp, cmp_value); }
inline void shmem_ulonglong_wait_until(volatile unsigned long long *ivar, int cmp, unsigned long long cmp_value) { return shmem_ulonglong_wait_until(const_cast<unsigned long long *>(ivar), cmp, cmp_value); }
inline void shmem_int32_wait_until(volatile int32_t *ivar, int cmp, int32_t cmp_value) { return shmem_int32_wait_until(const_cast<int32_t *>(ivar), cmp, cmp_value); }
inline void shmem_int64_wait_until(volatile int64_t *ivar, int cmp, int64_t cmp_value) { return shmem_int64_wait_until(const_cast<int64_t *>(ivar), cmp, cmp_value); }
inline void shmem_uint32_wait_until(volatile uint32_t *ivar, int cmp, uint32_t cmp_value) { return shmem_uint32_wait_until(const_cast<uint32_t *>(ivar), cmp, cmp_value); }
inline void shmem_uint64_wait_until(volatile uint64_t *ivar, int cmp, uint64_t cmp_value) { return shmem_uint64_wait_until(const_cast<uint64_t *>(ivar), cmp, cmp_value); }
inline void shmem_size_wait_until(volatile size_t *ivar, int cmp, size_t cmp_value) { return shmem_size_wait_until(const_cast<size_t *>(ivar), cmp, cmp_value); }
inline void shmem_ptrdiff_wait_until(volatile ptrdiff_t *ivar, int cmp, ptrdiff_t cmp_value) { return shmem_ptrdiff_wait_until(const_cast<ptrdiff_t *>(ivar), cmp, cmp_value); }
inline void shmem_short_wait_until(volatile short *ivar, int cmp, short cmp_value) { return shmem_short_wait_until(const_cast<short *>(ivar), cmp, cmp_value); }
inline void shmem_ushort_wait_until(volatile unsigned short *ivar, int cmp, unsigned short cmp_value) { return shmem_ushort_wait_until(const_cast<unsigned short *>(ivar), cmp, cmp_value); }
SHMEMI_DEPRECATED("since OpenSHMEM 1.4") inline void shmem_wait_until(volatile long *ivar, int cmp, long cmp_value) { return shmem_wait_until(const_cast<long *>(ivar), cmp, cmp_value); }
SHMEMI_DEPRECATED("since OpenSHMEM 1.4") inline void shmem_wait(volatile long *ivar, long cmp_value) { return shmem_wait(const_cast<long *>(ivar), cmp_value); }
SHMEMI_DEPRECATED("since OpenSHMEM 1.4") inline void shmem_short_wait(volatile short *ivar, short cmp_value) { return shmem_short_wait(const_cast<short *>(ivar), cmp_value); }
SHMEMI_DEPRECATED("since OpenSHMEM 1.4") inline void shmem_int_wait(volatile int *ivar, int cmp_value) { return shmem_int_wait(const_cast<int *>(ivar), cmp_value); }
SHMEMI_DEPRECATED("since OpenSHMEM 1.4") inline void shmem_long_wait(volatile long *ivar, long cmp_value) { return shmem_long_wait(const_cast<long *>(ivar), cmp_value); }
SHMEMI_DEPRECATED("since OpenSHMEM 1.4") inline void shmem_longlong_wait(volatile long long *ivar, long long cmp_value) { return shmem_longlong_wait(const_cast<long long *>(ivar), cmp_value); }
inline int shmem_int_test(volatile int *ivar, int cmp, int cmp_value) { return shmem_int_test(const_cast<int *>(ivar), cmp, cmp_value); }
inline int shmem_long_test(volatile long *ivar, int cmp, long cmp_value) { return shmem_long_test(const_cast<long *>(ivar), cmp, cmp_value); }
inline int shmem_longlong_test(volatile long long *ivar, int cmp, long long cmp_value) { return shmem_longlong_test(const_cast<long long *>(ivar), cmp, cmp_value); }
inline int shmem_uint_test(volatile unsigned int *ivar, int cmp, unsigned int cmp_value) { return shmem_uint_test(const_cast<unsigned int *>(ivar), cmp, cmp_value); }
inline int shmem_ulong_test(volatile unsigned long *ivar, int cmp, unsigned long cmp_value) { return shmem_ulong_test(const_cast<unsigned long *>(ivar), cmp, cmp_value); }
inline int shmem_ulonglong_test(volatile unsigned long long *ivar, int cmp, unsigned long long cmp_value) { return shmem_ulonglong_test(const_cast<unsigned long long *>(ivar), cmp, cmp_value); }
inline int shmem_int32_test(volatile int32_t *ivar, int cmp, int32_t cmp_value) { return shmem_int32_test(const_cast<int32_t *>(ivar), cmp, cmp_value); }
inline int shmem_int64_test(volatile int64_t *ivar, int cmp, int64_t cmp_value) { return shmem_int64_test(const_cast<int64_t *>(ivar), cmp, cmp_value); }
inline int shmem_uint32_test(volatile uint32_t *ivar, int cmp, uint32_t cmp_value) { return shmem_uint32_test(const_cast<uint32_t *>(ivar), cmp, cmp_value); }
inline int shmem_uint64_test(volatile uint64_t *ivar, int cmp, uint64_t cmp_value) { return shmem_uint64_test(const_cast<uint64_t *>(ivar), cmp, cmp_value); }
inline int shmem_size_test(volatile size_t *ivar, int cmp, size_t cmp_value) { return shmem_size_test(const_cast<size_t *>(ivar), cmp, cmp_value); }
inline int shmem_ptrdiff_test(volatile ptrdiff_t *ivar, int cmp, ptrdiff_t cmp_value) { return shmem_ptrdiff_test(const_cast<ptrdiff_t *>(ivar), cmp, cmp_value); }
inline int shmem_short_test(volatile short *ivar, int cmp, short cmp_value) { return shmem_short_test(const_cast<short *>(ivar), cmp, cmp_value); }
inline int shmem_ushort_test(volatile unsigned short *ivar, int cmp, unsigned short cmp_value) { return shmem_ushort_test(const_cast<unsigned short *>(ivar), cmp, cmp_value); }
inline uint64_t shmem_signal_wait_until(volatile uint64_t *sig_addr, int cmp, uint64_t cmp_value) { return shmem_signal_wait_until(const_cast<uint64_t *>(sig_addr), cmp, cmp_value); }
inline void shmem_clear_lock(volatile long *lock) { return shmem_clear_lock(const_cast<long *>(lock)); }
inline void shmem_set_lock(volatile long *lock) { return shmem_set_lock(const_cast<long *>(lock)); }
inline int shmem_test_lock(volatile long *lock) { return shmem_test_lock(const_cast<long *>(lock)); }

#pragma GCC diagnostic pop
}
#endif

#endif
