/* Vectors of eight floats, which the compiler maps to the registers that the machine has. GCC and Clang have them;
   other compilers get plain loops instead. */
#ifndef GH_EIGHT_FLOATS_H
#define GH_EIGHT_FLOATS_H

#include <stdint.h>
#include <string.h>
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wpsabi"  /* vectors are passed to inlined functions only */
#define GH_INLINE static inline __attribute__((always_inline))
typedef float gh_8 __attribute__((vector_size(32)));
GH_INLINE gh_8 gh_load8(const float* p) { gh_8 x; memcpy(&x, p, 32); return x; }
GH_INLINE void gh_store8(float* p, gh_8 x) { memcpy(p, &x, 32); }
GH_INLINE float gh_sum8(gh_8 x) { return ((x[0] + x[4]) + (x[1] + x[5])) + ((x[2] + x[6]) + (x[3] + x[7])); }
#else
#define GH_INLINE static __inline
#endif

/* x = exp(x), cut off below -80 and above `largest`; to 1e-6, without branches, so that it becomes vector code */
GH_INLINE void gh_exps_body(float* x, int n, float largest) {
    int k;
    for (k = 0; k < n; k++) {
        float t = x[k] < largest ? x[k] : largest, shifted, f, y, scale;
        int32_t bits;
        t = (t > -80.0f ? t : -80.0f) * 1.44269504f;
        shifted = t + 12582912.0f;  /* 1.5 * 2^23: rounds t to an integer, which stands in the low bits */
        memcpy(&bits, &shifted, 4);
        f = t - (shifted - 12582912.0f);
        y = 1.0f + f * (0.693147181f + f * (0.240226507f + f * (0.0555041087f + f * (0.00961812911f +
            f * 0.00133335581f))));
        bits = (int32_t) ((uint32_t) (bits + 127) << 23);
        memcpy(&scale, &bits, 4);
        x[k] = y * scale;
    }
}

#endif
