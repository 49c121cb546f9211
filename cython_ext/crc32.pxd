"""CRC-32, as zlib has it, without Python's lock. A module that uses it calls `prepare_crc32` once."""
from libc.stdint cimport uint8_t, uint32_t


cdef extern from "crc32.h":
    void prepare_crc32 "gh_crc32_prepare"()
    uint32_t crc32 "gh_crc32"(const uint8_t* data, size_t n) noexcept nogil
