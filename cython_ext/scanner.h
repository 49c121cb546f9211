/* Bits and bytes for the scanner: eight bytes at a time, hashing by multiplication, and fetching ahead. */
#ifndef GH_SCANNER_H
#define GH_SCANNER_H

#include <stdint.h>
#include <string.h>
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define GH_LITTLE(x) __builtin_bswap64(x)
#else
#define GH_LITTLE(x) (x)
#endif
#define GH_SALT_A 0x9E3779B97F4A7C15ULL
#define GH_SALT_B 0xD6E8FEB86659FD93ULL
#if defined(_MSC_VER)
#include <intrin.h>
static inline int gh_ctz(uint64_t x) { unsigned long i; _BitScanForward64(&i, x); return (int)i; }
static inline uint64_t gh_fold(uint64_t a, uint64_t b) {
    uint64_t high, low = _umul128(a, b, &high);
    return low ^ high;
}
static inline void gh_prefetch(const void* p) { _mm_prefetch((const char*)p, _MM_HINT_T0); }
#else
static inline int gh_ctz(uint64_t x) { return __builtin_ctzll(x); }
static inline uint64_t gh_fold(uint64_t a, uint64_t b) {
    unsigned __int128 m = (unsigned __int128)a * b;
    return (uint64_t)m ^ (uint64_t)(m >> 64);
}
static inline void gh_prefetch(const void* p) { __builtin_prefetch(p); }
#endif
static inline uint64_t gh_load(const uint8_t* p) { uint64_t x; memcpy(&x, p, 8); return GH_LITTLE(x); }
/* Sets the high bit of the first byte that is below 0x21 or above 0x7F; bits above that one are not exact. */
static inline uint64_t gh_special(uint64_t x) {
    return ((((x) - 0x2121212121212121ULL) & ~(x)) | (x)) & 0x8080808080808080ULL;
}
static inline uint64_t gh_keep(uint64_t x, uint64_t bytes) { return bytes >= 8 ? x : x & ~(~0ULL << (8 * bytes)); }

#endif
