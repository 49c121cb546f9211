/* Products and sums over the pairs of words that occur, and Adam's step: the inner loops of factorisation.

   Rows are gathered from a matrix by their numbers. Everything is written once, in vectors of eight floats, and compiled
   twice on x86: for every machine, and for those with AVX2 and FMA, which are recognised when the module is loaded. */
#ifndef GENSIM_HILBERT_PAIRS_H
#define GENSIM_HILBERT_PAIRS_H
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wpsabi" /* vectors are passed to inlined functions only */
#define GP_INLINE static inline __attribute__((always_inline))
#define GP_FETCH(p) __builtin_prefetch(p)
typedef float gp_8 __attribute__((vector_size(32)));
GP_INLINE gp_8 gp_load(const float* p) { gp_8 x; memcpy(&x, p, 32); return x; }
GP_INLINE void gp_store(float* p, gp_8 x) { memcpy(p, &x, 32); }
GP_INLINE float gp_sum(gp_8 x) { return ((x[0] + x[4]) + (x[1] + x[5])) + ((x[2] + x[6]) + (x[3] + x[7])); }
#else
#define GP_INLINE static __inline
#define GP_FETCH(p) ((void) 0)
#endif

/* out[k] = x . rows[which[k]], four rows at a time */
GP_INLINE void gp_products_body(const float* x, const float* rows, ptrdiff_t stride, const int32_t* which, ptrdiff_t n,
                                int d, float* out) {
    ptrdiff_t r = 0;
    int k;
#if defined(__GNUC__)
    for (; r + 4 <= n; r += 4) {
        const float *p = rows + which[r] * stride, *q = rows + which[r + 1] * stride;
        const float *s = rows + which[r + 2] * stride, *t = rows + which[r + 3] * stride;
        gp_8 a = {0}, b = {0}, c = {0}, e = {0}, a2 = {0}, b2 = {0}, c2 = {0}, e2 = {0};
        for (k = 0; k + 16 <= d; k += 16) {
            gp_8 y = gp_load(x + k), z = gp_load(x + k + 8);
            a += y * gp_load(p + k); a2 += z * gp_load(p + k + 8);
            b += y * gp_load(q + k); b2 += z * gp_load(q + k + 8);
            c += y * gp_load(s + k); c2 += z * gp_load(s + k + 8);
            e += y * gp_load(t + k); e2 += z * gp_load(t + k + 8);
        }
        for (; k + 8 <= d; k += 8) {
            gp_8 y = gp_load(x + k);
            a += y * gp_load(p + k); b += y * gp_load(q + k); c += y * gp_load(s + k); e += y * gp_load(t + k);
        }
        out[r] = gp_sum(a + a2); out[r + 1] = gp_sum(b + b2); out[r + 2] = gp_sum(c + c2); out[r + 3] = gp_sum(e + e2);
        for (; k < d; k++) {
            out[r] += x[k] * p[k]; out[r + 1] += x[k] * q[k]; out[r + 2] += x[k] * s[k]; out[r + 3] += x[k] * t[k];
        }
    }
    for (; r < n; r++) {
        const float* p = rows + which[r] * stride;
        gp_8 a = {0}, a2 = {0};
        for (k = 0; k + 16 <= d; k += 16) {
            a += gp_load(x + k) * gp_load(p + k);
            a2 += gp_load(x + k + 8) * gp_load(p + k + 8);
        }
        for (; k + 8 <= d; k += 8) a += gp_load(x + k) * gp_load(p + k);
        out[r] = gp_sum(a + a2);
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
GP_INLINE void gp_gather_body(float* out, const float* rows, ptrdiff_t stride, const int32_t* which,
                              const float* weights, ptrdiff_t n, int d) {
    ptrdiff_t r = 0;
    int k;
#if defined(__GNUC__)
    for (; r + 4 <= n; r += 4) {
        const float *p = rows + which[r] * stride, *q = rows + which[r + 1] * stride;
        const float *s = rows + which[r + 2] * stride, *t = rows + which[r + 3] * stride;
        const float wp = weights[r], wq = weights[r + 1], ws = weights[r + 2], wt = weights[r + 3];
        for (k = 0; k + 8 <= d; k += 8) {
            gp_8 y = gp_load(out + k);
            y += wp * gp_load(p + k); y += wq * gp_load(q + k); y += ws * gp_load(s + k); y += wt * gp_load(t + k);
            gp_store(out + k, y);
        }
        for (; k < d; k++) {
            float y = out[k];
            y += wp * p[k]; y += wq * q[k]; y += ws * s[k]; y += wt * t[k];
            out[k] = y;
        }
    }
    for (; r < n; r++) {
        const float *p = rows + which[r] * stride, w = weights[r];
        for (k = 0; k + 8 <= d; k += 8) gp_store(out + k, gp_load(out + k) + w * gp_load(p + k));
        for (; k < d; k++) out[k] += w * p[k];
    }
#else
    for (; r < n; r++) {
        const float *p = rows + which[r] * stride, w = weights[r];
        for (k = 0; k < d; k++) out[k] += w * p[k];
    }
#endif
}

/* One step of Adam for one row, with a Gaussian prior of weight `prior` on its first `d` entries of `width`; returns the
   squared norm of its gradient, the prior's included */
GP_INLINE float gp_adam_body(float* x, const float* gradient, float* first, float* second, float prior, int d, int width,
                             float beta1, float beta2, float rate, float correction) {
    float squares = 0;
    int k = 0;
#if defined(__GNUC__)
    gp_8 total = {0};
    for (; k + 8 <= d; k += 8) {
        gp_8 y = gp_load(x + k), g = gp_load(gradient + k) + prior * y, m, v;
        float root[8];
        int lane;
        total += g * g;
        m = beta1 * gp_load(first + k) + (1 - beta1) * g;
        v = beta2 * gp_load(second + k) + (1 - beta2) * (g * g);
        gp_store(first + k, m);
        gp_store(second + k, v);
        gp_store(root, correction * v);
        for (lane = 0; lane < 8; lane++) root[lane] = sqrtf(root[lane]) + 1e-8f;
        gp_store(x + k, y - rate * m / gp_load(root));
    }
    squares = gp_sum(total);
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
GP_INLINE float gp_squares_body(const float* x, int d) {
    float sum = 0;
    int k = 0;
#if defined(__GNUC__)
    gp_8 a = {0};
    for (; k + 8 <= d; k += 8) a += gp_load(x + k) * gp_load(x + k);
    sum = gp_sum(a);
#endif
    for (; k < d; k++) sum += x[k] * x[k];
    return sum;
}

#define GP_KERNELS(NAME, HOW)                                                                                            \
    HOW static void gp_products_##NAME(const float* x, const float* rows, ptrdiff_t stride, const int32_t* which,        \
                                       ptrdiff_t n, int d, float* out) {                                                 \
        gp_products_body(x, rows, stride, which, n, d, out);                                                             \
    }                                                                                                                    \
    HOW static void gp_gather_##NAME(float* out, const float* rows, ptrdiff_t stride, const int32_t* which,              \
                                     const float* weights, ptrdiff_t n, int d) {                                         \
        gp_gather_body(out, rows, stride, which, weights, n, d);                                                         \
    }                                                                                                                    \
    HOW static float gp_adam_##NAME(float* x, const float* gradient, float* first, float* second, float prior, int d,    \
                                    int width, float beta1, float beta2, float rate, float correction) {                 \
        return gp_adam_body(x, gradient, first, second, prior, d, width, beta1, beta2, rate, correction);                \
    }                                                                                                                    \
    HOW static float gp_squares_##NAME(const float* x, int d) { return gp_squares_body(x, d); }

GP_KERNELS(any, )
static void (*gp_products)(const float*, const float*, ptrdiff_t, const int32_t*, ptrdiff_t, int, float*) =
    gp_products_any;
static void (*gp_gather)(float*, const float*, ptrdiff_t, const int32_t*, const float*, ptrdiff_t, int) = gp_gather_any;
static float (*gp_adam)(float*, const float*, float*, float*, float, int, int, float, float, float, float) = gp_adam_any;
static float (*gp_squares)(const float*, int) = gp_squares_any;

#if defined(__GNUC__) && defined(__x86_64__)
GP_KERNELS(avx2, __attribute__((target("avx2,fma"))))
static void gp_choose(void) {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        gp_products = gp_products_avx2;
        gp_gather = gp_gather_avx2;
        gp_adam = gp_adam_avx2;
        gp_squares = gp_squares_avx2;
    }
}
#else
static void gp_choose(void) {}
#endif
#endif
