/* Vectors of four, eight and sixteen floats, for code that is compiled once for each width of registers. */
#ifndef GH_LANES_H
#define GH_LANES_H

#if defined(__GNUC__)
typedef float gh_lanes4 __attribute__((vector_size(16)));
typedef float gh_lanes8 __attribute__((vector_size(32)));
typedef float gh_lanes16 __attribute__((vector_size(64)));

#define GH_AVX512 __attribute__((target("avx512f,fma,prefer-vector-width=512")))
#endif

#endif
