/* Vectors of four, eight and sixteen floats, for code that is compiled once for each width of registers. */
#ifndef GH_LANES_H
#define GH_LANES_H

#if defined(__GNUC__)
typedef float gh_lanes4 __attribute__((vector_size(16)));
typedef float gh_lanes8 __attribute__((vector_size(32)));
typedef float gh_lanes16 __attribute__((vector_size(64)));

#define GH_AVX2 __attribute__((target("avx2,fma")))
#define GH_AVX512 __attribute__((target("avx512f,fma,prefer-vector-width=512")))
#endif

/* The width of registers of this machine for which there is code, but no more than `most` floats */
static int gh_widest(int most) {
#if defined(__GNUC__) && defined(__x86_64__)
    __builtin_cpu_init();
    if (most >= 16 && __builtin_cpu_supports("avx512f")) return 16;
    if (most >= 8 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return 8;
#endif
    (void) most;
    return 4;
}

#endif
