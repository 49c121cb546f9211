/* Products of a few rows of floats with a few others: the inner loops of training from the stream.

   The code is written once, in vectors of eight floats that any compiler maps to the registers it has, and compiled
   twice on x86: for every machine, and for those with AVX2 and FMA, which are detected when the module is loaded. Rows
   are pointers because they lie anywhere in the two matrices. */
#ifndef GH_ROWS_H
#define GH_ROWS_H

#include <stdint.h>
#include <string.h>

#include "eight_floats.h"
#include "lanes.h"

#if defined(__GNUC__)
/* x . p, with four sums under way at once */
GH_INLINE float gh_dot(const float* x, const float* p, int d) {
    gh_8 a = {0}, b = {0}, c = {0}, e = {0};
    float sum;
    int k;
    for (k = 0; k + 32 <= d; k += 32) {
        a += gh_load8(x + k) * gh_load8(p + k);
        b += gh_load8(x + k + 8) * gh_load8(p + k + 8);
        c += gh_load8(x + k + 16) * gh_load8(p + k + 16);
        e += gh_load8(x + k + 24) * gh_load8(p + k + 24);
    }
    for (; k + 8 <= d; k += 8) a += gh_load8(x + k) * gh_load8(p + k);
    sum = gh_sum8((a + b) + (c + e));
    for (; k < d; k++) sum += x[k] * p[k];
    return sum;
}

/* out[l stride + r] = left[l] . right[r], two by four at a time */
GH_INLINE void gh_products_body(float* const* left, int lefts, float* const* right, int rights, int d, float* out,
                                int stride) {
    int l = 0, r, k;
    for (; l + 2 <= lefts; l += 2) {
        const float *x = left[l], *y = left[l + 1];
        float *ox = out + (size_t) l * stride, *oy = ox + stride;
        for (r = 0; r + 4 <= rights; r += 4) {
            const float *p = right[r], *q = right[r + 1], *s = right[r + 2], *t = right[r + 3];
            gh_8 xp = {0}, xq = {0}, xs = {0}, xt = {0}, yp = {0}, yq = {0}, ys = {0}, yt = {0};
            for (k = 0; k + 8 <= d; k += 8) {
                gh_8 a = gh_load8(x + k), b = gh_load8(y + k), c = gh_load8(p + k), e = gh_load8(q + k);
                gh_8 f = gh_load8(s + k), g = gh_load8(t + k);
                xp += a * c; xq += a * e; xs += a * f; xt += a * g;
                yp += b * c; yq += b * e; ys += b * f; yt += b * g;
            }
            ox[r] = gh_sum8(xp); ox[r + 1] = gh_sum8(xq); ox[r + 2] = gh_sum8(xs); ox[r + 3] = gh_sum8(xt);
            oy[r] = gh_sum8(yp); oy[r + 1] = gh_sum8(yq); oy[r + 2] = gh_sum8(ys); oy[r + 3] = gh_sum8(yt);
            for (; k < d; k++) {
                ox[r] += x[k] * p[k]; ox[r + 1] += x[k] * q[k]; ox[r + 2] += x[k] * s[k]; ox[r + 3] += x[k] * t[k];
                oy[r] += y[k] * p[k]; oy[r + 1] += y[k] * q[k]; oy[r + 2] += y[k] * s[k]; oy[r + 3] += y[k] * t[k];
            }
        }
        for (; r < rights; r++) { ox[r] = gh_dot(x, right[r], d); oy[r] = gh_dot(y, right[r], d); }
    }
    for (; l < lefts; l++)
        for (r = 0; r < rights; r++) out[(size_t) l * stride + r] = gh_dot(left[l], right[r], d);
}

/* out[o] += sum over r of weights[o stride + r] rows[r], two at a time, 32 columns in registers. The rows written
   may be the same row: two that are, go one after the other. */
GH_INLINE void gh_mix_body(float* const* out, int outs, float* const* rows, int n, const float* weights, int stride,
                           int d) {
    int o = 0, r, k;
    while (o < outs) {
        float *x = out[o], *y = o + 1 < outs ? out[o + 1] : x;
        const float *wx = weights + (size_t) o * stride, *wy = wx + stride;
        if (x != y) {
            for (k = 0; k + 32 <= d; k += 32) {
                float *xk = x + k, *yk = y + k;
                gh_8 a = gh_load8(xk), b = gh_load8(xk + 8), c = gh_load8(xk + 16), e = gh_load8(xk + 24);
                gh_8 f = gh_load8(yk), g = gh_load8(yk + 8), h = gh_load8(yk + 16), i = gh_load8(yk + 24);
                for (r = 0; r < n; r++) {
                    const float* p = rows[r] + k;
                    float u = wx[r], v = wy[r];
                    gh_8 q = gh_load8(p), s = gh_load8(p + 8), t = gh_load8(p + 16), z = gh_load8(p + 24);
                    a += u * q; b += u * s; c += u * t; e += u * z;
                    f += v * q; g += v * s; h += v * t; i += v * z;
                }
                gh_store8(xk, a); gh_store8(xk + 8, b); gh_store8(xk + 16, c); gh_store8(xk + 24, e);
                gh_store8(yk, f); gh_store8(yk + 8, g); gh_store8(yk + 16, h); gh_store8(yk + 24, i);
            }
            for (; k + 4 <= d; k += 4) {
                typedef float gh_4 __attribute__((vector_size(16)));
                gh_4 a, b, q;
                memcpy(&a, x + k, 16); memcpy(&b, y + k, 16);
                for (r = 0; r < n; r++) { memcpy(&q, rows[r] + k, 16); a += wx[r] * q; b += wy[r] * q; }
                memcpy(x + k, &a, 16); memcpy(y + k, &b, 16);
            }
            for (; k < d; k++)
                for (r = 0; r < n; r++) { x[k] += wx[r] * rows[r][k]; y[k] += wy[r] * rows[r][k]; }
            o += 2;
        } else {
            for (k = 0; k + 32 <= d; k += 32) {
                float* xk = x + k;
                gh_8 a = gh_load8(xk), b = gh_load8(xk + 8), c = gh_load8(xk + 16), e = gh_load8(xk + 24);
                for (r = 0; r < n; r++) {
                    const float* p = rows[r] + k;
                    float u = wx[r];
                    a += u * gh_load8(p); b += u * gh_load8(p + 8);
                    c += u * gh_load8(p + 16); e += u * gh_load8(p + 24);
                }
                gh_store8(xk, a); gh_store8(xk + 8, b); gh_store8(xk + 16, c); gh_store8(xk + 24, e);
            }
            for (; k + 8 <= d; k += 8) {
                gh_8 a = gh_load8(x + k);
                for (r = 0; r < n; r++) a += wx[r] * gh_load8(rows[r] + k);
                gh_store8(x + k, a);
            }
            for (; k < d; k++)
                for (r = 0; r < n; r++) x[k] += wx[r] * rows[r][k];
            o += 1;
        }
    }
}

/* sum += to_sum[r] rows[r];  rows[r] += to_row[r] centre: each row is loaded once for both */
GH_INLINE void gh_blend_body(const float* centre, float* const* rows, const float* to_sum, const float* to_row,
                             int n, int d, float* sum) {
    int r = 0, k;
    while (r < n) {
        float *p = rows[r], *q = p, *s = p, *t = p;
        if (r + 4 <= n) { q = rows[r + 1]; s = rows[r + 2]; t = rows[r + 3]; }
        if (p == q || p == s || p == t || q == s || q == t || s == t) {  /* few are left, or two are the same */
            float sp = to_sum[r], rp = to_row[r];
            for (k = 0; k + 8 <= d; k += 8) {
                gh_8 a = gh_load8(p + k);
                gh_store8(sum + k, gh_load8(sum + k) + sp * a);
                gh_store8(p + k, a + rp * gh_load8(centre + k));
            }
            for (; k < d; k++) { sum[k] += sp * p[k]; p[k] += rp * centre[k]; }
            r += 1;
            continue;
        }
        float sp = to_sum[r], sq = to_sum[r + 1], ss = to_sum[r + 2], st = to_sum[r + 3];
        float rp = to_row[r], rq = to_row[r + 1], rs = to_row[r + 2], rt = to_row[r + 3];
        for (k = 0; k + 8 <= d; k += 8) {
            gh_8 x = gh_load8(centre + k), total = gh_load8(sum + k);
            gh_8 a = gh_load8(p + k), b = gh_load8(q + k), c = gh_load8(s + k), e = gh_load8(t + k);
            gh_store8(sum + k, total + ((sp * a + sq * b) + (ss * c + st * e)));
            gh_store8(p + k, a + rp * x);
            gh_store8(q + k, b + rq * x);
            gh_store8(s + k, c + rs * x);
            gh_store8(t + k, e + rt * x);
        }
        for (; k < d; k++) {
            sum[k] += (sp * p[k] + sq * q[k]) + (ss * s[k] + st * t[k]);
            p[k] += rp * centre[k]; q[k] += rq * centre[k]; s[k] += rs * centre[k]; t[k] += rt * centre[k];
        }
        r += 4;
    }
}
#else  /* the same in plain loops */
GH_INLINE void gh_products_body(float* const* left, int lefts, float* const* right, int rights, int d, float* out,
                                int stride) {
    int l, r, k;
    for (l = 0; l < lefts; l++)
        for (r = 0; r < rights; r++) {
            float sum = 0;
            for (k = 0; k < d; k++) sum += left[l][k] * right[r][k];
            out[(size_t) l * stride + r] = sum;
        }
}
GH_INLINE void gh_mix_body(float* const* out, int outs, float* const* rows, int n, const float* weights, int stride,
                           int d) {
    int o, r, k;
    for (o = 0; o < outs; o++)
        for (r = 0; r < n; r++)
            for (k = 0; k < d; k++) out[o][k] += weights[(size_t) o * stride + r] * rows[r][k];
}
GH_INLINE void gh_blend_body(const float* centre, float* const* rows, const float* to_sum, const float* to_row,
                             int n, int d, float* sum) {
    int r, k;
    for (r = 0; r < n; r++)
        for (k = 0; k < d; k++) {
            sum[k] += to_sum[r] * rows[r][k];
            rows[r][k] += to_row[r] * centre[k];
        }
}
#endif

#define GH_KERNELS(NAME, HOW)                                                                                    \
HOW static void gh_products_##NAME(float* const* l, int ln, float* const* r, int rn, int d, float* out, int s) { \
    gh_products_body(l, ln, r, rn, d, out, s);                                                                   \
}                                                                                                                \
HOW static void gh_mix_##NAME(float* const* o, int on, float* const* r, int n, const float* w, int s, int d) {   \
    gh_mix_body(o, on, r, n, w, s, d);                                                                           \
}                                                                                                                \
HOW static void gh_blend_##NAME(const float* c, float* const* r, const float* a, const float* b, int n, int d,   \
                                float* sum) {                                                                    \
    gh_blend_body(c, r, a, b, n, d, sum);                                                                        \
}                                                                                                                \
HOW static void gh_exps_##NAME(float* x, int n, float largest) { gh_exps_body(x, n, largest); }

GH_KERNELS(any, )
static void (*gh_products)(float* const*, int, float* const*, int, int, float*, int) = gh_products_any;
static void (*gh_mix)(float* const*, int, float* const*, int, const float*, int, int) = gh_mix_any;
static void (*gh_blend)(const float*, float* const*, const float*, const float*, int, int, float*) = gh_blend_any;
static void (*gh_exps)(float*, int, float) = gh_exps_any;
#if defined(__GNUC__) && defined(__x86_64__)
GH_KERNELS(avx2, GH_AVX2)
static void gh_choose_kernels(void) {
    if (gh_widest(8) == 8) {
        gh_products = gh_products_avx2;
        gh_mix = gh_mix_avx2;
        gh_blend = gh_blend_avx2;
        gh_exps = gh_exps_avx2;
    }
}
#else
static void gh_choose_kernels(void) {}
#endif

#endif
