/* Products of matrices that are small enough for the cache, on one core.

   The right factor is first packed into panels of a few columns, row after row, padded with zeros. A tile of the product
   (some rows of the left factor times one panel) stays in registers until it is done. Everything is written once and
   compiled for each width of registers; the widest that the machine has is chosen when the module is loaded. */
#ifndef GH_MATRICES_H
#define GH_MATRICES_H

#include <stddef.h>
#include <string.h>

#include "lanes.h"

#if defined(__GNUC__)
/* out = x times a panel of COLUMNS vectors, for ROWS rows at a time; only `kept` columns of it are stored */
#define GH_TILE(NAME, HOW, LANES, ROWS, COLUMNS)                                                                        \
    HOW static void gh_tile_##NAME(const float* x, ptrdiff_t x_stride, const float* panel, int inner, float* out,       \
                                   ptrdiff_t out_stride, int kept) {                                                    \
        gh_lanes##LANES sums[ROWS][COLUMNS], right[COLUMNS];                                                            \
        int r, c, k;                                                                                                    \
        _Pragma("GCC unroll 16") for (r = 0; r < ROWS; r++)                                                             \
            _Pragma("GCC unroll 2") for (c = 0; c < COLUMNS; c++) sums[r][c] = (gh_lanes##LANES){0};                    \
        for (k = 0; k < inner; k++) {                                                                                   \
            _Pragma("GCC unroll 2") for (c = 0; c < COLUMNS; c++)                                                       \
                memcpy(&right[c], panel + ((ptrdiff_t) k * COLUMNS + c) * LANES, sizeof right[c]);                      \
            _Pragma("GCC unroll 16") for (r = 0; r < ROWS; r++) {                                                       \
                float left = x[r * x_stride + k];                                                                       \
                _Pragma("GCC unroll 2") for (c = 0; c < COLUMNS; c++) sums[r][c] += left * right[c];                    \
            }                                                                                                           \
        }                                                                                                               \
        if (kept == COLUMNS * LANES)                                                                                    \
            _Pragma("GCC unroll 16") for (r = 0; r < ROWS; r++)                                                         \
                _Pragma("GCC unroll 2") for (c = 0; c < COLUMNS; c++)                                                   \
                    memcpy(out + r * out_stride + c * LANES, &sums[r][c], sizeof sums[r][c]);                           \
        else                                                                                                            \
            for (r = 0; r < ROWS; r++) memcpy(out + r * out_stride, sums[r], kept * sizeof(float));                     \
    }

/* The last panel has one vector if that is enough, all others have two. The last tile may overlap the one before it. */
#define GH_MULTIPLY(NAME, HOW, LANES, ROWS)                                                                             \
    GH_TILE(NAME##_wide, HOW, LANES, ROWS, 2)                                                                           \
    GH_TILE(NAME##_narrow, HOW, LANES, ROWS, 1)                                                                         \
    GH_TILE(NAME##_row_wide, HOW, LANES, 1, 2)                                                                          \
    GH_TILE(NAME##_row_narrow, HOW, LANES, 1, 1)                                                                        \
    HOW static void gh_multiply_##NAME(const float* x, ptrdiff_t rows, int inner, const float* panels, int columns,     \
                                       float* out, ptrdiff_t out_stride) {                                              \
        ptrdiff_t i, first;                                                                                             \
        int j;                                                                                                          \
        for (j = 0; j < columns; j += 2 * LANES, panels += (ptrdiff_t) 2 * LANES * inner) {                             \
            int left = columns - j, kept = left < 2 * LANES ? left : 2 * LANES;                                         \
            if (rows < ROWS) {                                                                                          \
                for (i = 0; i < rows; i++)                                                                              \
                    (left > LANES ? gh_tile_##NAME##_row_wide : gh_tile_##NAME##_row_narrow)(                           \
                        x + i * inner, inner, panels, inner, out + i * out_stride + j, out_stride, kept);               \
                continue;                                                                                               \
            }                                                                                                           \
            for (i = 0; i < rows; i += ROWS) {                                                                          \
                first = i + ROWS <= rows ? i : rows - ROWS;                                                             \
                (left > LANES ? gh_tile_##NAME##_wide : gh_tile_##NAME##_narrow)(                                       \
                    x + first * inner, inner, panels, inner, out + first * out_stride + j, out_stride, kept);           \
            }                                                                                                           \
        }                                                                                                               \
    }

GH_MULTIPLY(any, , 4, 6)
static int gh_lanes = 4;
static void (*gh_multiply)(const float*, ptrdiff_t, int, const float*, int, float*, ptrdiff_t) = gh_multiply_any;

#if defined(__x86_64__)
GH_MULTIPLY(avx2, GH_AVX2, 8, 6)
GH_MULTIPLY(avx512, GH_AVX512, 16, 12)
static void gh_choose_multiply(int lanes) {
    gh_multiply = lanes == 16 ? gh_multiply_avx512 : lanes == 8 ? gh_multiply_avx2 : gh_multiply_any;
    gh_lanes = lanes;
}
#else
static void gh_choose_multiply(int lanes) { (void) lanes; }
#endif

#else
static const int gh_lanes = 4;
static void gh_choose_multiply(int lanes) { (void) lanes; }
static void gh_multiply(const float* x, ptrdiff_t rows, int inner, const float* panels, int columns, float* out,
                        ptrdiff_t out_stride) {
    ptrdiff_t i;
    int j, k, width;
    for (j = 0; j < columns; j += 8, panels += 8 * (ptrdiff_t) inner) {
        int kept = columns - j < 8 ? columns - j : 8, c;
        width = columns - j > 4 ? 8 : 4;
        for (i = 0; i < rows; i++)
            for (c = 0; c < kept; c++) {
                float sum = 0;
                for (k = 0; k < inner; k++) sum += x[i * inner + k] * panels[k * width + c];
                out[i * out_stride + j + c] = sum;
            }
    }
}
#endif

/* The number of columns that panels have room for */
static int gh_padded(int columns) { return (columns + gh_lanes - 1) / gh_lanes * gh_lanes; }

/* Pack a matrix, whose entry (k, j) stands at k row_step + j column_step, into panels */
static void gh_pack(const float* x, ptrdiff_t row_step, ptrdiff_t column_step, int inner, int columns, float* panels) {
    int j, k, c;
    for (j = 0; j < columns; j += 2 * gh_lanes) {
        int width = columns - j > gh_lanes ? 2 * gh_lanes : gh_lanes, kept = columns - j < width ? columns - j : width;
        for (k = 0; k < inner; k++, panels += width) {
            const float* from = x + k * row_step + j * column_step;
            if (column_step == 1)
                memcpy(panels, from, kept * sizeof(float));
            else
                for (c = 0; c < kept; c++) panels[c] = from[c * column_step];
            memset(panels + kept, 0, (width - kept) * sizeof(float));
        }
    }
}

#endif
