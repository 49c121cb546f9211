/* The best rows of a matrix by a copy of it in int8: products with bounds of their errors, and the rows that can be
   among the best ones. Products are of int16 with int16, added up in int32, which compilers make multiply-add
   instructions of; on x86 the code is compiled for what the machine has. */
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

/* Write between which numbers the scores of some rows lie, given by their first one: lower[q GH_ROWS_AT_ONCE + r] for
   row r and query q, and `upper` likewise. There is room for GH_ROWS_AT_ONCE rows in `wide`; those that are not there
   have an upper bound of minus infinity. */
GH_INLINE void gh_bounds_body(const gh_table* table, int64_t start, int count, int16_t* wide, int32_t* products,
                              float* lowers, float* uppers) {
    int n = table->numbers / GH_NUMBERS * GH_NUMBERS, q = 0, r, k;
    const int8_t* rows = table->rows + start * n;
    for (k = 0; k < count * n; k++) wide[k] = rows[k];
    memset(wide + (size_t) count * n, 0, sizeof(int16_t) * (size_t) (GH_ROWS_AT_ONCE - count) * n);
    for (; q + 4 <= table->query_count; q += 4)
        for (r = 0; r < GH_ROWS_AT_ONCE; r += 4)
            gh_sixteen_products(wide + (size_t) r * n, table->queries + (size_t) q * n, n,
                                products + q * GH_ROWS_AT_ONCE + r);
    for (; q < table->query_count; q++)
        for (r = 0; r < GH_ROWS_AT_ONCE; r++)
            products[q * GH_ROWS_AT_ONCE + r] =
                gh_one_product(wide + (size_t) r * n, table->queries + (size_t) q * n, n);
    for (q = 0; q < table->query_count; q++) {
        const float *scales = table->scales + start, *errors = table->errors + start;
        const float* biases = table->biases ? table->biases + start : 0;
        const int32_t* from = products + q * GH_ROWS_AT_ONCE;
        float *lower = lowers + q * GH_ROWS_AT_ONCE, *upper = uppers + q * GH_ROWS_AT_ONCE;
        float scale = table->query_scales[q], length = table->query_lengths[q], shift = table->query_shifts[q];
        for (r = 0; r < count; r++) {
            float added = shift + (biases ? biases[r] : 0.0f);
            float score = scale * scales[r] * (float) from[r] + added;
            float error = length * errors[r] + GH_ROUNDING * (fabsf(score) + fabsf(added));
            lower[r] = score - error;
            upper[r] = score + error;
        }
        for (; r < GH_ROWS_AT_ONCE; r++) lower[r] = upper[r] = -INFINITY;
    }
}

#if defined(__GNUC__) && defined(__x86_64__)
#define GH_BOUNDS_FOR(name, features)                                                                              \
    __attribute__((target(features))) static void name(const gh_table* table, int64_t start, int count,            \
                                                       int16_t* wide, int32_t* products, float* lowers,            \
                                                       float* uppers) {                                            \
        gh_bounds_body(table, start, count, wide, products, lowers, uppers);                                       \
    }
GH_BOUNDS_FOR(gh_bounds_avx2, "avx2")
GH_BOUNDS_FOR(gh_bounds_avx512, "avx512f,avx512bw,prefer-vector-width=512")
GH_BOUNDS_FOR(gh_bounds_vnni, "avx512f,avx512bw,avx512vnni,prefer-vector-width=512")
#endif
static void gh_bounds(const gh_table* table, int64_t start, int count, int16_t* wide, int32_t* products, float* lowers,
                      float* uppers) {
    gh_bounds_body(table, start, count, wide, products, lowers, uppers);
}

typedef void (*gh_bounds_function)(const gh_table*, int64_t, int, int16_t*, int32_t*, float*, float*);

/* The fastest code that this machine can run */
static gh_bounds_function gh_fastest_bounds(void) {
#if defined(__GNUC__) && defined(__x86_64__)
    int width = gh_widest(16);
    if (width == 16 && __builtin_cpu_supports("avx512bw"))
        return __builtin_cpu_supports("avx512vnni") ? gh_bounds_vnni : gh_bounds_avx512;
    if (width >= 8) return gh_bounds_avx2;
#endif
    return gh_bounds;
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
    int r, any = 0;
    if (question->seen == question->wanted) {  /* Hardly ever is there a candidate among a few rows. */
        float least = question->heap[0];
        for (r = 0; r < GH_ROWS_AT_ONCE; r++) any |= upper[r] >= least;
        if (!any) return;
    }
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
   `products`, `lowers` and `uppers` for that number times the number of queries. */
static void gh_select(const gh_table* table, gh_question* questions, int question_count, int64_t start, int64_t stop,
                      int16_t* wide, int32_t* products, float* lowers, float* uppers) {
    gh_bounds_function bounds = gh_fastest_bounds();
    int count, q, r;
    for (; start < stop; start += GH_ROWS_AT_ONCE) {
        count = stop - start < GH_ROWS_AT_ONCE ? (int) (stop - start) : GH_ROWS_AT_ONCE;
        bounds(table, start, count, wide, products, lowers, uppers);
        for (q = 0; q < question_count; q++) {
            float* lower = lowers + questions[q].first * GH_ROWS_AT_ONCE;
            float* upper = uppers + questions[q].first * GH_ROWS_AT_ONCE;
            if (questions[q].last != questions[q].first) {  /* Each query belongs to one question: write into it. */
                const float* other_lower = lowers + questions[q].last * GH_ROWS_AT_ONCE;
                const float* other_upper = uppers + questions[q].last * GH_ROWS_AT_ONCE;
                for (r = 0; r < GH_ROWS_AT_ONCE; r++) {
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
