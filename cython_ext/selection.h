/* The best rows of a matrix by a copy of it in int8: products with bounds of their errors, and the rows that can be
   among the best ones. Products are of int16 with int16, added up in int32, which compilers make multiply-add
   instructions of; on x86 the code is compiled for three widths of registers. */
#ifndef GH_SELECTION_H
#define GH_SELECTION_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "eight_floats.h"
#include "lanes.h"

#define GH_NUMBERS 32      /* rows have a multiple of so many numbers: no loop has a rest */
#define GH_ROWS_AT_ONCE 32 /* whose products with all queries are computed before they are looked at */
#define GH_ROUNDING 1e-6f  /* relative error of a score by its own rounding, with a margin */

/* One question: rows for which the score, or the lower one of two, is highest */
typedef struct {
    int first, last;       /* its queries */
    int wanted;
    int kept, capacity;    /* candidates so far; those that can hold */
    int seen;              /* lower bounds in the heap */
    int overflows;         /* whether there were more candidates than that */
    float* heap;           /* the `wanted` highest lower bounds, the lowest of them first */
    float* upper;          /* of candidates */
    int64_t* rows;
} gh_question;

/* The matrix in int8, and the queries in int16 */
typedef struct {
    const int8_t* rows;
    const float* scales;   /* a row is its numbers times its scale */
    const float* errors;   /* length of what is missing */
    const float* biases;   /* added to scores; NULL for none */
    const int16_t* queries;
    const float* query_scales;
    const float* query_lengths;
    const float* query_shifts;  /* added to all scores of a query */
    int numbers, query_count;
} gh_table;

GH_INLINE int32_t gh_one_product(const int16_t* x, const int16_t* p, int n) {
    int32_t sum = 0;
    int k;
    for (k = 0; k < n; k++) sum += (int32_t) x[k] * p[k];
    return sum;
}

/* out[r] and those behind it: products of four rows with four queries */
GH_INLINE void gh_sixteen_products(const int16_t* x, const int16_t* p, int n, int32_t* out) {
    const int16_t *y = x + n, *z = y + n, *w = z + n, *q = p + n, *s = q + n, *t = s + n;
    int32_t xp = 0, xq = 0, xs = 0, xt = 0, yp = 0, yq = 0, ys = 0, yt = 0;
    int32_t zp = 0, zq = 0, zs = 0, zt = 0, wp = 0, wq = 0, ws = 0, wt = 0;
    int k;
    for (k = 0; k < n; k++) {
        xp += (int32_t) x[k] * p[k]; xq += (int32_t) x[k] * q[k]; xs += (int32_t) x[k] * s[k]; xt += (int32_t) x[k] * t[k];
        yp += (int32_t) y[k] * p[k]; yq += (int32_t) y[k] * q[k]; ys += (int32_t) y[k] * s[k]; yt += (int32_t) y[k] * t[k];
        zp += (int32_t) z[k] * p[k]; zq += (int32_t) z[k] * q[k]; zs += (int32_t) z[k] * s[k]; zt += (int32_t) z[k] * t[k];
        wp += (int32_t) w[k] * p[k]; wq += (int32_t) w[k] * q[k]; ws += (int32_t) w[k] * s[k]; wt += (int32_t) w[k] * t[k];
    }
    out[0] = xp; out[1] = yp; out[2] = zp; out[3] = wp; out += GH_ROWS_AT_ONCE;
    out[0] = xq; out[1] = yq; out[2] = zq; out[3] = wq; out += GH_ROWS_AT_ONCE;
    out[0] = xs; out[1] = ys; out[2] = zs; out[3] = ws; out += GH_ROWS_AT_ONCE;
    out[0] = xt; out[1] = yt; out[2] = zt; out[3] = wt;
}

/* out[q GH_ROWS_AT_ONCE + r] = row r . query q; `wide` holds the rows, of which there are GH_ROWS_AT_ONCE */
GH_INLINE void gh_block_products_body(const int16_t* wide, const int16_t* queries, int query_count, int groups,
                                      int32_t* out) {
    int n = groups * GH_NUMBERS, q = 0, r;
    for (; q + 4 <= query_count; q += 4)
        for (r = 0; r < GH_ROWS_AT_ONCE; r += 4)
            gh_sixteen_products(wide + (size_t) r * n, queries + (size_t) q * n, n, out + q * GH_ROWS_AT_ONCE + r);
    for (; q < query_count; q++)
        for (r = 0; r < GH_ROWS_AT_ONCE; r++)
            out[q * GH_ROWS_AT_ONCE + r] = gh_one_product(wide + (size_t) r * n, queries + (size_t) q * n, n);
}

#if defined(__GNUC__) && defined(__x86_64__)
__attribute__((target("avx2"))) static void gh_block_products_avx2(
    const int16_t* wide, const int16_t* queries, int query_count, int groups, int32_t* out) {
    gh_block_products_body(wide, queries, query_count, groups, out);
}
__attribute__((target("avx512f,avx512bw,prefer-vector-width=512"))) static void gh_block_products_avx512(
    const int16_t* wide, const int16_t* queries, int query_count, int groups, int32_t* out) {
    gh_block_products_body(wide, queries, query_count, groups, out);
}
#endif

static void gh_block_products(int width, const int16_t* wide, const int16_t* queries, int query_count, int groups,
                              int32_t* out) {
#if defined(__GNUC__) && defined(__x86_64__)
    if (width == 16 && __builtin_cpu_supports("avx512bw")) {
        gh_block_products_avx512(wide, queries, query_count, groups, out);
        return;
    }
    if (width >= 8) {
        gh_block_products_avx2(wide, queries, query_count, groups, out);
        return;
    }
#endif
    (void) width;
    gh_block_products_body(wide, queries, query_count, groups, out);
}

/* Put a lower bound in the place of the lowest one in the heap */
static void gh_replace_lowest(gh_question* question, float lower) {
    float* heap = question->heap;
    int n = question->seen, place = 0, child;
    while ((child = 2 * place + 1) < n) {
        if (child + 1 < n && heap[child + 1] < heap[child]) child++;
        if (heap[child] >= lower) break;
        heap[place] = heap[child];
        place = child;
    }
    heap[place] = lower;
}

static void gh_add_lower(gh_question* question, float lower) {
    float* heap = question->heap;
    int place = question->seen, parent;
    if (question->seen == question->wanted) {
        if (lower > heap[0]) gh_replace_lowest(question, lower);
        return;
    }
    question->seen++;
    while (place > 0 && heap[parent = (place - 1) / 2] > lower) {
        heap[place] = heap[parent];
        place = parent;
    }
    heap[place] = lower;
}

/* Drop candidates that are worse than `wanted` others for certain */
static void gh_drop_candidates(gh_question* question) {
    int k, kept = 0;
    if (question->seen < question->wanted) return;
    for (k = 0; k < question->kept; k++)
        if (question->upper[k] >= question->heap[0]) {
            question->upper[kept] = question->upper[k];
            question->rows[kept++] = question->rows[k];
        }
    question->kept = kept;
}

/* Look at the scores of some rows, given by their bounds */
static void gh_look(gh_question* question, const float* lower, const float* upper, int count, int64_t start) {
    int r;
    for (r = 0; r < count && !question->overflows; r++) {
        if (question->seen == question->wanted && !(upper[r] >= question->heap[0])) continue;
        if (question->kept == question->capacity) {
            gh_drop_candidates(question);
            if (question->kept > question->capacity / 2) {
                question->overflows = 1;
                return;
            }
        }
        question->upper[question->kept] = upper[r];
        question->rows[question->kept++] = start + r;
        gh_add_lower(question, lower[r]);
    }
}

/* Find the candidates of all questions among the rows from start to stop. `wide` has room for GH_ROWS_AT_ONCE rows,
   `products` and `bounds` for that number times the number of queries, `bounds` twice. */
static void gh_select(const gh_table* table, gh_question* questions, int question_count, int64_t start, int64_t stop,
                      int16_t* wide, int32_t* products, float* bounds) {
    int n = table->numbers, width = gh_widest(16), count, q, r, k;
    float* uppers = bounds + (size_t) table->query_count * GH_ROWS_AT_ONCE;
    for (; start < stop; start += GH_ROWS_AT_ONCE) {
        const float *scales = table->scales + start, *errors = table->errors + start;
        const int8_t* rows = table->rows + start * n;
        count = stop - start < GH_ROWS_AT_ONCE ? (int) (stop - start) : GH_ROWS_AT_ONCE;
        for (k = 0; k < count * n; k++) wide[k] = rows[k];
        memset(wide + (size_t) count * n, 0, sizeof(int16_t) * (size_t) (GH_ROWS_AT_ONCE - count) * n);
        gh_block_products(width, wide, table->queries, table->query_count, n / GH_NUMBERS, products);
        for (q = 0; q < table->query_count; q++) {
            const int32_t* from = products + q * GH_ROWS_AT_ONCE;
            float *lower = bounds + q * GH_ROWS_AT_ONCE, *upper = uppers + q * GH_ROWS_AT_ONCE;
            float scale = table->query_scales[q], length = table->query_lengths[q], shift = table->query_shifts[q];
            for (r = 0; r < count; r++) {
                float added = shift + (table->biases ? table->biases[start + r] : 0.0f);
                float score = scale * scales[r] * (float) from[r] + added;
                float error = length * errors[r] + GH_ROUNDING * (fabsf(score) + fabsf(added));
                lower[r] = score - error;
                upper[r] = score + error;
            }
        }
        for (q = 0; q < question_count; q++) {
            float* lower = bounds + questions[q].first * GH_ROWS_AT_ONCE;
            float* upper = uppers + questions[q].first * GH_ROWS_AT_ONCE;
            if (questions[q].last != questions[q].first) {  /* Each query belongs to one question: write into it. */
                const float* other_lower = bounds + questions[q].last * GH_ROWS_AT_ONCE;
                const float* other_upper = uppers + questions[q].last * GH_ROWS_AT_ONCE;
                for (r = 0; r < count; r++) {
                    lower[r] = lower[r] < other_lower[r] ? lower[r] : other_lower[r];
                    upper[r] = upper[r] < other_upper[r] ? upper[r] : other_upper[r];
                }
            }
            gh_look(questions + q, lower, upper, count, start);
        }
    }
    for (q = 0; q < question_count; q++) gh_drop_candidates(questions + q);
}

/* Write a row, times a factor, as int8 from -127 to 127, and its scale and error: the length of what is missing and
   `slack` times its own. Returns whether all its numbers are finite. */
static int gh_quantise(const float* row, int d, int n, float factor, float slack, int8_t* out, float* scale,
                       float* error) {
    float largest = 0.0f, inverse, missing = 0.0f, length = 0.0f;
    int k;
    for (k = 0; k < d; k++) {
        float x = fabsf(row[k] * factor);
        largest = x > largest ? x : largest;
        length += x * x;  /* NaN stays NaN here, but not above */
    }
    if (!(length <= 3e38f)) return 0;
    *scale = largest / 127.0f;
    inverse = *scale > 1e-30f ? 1.0f / *scale : 0.0f;  /* Rows of tiny numbers become zeros. */
    for (k = 0; k < d; k++) {
        float x = row[k] * factor, rounded = x * inverse;
        int number;
        rounded += rounded < 0.0f ? -0.5f : 0.5f;
        number = (int) (rounded > 127.0f ? 127.0f : rounded < -127.0f ? -127.0f : rounded);
        out[k] = (int8_t) number;
        x -= *scale * (float) number;
        missing += x * x;
    }
    for (; k < n; k++) out[k] = 0;
    *error = sqrtf(missing) * 1.0001f + slack * sqrtf(length);
    return 1;
}

#endif
