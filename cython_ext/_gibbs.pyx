"""Local Gibbs-sampled contrastive divergence: pairs of a text in, better vectors and covectors out, in place.

The model's conditional is p^(j | i) ~ p_j exp(w_i . v_j). A negative starts at a pair of the text, keeps one side, and
draws the other anew from that conditional, or rather by a step that leaves it invariant:

- candidates: some words drawn from q, and the current one, weighted by exp(psi) p / q; one of them is chosen (Barker's
  step for many proposals). Instead of choosing, the update takes the expectation over the choice: +(1 - s_0) on the
  pair, -s_m on each candidate, where s are the weights, adding up to 1.
- metropolis: candidates are accepted or rejected, one after the other.
- exact: the draw from the conditional itself, over all words.

Words are taken as centres, by turns as terms among contexts and as contexts among terms, so that the side that is drawn
anew is always the other one. Some centres in a row share their candidates: all products are then those of small
matrices, and every pair sees many candidates for the price of a few.

A Gaussian prior pulls the rows of a word towards zero whenever it is a centre.

Where vectors are made of pieces (subwords), they stay in their matrix, and change there, all the same. Only when a term
is a centre, its pieces are looked at: before, its vector moves as far as they have since the last time; after, they
move as far as it has. So a drawn term costs no more than a context.
"""
from libc.math cimport log
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from rows cimport blend, choose_kernels, exps, mix, products
from scanner cimport SALT_A, SALT_B, fold, prefetch

import numpy as np

choose_kernels()

cdef enum:
    TOGETHER = 8        # centres that share candidates
    BLOCK = 64          # rows of a product over all words

cdef enum:
    MOST = 1 << 20      # candidates, steps, or words of a window: sums of their products stay within 31 bits

cdef enum:
    CANDIDATES, METROPOLIS, EXACT

SAMPLERS = {"candidates": CANDIDATES, "metropolis": METROPOLIS, "exact": EXACT}

cdef float LARGEST = 14     # psi is cut off here before exp


cdef struct Scratch:
    uint64_t state      # of the random numbers
    float rate
    double loss
    uint64_t pairs
    uint64_t next_coin
    uint32_t* words     # that the next three point to
    uint32_t* pool      # candidates of these centres, and of the next, already on their way to the cache
    uint32_t* next_pool
    uint32_t* near      # the words around a centre
    float** pool_rows
    float** near_rows
    float** own_rows    # of the centres, in their matrix
    float** centres     # copies of them: updates are made from what rows were before
    float** totals      # what will be added to them
    float* values       # that all others point to
    float* chances      # exp(psi) p / q of candidates, one row per centre; then their parts in its update
    float* pool_steps   # the same for the updates of candidates, one row per candidate
    float* psi          # of the words around a centre
    float* shares
    float* steps
    float* rates        # of the centres
    float* all          # for the exact conditional
    float** pieces      # of a term
    float* ones         # as many as a term may have pieces
    float* move         # of a term, or of its pieces


cdef inline uint64_t draw(uint64_t* state) noexcept nogil:
    state[0] += SALT_A
    return fold(state[0], state[0] ^ SALT_B)


cdef inline uint32_t below(uint64_t* state, uint32_t n) noexcept nogil:
    """A number from 0 to n - 1."""
    return <uint32_t> (((draw(state) >> 32) * n) >> 32)


cdef inline double uniform(uint64_t* state) noexcept nogil:
    return (draw(state) >> 11) * (1.0 / 9007199254740992.0)


cdef inline void fetch(const float* row, int d) noexcept nogil:
    cdef int k
    for k in range(0, d, 16):       # floats in a line of cache
        prefetch(row + k)


cdef inline float careful(float rate, float squares) noexcept nogil:
    """A rate that stays below the step of Newton's method, however large it is itself, and long vectors have grown.

    An update changes psi by rate times `squares`, and the loss has a curvature of at most 1/4 in psi.
    """
    return rate / (1 + rate * squares / 4)


def alias_table(weights):
    """Walker's table: word k is drawn in proportion to weights[k], by two random numbers and two look-ups."""
    p = np.asarray(weights, dtype=np.float64)
    p = p * (len(p) / p.sum())
    limits, others = np.full(len(p), 0xFFFFFFFF, dtype=np.uint32), np.arange(len(p), dtype=np.uint32)
    cdef double[::1] share = p
    cdef uint32_t[::1] limit = limits
    cdef uint32_t[::1] other = others
    cdef uint32_t[::1] poor = np.flatnonzero(p < 1).astype(np.uint32)
    cdef uint32_t[::1] rich = np.flatnonzero(p >= 1).astype(np.uint32)
    cdef Py_ssize_t poorer = poor.shape[0] - 1, richer = rich.shape[0] - 1
    cdef uint32_t k
    while poorer >= 0 and richer >= 0:
        k = poor[poorer]
        limit[k], other[k] = <uint32_t> (share[k] * 4294967295.0), rich[richer]
        share[rich[richer]] -= 1 - share[k]
        poorer -= 1
        if share[rich[richer]] < 1:     # what it has given away has made it poor; there is room where k was
            poorer += 1
            poor[poorer] = rich[richer]
            richer -= 1
    return limits, others


cdef class Gibbs:
    """Covectors and vectors, and how to learn from pairs.

    Parameters
    ----------
    covectors, vectors : float32 arrays, (V, d)
        Changed in place; threads may train them together, without locks (Hogwild).
    unigram : array of float64, (V,)
        p, with which words occur in the text as it comes, that is, after subsampling.
    proposal : array of float64, (V,)
        q, from which candidates are drawn.
    candidates : int
        How many are drawn for each centre.
    sampler : {"candidates", "metropolis", "exact"}
    steps : int
        Of the chain that leads from a pair to its negative.
    window : int
    shrink : bool
        Whether the window of each centre is drawn from 1 to `window`.
    lock : array of float32, (V,), optional
        Factors for the updates of vectors.
    prior : array of float32, (V,), optional
        Weight of half of a row's squared length, beside the pairs of one visit of the word as a centre on its side.
    composition : Composition, optional
        Of which pieces vectors are made.
    parameters : array of float32, (rows of the composition, d)
        Those pieces, changed in place; `vectors` are made of them here, and again by `settle_all`.
    """
    cdef float[:, ::1] w, v
    cdef const float[::1] p         # unigram
    cdef const float[::1] boost     # p / q
    cdef const float[::1] lock
    cdef const float[::1] prior
    cdef const uint32_t[::1] limits, others
    cdef float[:, ::1] z, settled       # pieces, and the vectors they have been told of
    cdef const int64_t[::1] offsets
    cdef const uint32_t[::1] pieces
    cdef const float[::1] weights
    cdef int most_pieces
    cdef uint32_t size
    cdef int d, window, candidates, pool, sampler, steps
    cdef bint shrink, locked, has_prior, together, composed

    def __init__(self, float[:, ::1] covectors not None, float[:, ::1] vectors not None, unigram, proposal, *,
                 int candidates=5, str sampler="candidates", int steps=1, int window=5, bint shrink=True, lock=None,
                 prior=None, composition=None, float[:, ::1] parameters=None):
        if sampler not in SAMPLERS:
            raise ValueError(f"sampler must be one of {', '.join(SAMPLERS)}, got {sampler!r}")
        for name, number in (("candidates", candidates), ("steps", steps), ("window", window)):
            if not 1 <= number <= MOST:
                raise ValueError(f"{name} must be from 1 to {MOST}, got {number}")
        self.w, self.v = covectors, vectors
        self.size, self.d = <uint32_t> vectors.shape[0], <int> vectors.shape[1]
        if covectors.shape[0] != self.size or covectors.shape[1] != self.d or len(unigram) != self.size:
            raise ValueError("covectors, vectors and unigram must be of the same words and dimensions")
        self.candidates, self.steps, self.window, self.shrink = candidates, steps, window, shrink
        self.sampler, self.pool = SAMPLERS[sampler], candidates * TOGETHER
        self.together = self.sampler == CANDIDATES and steps == 1
        unigram, proposal = unigram / unigram.sum(), proposal / proposal.sum()
        self.p = unigram.astype(np.float32)
        self.boost = np.divide(unigram, proposal, out=np.zeros(self.size), where=proposal > 0).astype(np.float32)
        self.limits, self.others = alias_table(proposal)
        self.locked = lock is not None
        if self.locked:
            self.lock = np.ascontiguousarray(lock, dtype=np.float32)
        self.has_prior = prior is not None
        if self.has_prior:
            self.prior = np.ascontiguousarray(prior, dtype=np.float32)
        self.composed, self.most_pieces = composition is not None, 0
        if self.composed:
            if (len(composition.offsets), parameters.shape[0], parameters.shape[1]) != (
                    self.size + 1, composition.rows, self.d):
                raise ValueError("vectors, composition and parameters must be of the same words and dimensions")
            self.z, self.settled = parameters, np.empty_like(vectors)
            self.offsets, self.pieces, self.weights = composition.offsets, composition.pieces, composition.weights
            self.most_pieces = np.diff(composition.offsets).max(initial=0)
            self.compose_all()

    # ------------------------------------------------------------------ training

    def train(self, const uint32_t[::1] ids not None, Py_ssize_t start, Py_ssize_t stop, float rate, uint64_t seed):
        """Learn from the words ids[start:stop] and those around them.

        The id V stands for nothing; there must be `window` of it, or of words, on both sides. Returns the number of
        pairs and the sum of their losses: -ln s_0, the chance of the pair among candidates; for other samplers, and
        with more steps, the psi of the negative minus that of the pair.
        """
        if start < self.window or stop > ids.shape[0] - self.window:
            raise IndexError(f"words {start} to {stop} of {ids.shape[0]} have no {self.window} others on both sides")
        cdef Scratch x
        cdef Py_ssize_t place = start
        self.prepare(&x, rate, seed)
        with nogil:
            if self.together:
                self.draw_pool(&x)
                while place < stop:
                    place = self.learn_together(&x, &ids[0], place, stop)
            else:
                while place < stop:
                    self.learn_chains(&x, &ids[0], place)
                    place += 1
        discard(&x)
        return x.pairs, x.loss

    cdef int prepare(self, Scratch* x, float rate, uint64_t seed) except -1:
        cdef int most = 2 * self.window + 4, k
        x.state = fold(seed ^ SALT_A, SALT_B)
        x.rate, x.loss, x.pairs = rate, 0, 0
        x.words = <uint32_t*> malloc((2 * self.pool + most) * sizeof(uint32_t))
        x.pool_rows = <float**> malloc((self.pool + most + 3 * TOGETHER) * sizeof(float*))
        x.values = <float*> malloc((2 * TOGETHER * (self.d + self.pool) + 3 * most + TOGETHER) * sizeof(float))
        x.all = <float*> malloc(self.size * sizeof(float)) if self.sampler == EXACT else NULL
        x.pieces = <float**> malloc((self.most_pieces + 1) * sizeof(float*))
        x.ones = <float*> malloc((self.most_pieces + self.d) * sizeof(float))
        if not (x.words and x.pool_rows and x.values and x.pieces and x.ones) or (self.sampler == EXACT and not x.all):
            discard(x)
            raise MemoryError
        x.move = x.ones + self.most_pieces
        for k in range(self.most_pieces):
            x.ones[k] = 1
        x.pool, x.next_pool, x.near = x.words, x.words + self.pool, x.words + 2 * self.pool
        x.near_rows = x.pool_rows + self.pool
        x.own_rows = x.near_rows + most
        x.centres = x.own_rows + TOGETHER
        x.totals = x.centres + TOGETHER
        for k in range(TOGETHER):
            x.centres[k] = x.values + k * self.d
            x.totals[k] = x.values + (TOGETHER + k) * self.d
        x.chances = x.values + 2 * TOGETHER * self.d
        x.pool_steps = x.chances + TOGETHER * self.pool
        x.psi = x.pool_steps + TOGETHER * self.pool
        x.shares = x.psi + most
        x.steps = x.shares + most
        x.rates = x.steps + most
        return 0

    # ------------------------------------------------------------------ centres that share candidates

    cdef inline float* matrix(self, bint terms) noexcept nogil:
        return &self.v[0, 0] if terms else &self.w[0, 0]

    cdef inline uint32_t candidate(self, uint64_t* state) noexcept nogil:
        cdef uint32_t k = below(state, self.size)
        return k if <uint32_t> draw(state) <= self.limits[k] else self.others[k]

    cdef void draw_pool(self, Scratch* x) noexcept nogil:
        """Draw the next candidates, and on which side, and have their rows fetched."""
        cdef int k
        cdef float* rows
        x.next_coin = draw(&x.state)
        rows = self.matrix(x.next_coin >> 63)
        for k in range(self.pool):
            x.next_pool[k] = self.candidate(&x.state)
            fetch(rows + <Py_ssize_t> x.next_pool[k] * self.d, self.d)

    cdef Py_ssize_t learn_together(self, Scratch* x, const uint32_t* ids, Py_ssize_t place,
                                   Py_ssize_t stop) noexcept nogil:
        """Take the next centres and learn from their windows; returns where it has come to."""
        cdef Py_ssize_t[TOGETHER] places
        cdef int centres = 0, d = self.d, b, k
        cdef Py_ssize_t ahead
        cdef bint terms         # the centres are contexts, and terms are drawn anew
        cdef float* own
        cdef float* others
        cdef float step
        while place < stop and centres < TOGETHER:
            if ids[place] != self.size:
                places[centres] = place
                centres += 1
            ahead = place + self.window + TOGETHER
            if ahead < stop and ids[ahead] != self.size:
                fetch(self.matrix(True) + <Py_ssize_t> ids[ahead] * d, d)
                fetch(self.matrix(False) + <Py_ssize_t> ids[ahead] * d, d)
            place += 1
        if centres == 0:
            return place
        terms = x.next_coin >> 63
        x.pool, x.next_pool = x.next_pool, x.pool
        self.draw_pool(x)
        own, others = self.matrix(not terms), self.matrix(terms)
        for k in range(self.pool):
            x.pool_rows[k] = others + <Py_ssize_t> x.pool[k] * d
        for b in range(centres):
            if self.composed and not terms:
                self.refresh(x, ids[places[b]])
            x.own_rows[b] = own + <Py_ssize_t> ids[places[b]] * d
            memcpy(x.centres[b], x.own_rows[b], d * sizeof(float))
            memset(x.totals[b], 0, d * sizeof(float))
        products(x.centres, centres, x.pool_rows, self.pool, d, x.chances, self.pool)
        exps(x.chances, centres * self.pool, LARGEST)
        for b in range(centres):
            self.learn_window(x, ids, places[b], b, centres, terms, others)
        mix(x.totals, centres, x.pool_rows, self.pool, x.chances, self.pool, d)
        mix(x.pool_rows, self.pool, x.centres, centres, x.pool_steps, centres, d)
        for b in range(centres):
            step = x.rates[b]
            if self.locked and not terms:
                step *= self.lock[ids[places[b]]]
            mix(x.own_rows + b, 1, x.totals + b, 1, &step, 1, d)
            if self.has_prior:
                self.pull(x.own_rows[b], ids[places[b]], x.rates[b], not terms)
        if self.composed and not terms:
            for b in range(centres):
                self.settle(x, ids[places[b]])
        return place

    cdef inline void pull(self, float* row, uint32_t word, float rate, bint is_vector) noexcept nogil:
        """Move a row to the minimum of the prior plus the squared distance from where it was, over twice the rate."""
        cdef float weight = rate * self.prior[word]
        cdef int k
        if self.locked and is_vector:
            weight *= self.lock[word]
        for k in range(self.d):
            row[k] /= 1 + weight

    cdef void learn_window(self, Scratch* x, const uint32_t* ids, Py_ssize_t place, int b, int centres, bint terms,
                           float* others) noexcept nogil:
        """The pairs of one centre, number b of some: words around it are updated, the rest is noted for later."""
        cdef int reach = self.window, n = 0, d = self.d, k
        cdef Py_ssize_t near
        cdef float* chances = x.chances + b * self.pool
        cdef float z = 0, inverse = 0, rest, rate, length
        cdef double product = 1
        if self.shrink:
            reach = 1 + below(&x.state, self.window)
        for near in range(place - reach, place + reach + 1):
            if ids[near] != self.size and near != place:
                x.near[n] = ids[near]
                x.near_rows[n] = others + <Py_ssize_t> ids[near] * d
                n += 1
        products(x.centres + b, 1, x.near_rows, n, d, x.psi, n)
        exps(x.psi, n, LARGEST)
        products(x.centres + b, 1, x.centres + b, 1, d, &length, 1)
        rate = careful(x.rate, n * length)
        x.rates[b] = rate
        for k in range(self.pool):
            chances[k] *= self.boost[x.pool[k]]
            z += chances[k]
        for k in range(n):
            x.psi[k] *= self.boost[x.near[k]]
            rest = 1 / (z + x.psi[k])
            inverse += rest
            product *= x.psi[k] * rest
            x.shares[k] = z * rest                              # 1 - s_0
            x.steps[k] = rate * x.shares[k]
            if self.locked and terms:
                x.steps[k] *= self.lock[x.near[k]]
        if n:
            x.loss -= log(max(product, <double> 1e-300))
            x.pairs += n
        blend(x.centres[b], x.near_rows, x.shares, x.steps, n, d, x.totals[b])
        for k in range(self.pool):
            chances[k] *= -inverse                              # -s_m, for all pairs of the centre
            x.pool_steps[k * centres + b] = rate * chances[k]
            if self.locked and terms:
                x.pool_steps[k * centres + b] *= self.lock[x.pool[k]]

    # ------------------------------------------------------------------ a chain for every pair

    cdef void learn_chains(self, Scratch* x, const uint32_t* ids, Py_ssize_t place) noexcept nogil:
        """Each pair of a centre, as term, and the negative at which its chain ends."""
        cdef int reach = self.window
        cdef Py_ssize_t near
        cdef uint32_t context, term
        if ids[place] == self.size:
            return
        if self.shrink:
            reach = 1 + below(&x.state, self.window)
        if self.composed:
            self.refresh(x, ids[place])
        for near in range(place - reach, place + reach + 1):
            if ids[near] == self.size or near == place:
                continue
            context, term = ids[near], ids[place]
            self.run_chain(x, &context, &term, self.steps)
            x.loss += self.psi(context, term) - self.psi(ids[near], ids[place])
            x.pairs += 1
            if context != ids[near] or term != ids[place]:
                self.contrast(x, ids[near], ids[place], context, term)
        if self.has_prior:  # on both sides, where candidates that are shared have every other visit on one of them
            term = ids[place]
            self.pull(self.matrix(False) + <Py_ssize_t> term * self.d, term, x.rate / 2, False)
            self.pull(self.matrix(True) + <Py_ssize_t> term * self.d, term, x.rate / 2, True)
        if self.composed:
            self.settle(x, ids[place])

    cdef inline float psi(self, uint32_t context, uint32_t term) noexcept nogil:
        cdef float* left = self.matrix(False) + <Py_ssize_t> context * self.d
        cdef float* right = self.matrix(True) + <Py_ssize_t> term * self.d
        cdef float result
        products(&left, 1, &right, 1, self.d, &result, 1)
        return result

    cdef void contrast(self, Scratch* x, uint32_t context, uint32_t term, uint32_t i, uint32_t j) noexcept nogil:
        """Bring a pair closer, its negative (i, j) apart."""
        cdef int d = self.d, k
        cdef float* rows[4]
        cdef float[4] steps
        cdef float[4] lengths
        rows[0] = self.matrix(False) + <Py_ssize_t> context * d
        rows[1] = self.matrix(True) + <Py_ssize_t> term * d
        rows[2] = self.matrix(False) + <Py_ssize_t> i * d
        rows[3] = self.matrix(True) + <Py_ssize_t> j * d
        for k in range(4):
            memcpy(x.centres[k], rows[k], d * sizeof(float))
            products(rows + k, 1, rows + k, 1, d, lengths + k, 1)
        for k in range(4):
            steps[k] = careful(x.rate, lengths[k ^ 1]) * (1 if k < 2 else -1)
        if self.locked:
            steps[1] *= self.lock[term]
            steps[3] *= self.lock[j]
        for k in range(4):
            mix(rows + k, 1, x.centres + (k ^ 1), 1, steps + k, 1, d)

    cdef void run_chain(self, Scratch* x, uint32_t* context, uint32_t* term, int steps) noexcept nogil:
        cdef int _k
        for _k in range(steps):
            if draw(&x.state) >> 63:
                term[0] = self.redraw(x, self.matrix(False) + <Py_ssize_t> context[0] * self.d, True, term[0])
            else:
                context[0] = self.redraw(x, self.matrix(True) + <Py_ssize_t> term[0] * self.d, False, context[0])

    cdef uint32_t redraw(self, Scratch* x, float* fixed, bint terms, uint32_t current) noexcept nogil:
        """One step of the sampler: the word opposite to a fixed row is drawn anew."""
        cdef float* others = self.matrix(terms)
        cdef float* rows[BLOCK]
        cdef uint32_t chosen = current, first
        cdef int k, n, _k
        cdef double total = 0
        cdef float before, after
        if self.sampler == EXACT:
            for first in range(0, self.size, 64):       # BLOCK
                n = <int> min(<uint32_t> BLOCK, self.size - first)
                for k in range(n):
                    rows[k] = others + <Py_ssize_t> (first + k) * self.d
                products(&fixed, 1, rows, n, self.d, x.all + first, n)
            exps(x.all, self.size, LARGEST)
            for first in range(self.size):
                x.all[first] *= self.p[first]
                total += x.all[first]
            total *= uniform(&x.state)
            for first in range(self.size):
                total -= x.all[first]
                if total < 0:
                    return first
            return current
        rows[0] = others + <Py_ssize_t> current * self.d
        products(&fixed, 1, rows, 1, self.d, &before, 1)
        exps(&before, 1, LARGEST)
        before *= self.boost[current]
        total = before
        for _k in range(self.candidates):
            first = self.candidate(&x.state)
            rows[0] = others + <Py_ssize_t> first * self.d
            products(&fixed, 1, rows, 1, self.d, &after, 1)
            exps(&after, 1, LARGEST)
            after *= self.boost[first]
            if self.sampler == METROPOLIS:
                if uniform(&x.state) * before < after:
                    chosen, before = first, after
            else:
                total += after
                if uniform(&x.state) * total < after:   # each is chosen with its share, by the time all have come
                    chosen = first
        return chosen

    # ------------------------------------------------------------------ vectors made of pieces

    cdef int find_pieces(self, Scratch* x, uint32_t term) noexcept nogil:
        cdef Py_ssize_t start = self.offsets[term]
        cdef int n = <int> (self.offsets[term + 1] - start), k
        for k in range(n):
            x.pieces[k] = &self.z[self.pieces[start + k], 0]
        return n

    cdef void compose(self, Scratch* x, uint32_t term) noexcept nogil:
        """What the pieces of a vector make, into x.move."""
        cdef int n = self.find_pieces(x, term)
        memset(x.move, 0, self.d * sizeof(float))
        mix(&x.move, 1, x.pieces, n, &self.weights[self.offsets[term]], n, self.d)

    cdef void refresh(self, Scratch* x, uint32_t term) noexcept nogil:
        """Move a vector as far as its pieces have moved it since it was last settled."""
        cdef float* vector = &self.v[term, 0]
        cdef float* settled = &self.settled[term, 0]
        cdef int k
        self.compose(x, term)
        for k in range(self.d):
            vector[k] += x.move[k] - settled[k]
            settled[k] = x.move[k]

    cdef void settle(self, Scratch* x, uint32_t term) noexcept nogil:
        """Move the pieces of a vector as far as it has moved: as their weights add up to 1, they make it up again."""
        cdef float* vector = &self.v[term, 0]
        cdef float* settled = &self.settled[term, 0]
        cdef int n = self.find_pieces(x, term), k
        for k in range(self.d):
            x.move[k] = vector[k] - settled[k]
            settled[k] = vector[k]
        mix(x.pieces, n, &x.move, 1, x.ones, 1, self.d)

    def settle_all(self):
        """Have all pieces follow their vectors, and then all vectors their pieces; not while others train."""
        cdef Scratch x
        cdef uint32_t term
        if not self.composed:
            return
        self.prepare(&x, 0, 0)
        with nogil:
            for term in range(self.size):
                self.refresh(&x, term)
                self.settle(&x, term)
        discard(&x)
        self.compose_all()

    cdef int compose_all(self) except -1:
        cdef Scratch x
        cdef uint32_t term
        self.prepare(&x, 0, 0)
        with nogil:
            for term in range(self.size):
                self.compose(&x, term)
                memcpy(&self.settled[term, 0], x.move, self.d * sizeof(float))
                memcpy(&self.v[term, 0], x.move, self.d * sizeof(float))
        discard(&x)
        return 0

    # ------------------------------------------------------------------ to look at

    def run_chains(self, contexts, terms, int steps, uint64_t seed):
        """Where chains end that start at the given pairs; nothing is learnt."""
        ends = np.array(contexts, dtype=np.uint32), np.array(terms, dtype=np.uint32)
        cdef uint32_t[::1] context = ends[0]
        cdef uint32_t[::1] term = ends[1]
        cdef Py_ssize_t k
        cdef Scratch x
        self.prepare(&x, 0, seed)
        with nogil:
            for k in range(context.shape[0]):
                self.run_chain(&x, &context[k], &term[k], steps)
        discard(&x)
        return ends


cdef void discard(Scratch* x) noexcept nogil:
    free(x.words)
    free(x.pool_rows)
    free(x.values)
    free(x.all)
    free(x.pieces)
    free(x.ones)
