/* Products and sums over the pairs of words that occur, and Adam's step: the inner loops of factorisation.

   Rows are gathered from a matrix by their numbers. Everything is written once and compiled three times on x86: for
   every machine, for those with AVX2 and FMA, and for those with AVX-512, which are detected when the module is
   loaded. */
#ifndef GH_PAIRS_H
#define GH_PAIRS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "eight_floats.h"
#include "lanes.h"

#if defined(__GNUC__)

/* Sums of the lanes of a vector */
GH_INLINE float gh_sum_lanes4(gh_lanes4 x) { return (x[0] + x[2]) + (x[1] + x[3]); }
GH_INLINE float gh_sum_lanes8(gh_lanes8 x) {
    gh_lanes4 half[2];
    memcpy(half, &x, sizeof half);
    return gh_sum_lanes4(half[0] + half[1]);
}
GH_INLINE float gh_sum_lanes16(gh_lanes16 x) {
    gh_lanes8 half[2];
    memcpy(half, &x, sizeof half);
    return gh_sum_lanes8(half[0] + half[1]);
}

/* Products and sums over rows, in vectors of LANES floats.

   Products: out[r] = x . rows[which[r]], four rows at a time; the last four may hold one of them several times.
   Sums: out += sum over r of weights[r] rows[which[r]], up to eight vectors of all rows at a time, which stay in
   registers. Lanes beyond the last whole vector are computed in one that overlaps the one before it. */
#define GH_ROW_KERNELS(NAME, HOW, LANES)                                                                                \
    HOW static void gh_pair_products_##NAME(const float* x, const float* rows, ptrdiff_t stride,                        \
                                            const int32_t* which, ptrdiff_t n, int d, float* out) {                     \
        const int whole = d / LANES * LANES, rest = d - whole, last = d >= LANES ? d - LANES : 0;                       \
        gh_lanes##LANES tail = {0};                                                                                     \
        ptrdiff_t r;                                                                                                    \
        int k, row;                                                                                                     \
        memcpy((float*) &tail + (d >= LANES ? LANES - rest : 0), x + whole, rest * sizeof(float));                      \
        for (r = 0; r < n; r += 4) {                                                                                    \
            const ptrdiff_t end = n - 1;                                                                                \
            const float *p[4] = {rows + which[r] * stride, rows + which[r + 1 < n ? r + 1 : end] * stride,              \
                                 rows + which[r + 2 < n ? r + 2 : end] * stride,                                        \
                                 rows + which[r + 3 < n ? r + 3 : end] * stride};                                       \
            gh_lanes##LANES even[4] = {{0}, {0}, {0}, {0}}, odd[4] = {{0}, {0}, {0}, {0}}, y, z;                        \
            for (k = 0; k + 2 * LANES <= whole; k += 2 * LANES) {                                                       \
                gh_lanes##LANES x0, x1;                                                                                 \
                memcpy(&x0, x + k, sizeof x0);                                                                          \
                memcpy(&x1, x + k + LANES, sizeof x1);                                                                  \
                _Pragma("GCC unroll 4") for (row = 0; row < 4; row++) {                                                 \
                    memcpy(&y, p[row] + k, sizeof y);                                                                   \
                    memcpy(&z, p[row] + k + LANES, sizeof z);                                                           \
                    even[row] += x0 * y;                                                                                \
                    odd[row] += x1 * z;                                                                                 \
                }                                                                                                       \
            }                                                                                                           \
            if (k < whole) {                                                                                            \
                gh_lanes##LANES x0;                                                                                     \
                memcpy(&x0, x + k, sizeof x0);                                                                          \
                _Pragma("GCC unroll 4") for (row = 0; row < 4; row++) {                                                 \
                    memcpy(&y, p[row] + k, sizeof y);                                                                   \
                    even[row] += x0 * y;                                                                                \
                }                                                                                                       \
            }                                                                                                           \
            if (rest)                                                                                                   \
                _Pragma("GCC unroll 4") for (row = 0; row < 4; row++) {                                                 \
                    y = (gh_lanes##LANES){0};                                                                           \
                    if (d >= LANES)                                                                                     \
                        memcpy(&y, p[row] + last, sizeof y);                                                            \
                    else                                                                                                \
                        memcpy(&y, p[row], d * sizeof(float));                                                          \
                    odd[row] += tail * y;                                                                               \
                }                                                                                                       \
            {                                                                                                           \
                float sums[4];                                                                                          \
                _Pragma("GCC unroll 4") for (row = 0; row < 4; row++)                                                   \
                    sums[row] = gh_sum_lanes##LANES(even[row] + odd[row]);                                              \
                memcpy(out + r, sums, (n - r < 4 ? n - r : 4) * sizeof(float));                                         \
            }                                                                                                           \
        }                                                                                                               \
    }                                                                                                                   \
    GH_SUM_VECTORS(NAME, HOW, LANES, 8)                                                                                 \
    GH_SUM_VECTORS(NAME, HOW, LANES, 2)                                                                                 \
    GH_SUM_VECTORS(NAME, HOW, LANES, 1)                                                                                 \
    HOW static void gh_pair_gather_##NAME(float* out, const float* rows, ptrdiff_t stride, const int32_t* which,        \
                                          const float* weights, ptrdiff_t n, int d) {                                   \
        float tail[LANES] = {0};                                                                                        \
        ptrdiff_t r;                                                                                                    \
        int k = 0;                                                                                                      \
        for (; k + 8 * LANES <= d; k += 8 * LANES) gh_sum8_##NAME(out + k, rows + k, stride, which, weights, n);        \
        for (; k + 2 * LANES <= d; k += 2 * LANES) gh_sum2_##NAME(out + k, rows + k, stride, which, weights, n);        \
        for (; k + LANES <= d; k += LANES) gh_sum1_##NAME(out + k, rows + k, stride, which, weights, n);                \
        if (k == d) return;                                                                                             \
        if (d >= LANES) {                                                                                               \
            gh_sum1_##NAME(tail, rows + d - LANES, stride, which, weights, n);                                          \
            for (; k < d; k++) out[k] += tail[k - d + LANES];                                                           \
        } else                                                                                                          \
            for (r = 0; r < n; r++)                                                                                     \
                for (k = 0; k < d; k++) out[k] += weights[r] * rows[which[r] * stride + k];                             \
    }

#define GH_SUM_VECTORS(NAME, HOW, LANES, VECTORS)                                                                       \
    HOW GH_INLINE void gh_sum##VECTORS##_##NAME(float* out, const float* rows, ptrdiff_t stride, const int32_t* which,  \
                                                const float* weights, ptrdiff_t n) {                                    \
        gh_lanes##LANES sums[VECTORS], y;                                                                               \
        ptrdiff_t r;                                                                                                    \
        int c;                                                                                                          \
        memcpy(sums, out, sizeof sums);                                                                                 \
        for (r = 0; r < n; r++) {                                                                                       \
            const float *p = rows + which[r] * stride, weight = weights[r];                                             \
            _Pragma("GCC unroll 8") for (c = 0; c < VECTORS; c++) {                                                     \
                memcpy(&y, p + c * LANES, sizeof y);                                                                    \
                sums[c] += weight * y;                                                                                  \
            }                                                                                                           \
        }                                                                                                               \
        memcpy(out, sums, sizeof sums);                                                                                 \
    }

#define GH_PLAIN
GH_ROW_KERNELS(any, GH_PLAIN, 4)

#else
static void gh_pair_products_any(const float* x, const float* rows, ptrdiff_t stride, const int32_t* which,
                                 ptrdiff_t n, int d, float* out) {
    ptrdiff_t r;
    int k;
    for (r = 0; r < n; r++) {
        const float* p = rows + which[r] * stride;
        float sum = 0;
        for (k = 0; k < d; k++) sum += x[k] * p[k];
        out[r] = sum;
    }
}
static void gh_pair_gather_any(float* out, const float* rows, ptrdiff_t stride, const int32_t* which,
                               const float* weights, ptrdiff_t n, int d) {
    ptrdiff_t r;
    int k;
    for (r = 0; r < n; r++) {
        const float *p = rows + which[r] * stride, w = weights[r];
        for (k = 0; k < d; k++) out[k] += w * p[k];
    }
}
#endif

/* One step of Adam for one row, with a Gaussian prior of weight `prior` on its first `d` entries of `width`; returns
   the squared norm of its gradient, the prior's included */
GH_INLINE float gh_pair_adam_body(float* x, const float* gradient, float* first, float* second, float prior, int d,
                                  int width, float beta1, float beta2, float rate, float correction) {
    float squares = 0;
    int k = 0;
#if defined(__GNUC__)
    gh_8 total = {0};
    for (; k + 8 <= d; k += 8) {
        gh_8 y = gh_load8(x + k), g = gh_load8(gradient + k) + prior * y, m, v;
        float root[8];
        int lane;
        total += g * g;
        m = beta1 * gh_load8(first + k) + (1 - beta1) * g;
        v = beta2 * gh_load8(second + k) + (1 - beta2) * (g * g);
        gh_store8(first + k, m);
        gh_store8(second + k, v);
        gh_store8(root, correction * v);
        for (lane = 0; lane < 8; lane++) root[lane] = sqrtf(root[lane]) + 1e-8f;
        gh_store8(x + k, y - rate * m / gh_load8(root));
    }
    squares = gh_sum8(total);
#endif
    for (; k < width; k++) {
        float g = gradient[k] + (k < d ? prior * x[k] : 0);
        squares += g * g;
        first[k] = beta1 * first[k] + (1 - beta1) * g;
        second[k] = beta2 * second[k] + (1 - beta2) * g * g;
        x[k] -= rate * first[k] / (sqrtf(correction * second[k]) + 1e-8f);
    }
    return squares;
}

/* |x|^2 */
GH_INLINE float gh_pair_squares_body(const float* x, int d) {
    float sum = 0;
    int k = 0;
#if defined(__GNUC__)
    gh_8 a = {0};
    for (; k + 8 <= d; k += 8) a += gh_load8(x + k) * gh_load8(x + k);
    sum = gh_sum8(a);
#endif
    for (; k < d; k++) sum += x[k] * x[k];
    return sum;
}

/* x[k] = (exp(x[k]) - level) factor weights[k], psi cut off at `largest`; returns the sum */
GH_INLINE float gh_pair_background_body(float* x, const float* weights, float factor, float level, float largest,
                                        int n) {
    float sum = 0;
    int k;
    gh_exps_body(x, n, largest);
    for (k = 0; k < n; k++) x[k] = (x[k] - level) * (factor * weights[k]);
    k = 0;
#if defined(__GNUC__)
    {
        gh_8 a = {0};
        for (; k + 8 <= n; k += 8) a += gh_load8(x + k);
        sum = gh_sum8(a);
    }
#endif
    for (; k < n; k++) sum += x[k];
    return sum;
}

#define GH_PAIR_KERNELS(NAME, HOW)                                                                                  \
    HOW static float gh_pair_adam_##NAME(float* x, const float* gradient, float* first, float* second, float prior,     \
                                         int d, int width, float beta1, float beta2, float rate, float correction) {    \
        return gh_pair_adam_body(x, gradient, first, second, prior, d, width, beta1, beta2, rate, correction);          \
    }                                                                                                                   \
    HOW static float gh_pair_squares_##NAME(const float* x, int d) { return gh_pair_squares_body(x, d); }              \
    HOW static void gh_pair_exps_##NAME(float* x, int n, float largest) { gh_exps_body(x, n, largest); }                \
    HOW static float gh_pair_background_##NAME(float* x, const float* weights, float factor, float level,               \
                                               float largest, int n) {                                                  \
        return gh_pair_background_body(x, weights, factor, level, largest, n);                                          \
    }

GH_PAIR_KERNELS(any, )
static void (*gh_pair_products)(const float*, const float*, ptrdiff_t, const int32_t*, ptrdiff_t, int, float*) =
    gh_pair_products_any;
static void (*gh_pair_gather)(float*, const float*, ptrdiff_t, const int32_t*, const float*, ptrdiff_t, int) =
    gh_pair_gather_any;
static float (*gh_pair_adam)(float*, const float*, float*, float*, float, int, int, float, float, float, float) =
    gh_pair_adam_any;
static float (*gh_pair_squares)(const float*, int) = gh_pair_squares_any;
static void (*gh_pair_exps)(float*, int, float) = gh_pair_exps_any;
static float (*gh_pair_background)(float*, const float*, float, float, float, int) = gh_pair_background_any;

#define GH_CHOOSE_PAIR_KERNELS(NAME)            \
    gh_pair_products = gh_pair_products_##NAME; \
    gh_pair_gather = gh_pair_gather_##NAME;     \
    gh_pair_adam = gh_pair_adam_##NAME;         \
    gh_pair_squares = gh_pair_squares_##NAME;   \
    gh_pair_exps = gh_pair_exps_##NAME;         \
    gh_pair_background = gh_pair_background_##NAME;

#if defined(__GNUC__) && defined(__x86_64__)
GH_ROW_KERNELS(avx2, GH_AVX2, 8)
GH_PAIR_KERNELS(avx2, GH_AVX2)
GH_ROW_KERNELS(avx512, GH_AVX512, 16)
GH_PAIR_KERNELS(avx512, GH_AVX512)
static void gh_choose_pair_kernels(int lanes) {
    if (lanes == 16) {
        GH_CHOOSE_PAIR_KERNELS(avx512)
    } else if (lanes == 8) {
        GH_CHOOSE_PAIR_KERNELS(avx2)
    } else {
        GH_CHOOSE_PAIR_KERNELS(any)
    }
}
#else
static void gh_choose_pair_kernels(int lanes) { (void) lanes; }
#endif

#endif
