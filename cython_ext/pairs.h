/* Products and sums over the pairs of words that occur, and Adam's step: the inner loops of factorisation.

   Rows are gathered from a matrix by their numbers. Everything is written once, in vectors of eight floats, and
   compiled twice on x86: for every machine, and for those with AVX2 and FMA, which are detected when the module is
   loaded. */
#ifndef GH_PAIRS_H
#define GH_PAIRS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "eight_floats.h"

/* out[k] = x . rows[which[k]], four rows at a time */
GH_INLINE void gh_pair_products_body(const float* x, const float* rows, ptrdiff_t stride, const int32_t* which,
                                     ptrdiff_t n, int d, float* out) {
    ptrdiff_t r = 0;
    int k;
#if defined(__GNUC__)
    for (; r + 4 <= n; r += 4) {
        const float *p = rows + which[r] * stride, *q = rows + which[r + 1] * stride;
        const float *s = rows + which[r + 2] * stride, *t = rows + which[r + 3] * stride;
        gh_8 a = {0}, b = {0}, c = {0}, e = {0}, a2 = {0}, b2 = {0}, c2 = {0}, e2 = {0};
        for (k = 0; k + 16 <= d; k += 16) {
            gh_8 y = gh_load8(x + k), z = gh_load8(x + k + 8);
            a += y * gh_load8(p + k); a2 += z * gh_load8(p + k + 8);
            b += y * gh_load8(q + k); b2 += z * gh_load8(q + k + 8);
            c += y * gh_load8(s + k); c2 += z * gh_load8(s + k + 8);
            e += y * gh_load8(t + k); e2 += z * gh_load8(t + k + 8);
        }
        for (; k + 8 <= d; k += 8) {
            gh_8 y = gh_load8(x + k);
            a += y * gh_load8(p + k); b += y * gh_load8(q + k); c += y * gh_load8(s + k); e += y * gh_load8(t + k);
        }
        out[r] = gh_sum8(a + a2); out[r + 1] = gh_sum8(b + b2);
        out[r + 2] = gh_sum8(c + c2); out[r + 3] = gh_sum8(e + e2);
        for (; k < d; k++) {
            out[r] += x[k] * p[k]; out[r + 1] += x[k] * q[k]; out[r + 2] += x[k] * s[k]; out[r + 3] += x[k] * t[k];
        }
    }
    for (; r < n; r++) {
        const float* p = rows + which[r] * stride;
        gh_8 a = {0}, a2 = {0};
        for (k = 0; k + 16 <= d; k += 16) {
            a += gh_load8(x + k) * gh_load8(p + k);
            a2 += gh_load8(x + k + 8) * gh_load8(p + k + 8);
        }
        for (; k + 8 <= d; k += 8) a += gh_load8(x + k) * gh_load8(p + k);
        out[r] = gh_sum8(a + a2);
        for (; k < d; k++) out[r] += x[k] * p[k];
    }
#else
    for (; r < n; r++) {
        const float* p = rows + which[r] * stride;
        float sum = 0;
        for (k = 0; k < d; k++) sum += x[k] * p[k];
        out[r] = sum;
    }
#endif
}

/* out += sum over k of weights[k] rows[which[k]], four rows at a time */
GH_INLINE void gh_pair_gather_body(float* out, const float* rows, ptrdiff_t stride, const int32_t* which,
                                   const float* weights, ptrdiff_t n, int d) {
    ptrdiff_t r = 0;
    int k;
#if defined(__GNUC__)
    for (; r + 4 <= n; r += 4) {
        const float *p = rows + which[r] * stride, *q = rows + which[r + 1] * stride;
        const float *s = rows + which[r + 2] * stride, *t = rows + which[r + 3] * stride;
        const float wp = weights[r], wq = weights[r + 1], ws = weights[r + 2], wt = weights[r + 3];
        for (k = 0; k + 8 <= d; k += 8) {
            gh_8 y = gh_load8(out + k);
            y += wp * gh_load8(p + k); y += wq * gh_load8(q + k); y += ws * gh_load8(s + k); y += wt * gh_load8(t + k);
            gh_store8(out + k, y);
        }
        for (; k < d; k++) {
            float y = out[k];
            y += wp * p[k]; y += wq * q[k]; y += ws * s[k]; y += wt * t[k];
            out[k] = y;
        }
    }
    for (; r < n; r++) {
        const float *p = rows + which[r] * stride, w = weights[r];
        for (k = 0; k + 8 <= d; k += 8) gh_store8(out + k, gh_load8(out + k) + w * gh_load8(p + k));
        for (; k < d; k++) out[k] += w * p[k];
    }
#else
    for (; r < n; r++) {
        const float *p = rows + which[r] * stride, w = weights[r];
        for (k = 0; k < d; k++) out[k] += w * p[k];
    }
#endif
}

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
    HOW static void gh_pair_products_##NAME(const float* x, const float* rows, ptrdiff_t stride,                        \
                                            const int32_t* which, ptrdiff_t n, int d, float* out) {                     \
        gh_pair_products_body(x, rows, stride, which, n, d, out);                                                       \
    }                                                                                                                   \
    HOW static void gh_pair_gather_##NAME(float* out, const float* rows, ptrdiff_t stride, const int32_t* which,        \
                                          const float* weights, ptrdiff_t n, int d) {                                   \
        gh_pair_gather_body(out, rows, stride, which, weights, n, d);                                                   \
    }                                                                                                                   \
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

#if defined(__GNUC__) && defined(__x86_64__)
GH_PAIR_KERNELS(avx2, __attribute__((target("avx2,fma"))))
static void gh_choose_pair_kernels(void) {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        gh_pair_products = gh_pair_products_avx2;
        gh_pair_gather = gh_pair_gather_avx2;
        gh_pair_adam = gh_pair_adam_avx2;
        gh_pair_squares = gh_pair_squares_avx2;
        gh_pair_exps = gh_pair_exps_avx2;
        gh_pair_background = gh_pair_background_avx2;
    }
}
#else
static void gh_choose_pair_kernels(void) {}
#endif

#endif
