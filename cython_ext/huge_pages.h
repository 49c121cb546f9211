/* Large zeroed memory that is read in random places, on huge pages where the system has them. */
#ifndef GH_HUGE_PAGES_H
#define GH_HUGE_PAGES_H

#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif
static inline void* gh_zeroed(size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    void* p;
    if (bytes >= (size_t)1 << 22) {
        if (posix_memalign(&p, (size_t)1 << 21, bytes)) return NULL;
        madvise(p, bytes, MADV_HUGEPAGE);  /* if the system refuses, all works the same, only slower */
        return memset(p, 0, bytes);
    }
#endif
    return calloc(bytes, 1);
}

#endif
