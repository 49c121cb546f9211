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

/* What each byte is to the scanner: 0 part of a token, 1 the end of one, 2 the end of a sentence, 3 the first byte of
   what may be one of Unicode's white spaces. */
static const uint8_t gh_text[256] = {
    [0x09] = 1, [0x0A] = 2, [0x0B] = 1, [0x0C] = 1, [0x0D] = 1, [0x1C] = 1, [0x1D] = 1, [0x1E] = 1, [0x1F] = 1,
    [0x20] = 1, [0xC2] = 3, [0xE1] = 3, [0xE2] = 3, [0xE3] = 3,
};
static const uint8_t gh_listed[256] = {[0xFE] = 2, [0xFF] = 1};

#endif
