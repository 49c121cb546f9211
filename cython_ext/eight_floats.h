/* Vectors of eight floats, which the compiler maps to the registers that the machine has. GCC and Clang have them;
   other compilers get plain loops instead. */
#ifndef GH_EIGHT_FLOATS_H
#define GH_EIGHT_FLOATS_H

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

#endif
