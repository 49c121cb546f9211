/* The CRC-32 of zlib, gzip and PNG, eight bytes at a time. Python's zlib can only be called with Python's lock held. */
#ifndef GH_CRC32_H
#define GH_CRC32_H

#include <stddef.h>
#include <stdint.h>

static uint32_t gh_crc32_table[8][256];

/* To be called once, before the first checksum */
static void gh_crc32_prepare(void) {
    uint32_t byte, crc;
    int bit, table;
    for (byte = 0; byte < 256; byte++) {
        for (crc = byte, bit = 0; bit < 8; bit++) crc = crc & 1 ? 0xEDB88320u ^ crc >> 1 : crc >> 1;
        gh_crc32_table[0][byte] = crc;
    }
    for (table = 1; table < 8; table++)
        for (byte = 0; byte < 256; byte++) {
            crc = gh_crc32_table[table - 1][byte];
            gh_crc32_table[table][byte] = gh_crc32_table[0][crc & 0xFF] ^ crc >> 8;
        }
}

static uint32_t gh_crc32(const uint8_t* data, size_t n) {
    uint32_t crc = 0xFFFFFFFFu;
    for (; n >= 8; n -= 8, data += 8)
        crc = gh_crc32_table[7][data[0] ^ (crc & 0xFF)] ^ gh_crc32_table[6][data[1] ^ (crc >> 8 & 0xFF)] ^
              gh_crc32_table[5][data[2] ^ (crc >> 16 & 0xFF)] ^ gh_crc32_table[4][data[3] ^ crc >> 24] ^
              gh_crc32_table[3][data[4]] ^ gh_crc32_table[2][data[5]] ^ gh_crc32_table[1][data[6]] ^
              gh_crc32_table[0][data[7]];
    for (; n; n--) crc = gh_crc32_table[0][(crc ^ *data++) & 0xFF] ^ crc >> 8;
    return ~crc;
}

#endif
