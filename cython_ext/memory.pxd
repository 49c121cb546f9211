# Large zeroed memory that is read in random places.
cdef extern from "huge_pages.h":
    void* zeroed "gh_zeroed"(size_t bytes) noexcept nogil
