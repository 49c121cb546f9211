# Products of a few rows of floats with a few others: the inner loops of training from the stream.
cdef extern from "rows.h":
    void choose_kernels "gh_choose_kernels"()
    void products "gh_products"(float** left, int lefts, float** right, int rights, int d, float* out,
                                int stride) noexcept nogil
    void mix "gh_mix"(float** out, int outs, float** rows, int n, const float* weights, int stride,
                      int d) noexcept nogil
    void blend "gh_blend"(const float* centre, float** rows, const float* to_sum, const float* to_row, int n, int d,
                          float* sum) noexcept nogil
    void exps "gh_exps"(float* x, int n, float largest) noexcept nogil
