/* GloVe's training by stochastic AdaGrad, for one thread: one pair after the other, in a given order. As in the program
   of its authors the gradient times the rate is what is squared and summed, and the sums start at 1. */
#include <math.h>
#include <stdint.h>

/* Rows of w and v hold `size` components and then a bias; the sums of squares have the same shape. */
void adagrad_pass(
    const int64_t *order, int64_t pairs, const int32_t *contexts, const int32_t *terms, const float *counts, float *w,
    float *v, float *w_squares, float *v_squares, int size, float rate, float x_max, float alpha)
{
    for (int64_t k = 0; k < pairs; k++) {
        int64_t pair = order[k], i = contexts[pair] * (int64_t)(size + 1), j = terms[pair] * (int64_t)(size + 1);
        float *a = w + i, *b = v + j, *a2 = w_squares + i, *b2 = v_squares + j, count = counts[pair];
        float psi = a[size] + b[size];
        for (int c = 0; c < size; c++) psi += a[c] * b[c];
        float slope = rate * (psi - logf(count)) * (count > x_max ? 1 : powf(count / x_max, alpha));
        for (int c = 0; c < size; c++) {
            float to_a = slope * b[c], to_b = slope * a[c];
            a[c] -= to_a / sqrtf(a2[c]);
            b[c] -= to_b / sqrtf(b2[c]);
            a2[c] += to_a * to_a;
            b2[c] += to_b * to_b;
        }
        a[size] -= slope / sqrtf(a2[size]);
        b[size] -= slope / sqrtf(b2[size]);
        a2[size] += slope * slope;
        b2[size] += slope * slope;
    }
}
