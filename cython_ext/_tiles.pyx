"""Reads shards of pairs from the tiles of a store, many at a time without Python's lock.

A store is made of files that anybody may have written: whatever is read from them is checked here before it is used as
a place in memory.
"""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from crc32 cimport crc32, prepare_crc32
from runs cimport get_count

prepare_crc32()

cdef enum:
    RIGHT = -1              # what the functions below return instead of the number of a chunk that is damaged

ctypedef fused Value:
    float
    double


def checksum(const uint8_t[::1] data not None):
    """Return the CRC-32 of some bytes."""
    cdef uint32_t found
    with nogil:
        found = crc32(&data[0] if data.shape[0] else NULL, data.shape[0])
    return found


cdef class TileFiles:
    """The bytes of some files of a store, by their classes of rows."""
    cdef list arrays                    # keeps what is pointed to alive
    cdef const uint8_t** data
    cdef Py_ssize_t* sizes

    def __cinit__(self, uint32_t classes, dict files not None):
        cdef const uint8_t[::1] array
        cdef uint32_t row_class
        self.arrays = list(files.values())
        self.data = <const uint8_t**> calloc(classes, sizeof(uint8_t*))
        self.sizes = <Py_ssize_t*> calloc(classes, sizeof(Py_ssize_t))
        if not (self.data and self.sizes):
            raise MemoryError
        for row_class, array in files.items():
            if row_class >= classes:
                raise IndexError(f"class {row_class} of {classes}")
            self.sizes[row_class] = array.shape[0]
            self.data[row_class] = &array[0] if array.shape[0] else NULL

    def __dealloc__(self):
        free(self.data)
        free(self.sizes)


cdef struct Shard:
    uint32_t i, j


cdef struct Chunk:
    const uint8_t* counts
    const uint8_t* rows
    const uint8_t* columns
    int64_t entries
    uint32_t width          # bytes per count


cdef struct Tile:
    uint32_t row_class, column_class
    uint32_t row_base, column_base      # what a word of the tile adds to its number in the shard
    bint turned             # The shard has its transpose, without the diagonal.


cdef inline uint32_t number_at(const uint8_t* numbers, int64_t k, uint32_t width) noexcept nogil:
    """Return the k-th of some numbers of 2 or 4 bytes, at any address."""
    cdef uint16_t two
    cdef uint32_t four
    if width == 2:
        memcpy(&two, numbers + 2 * k, 2)
        return two
    memcpy(&four, numbers + 4 * k, 4)
    return four


cdef Shard* shards_of(list keys, uint32_t n) except NULL:
    """Return the numbers of shards, which the caller frees."""
    cdef Shard* shards = <Shard*> malloc(sizeof(Shard) * max(len(keys), 1))
    cdef Py_ssize_t k
    if not shards:
        raise MemoryError
    for k in range(len(keys)):
        shards[k].i, shards[k].j = keys[k]
        if shards[k].i >= n or shards[k].j >= n:
            free(shards)
            raise IndexError(f"shard {keys[k]} of {n} x {n}")
    return shards


cdef class ShardReader:
    """Reads shards [i::n, j::n] of the table of a store.

    Parameters
    ----------
    chunks, tile_starts
        The index of the store, whose offsets, entries and bytes per count must be such as a store can have; and for
        each tile, by row and column class, the number of its first chunk, and at the end the number of all.
    classes, size, number_bytes, alignment
        Of rows and columns; the number of words; bytes of each row and column; and of what a chunk's length is a
        multiple.
    mirrored
        Whether the store has only one half of a symmetric table.
    scale
        By which counts are divided.
    """
    cdef const int64_t[:, ::1] chunks
    cdef const int64_t[::1] tile_starts
    cdef uint32_t classes, size, number_bytes, alignment
    cdef bint mirrored
    cdef double scale

    def __init__(self, const int64_t[:, ::1] chunks not None, const int64_t[::1] tile_starts not None, *,
                 uint32_t classes, uint32_t size, uint32_t number_bytes, uint32_t alignment, bint mirrored,
                 double scale):
        if tile_starts.shape[0] != <Py_ssize_t> classes * classes + 1 or tile_starts[classes * classes] != len(chunks):
            raise ValueError(f"{classes} classes have no {tile_starts.shape[0]} starts for {len(chunks)} chunks")
        if number_bytes not in (2, 4) or alignment == 0:
            raise ValueError(f"there are no numbers of {number_bytes} bytes, aligned to {alignment}")
        self.chunks, self.tile_starts, self.classes, self.size = chunks, tile_starts, classes, size
        self.number_bytes, self.alignment, self.mirrored, self.scale = number_bytes, alignment, mirrored, scale

    def count(self, TileFiles files not None, list keys not None, uint32_t n, uint32_t step,
              int64_t[:, ::1] starts not None):
        """Fill `starts` with where each row of each shard starts and, of all bytes that are read, check every one.

        `step` is the greatest common divisor of n and the classes. Returns the number of a chunk whose checksum or
        content is wrong, or -1.
        """
        cdef Py_ssize_t number = len(keys), k
        cdef int64_t damaged = RIGHT
        cdef Shard* shards
        self.refuse_room(starts.shape[0], starts.shape[1], number, n, step)
        shards = shards_of(keys, n)
        with nogil:
            for k in range(number):
                damaged = self.count_shard(files, shards[k], n, step, &starts[k, 0], starts.shape[1] - 1)
                if damaged != RIGHT:
                    break
        free(shards)
        return damaged

    def place(self, TileFiles files not None, list keys not None, uint32_t n, uint32_t step,
              const int64_t[:, ::1] starts not None, int32_t[::1] columns not None, Value[::1] values not None,
              const double[::1] keep=None, const double[::1] row_factors=None, const double[::1] column_factors=None):
        """Fill columns and values of shards, one after the other, after `count` has found their starts.

        A count is multiplied by the product of what `keep` has for its two words, and then by the factors of its row
        and its column in the whole table, if these are given. Returns the number of a chunk that has changed
        meanwhile, or -1.
        """
        cdef Py_ssize_t number = len(keys), height = starts.shape[1] - 1, total = 0, k
        cdef int64_t damaged = RIGHT
        cdef int64_t* places
        cdef Shard* shards
        cdef const double* factors[3]
        self.refuse_room(starts.shape[0], starts.shape[1], number, n, step)
        if (row_factors is None) != (column_factors is None):
            raise ValueError("there must be factors of rows and columns, or none")
        factors[0], factors[1] = self.numbers_of_words(keep), self.numbers_of_words(row_factors)
        factors[2] = self.numbers_of_words(column_factors)
        for k in range(number):
            total += starts[k, height]
        if columns.shape[0] != total or values.shape[0] != total:
            raise ValueError(f"{columns.shape[0]} columns and {values.shape[0]} values of {total} pairs")
        if total == 0:
            return RIGHT
        shards, total = shards_of(keys, n), 0
        places = <int64_t*> malloc(sizeof(int64_t) * (height + 1))
        if not places:
            free(shards)
            raise MemoryError
        with nogil:
            for k in range(number):
                if starts[k, height] == 0:
                    continue
                memcpy(places, &starts[k, 0], sizeof(int64_t) * (height + 1))
                damaged = self.place_shard(files, shards[k], n, step, places, height, &columns[total], &values[total],
                                           factors)
                if damaged != RIGHT:
                    break
                total += starts[k, height]
        free(places)
        free(shards)
        return damaged

    cdef int refuse_room(self, Py_ssize_t tables, Py_ssize_t width, Py_ssize_t number, uint32_t n,
                         uint32_t step) except -1:
        """Refuse arrays that are not of so many shards."""
        if n == 0 or step == 0 or n % step or self.classes % step:
            raise ValueError(f"{step} divides {n} or {self.classes} with a remainder")
        if tables != number or width != (self.size + <Py_ssize_t> n - 1) // n + 1:
            raise ValueError(f"{tables} x {width} starts are not those of {number} shards of {n} x {n}")
        return 0

    cdef const double* numbers_of_words(self, const double[::1] numbers) except? NULL:
        """Return where one number per word begins, or NULL for None."""
        if numbers is None:
            return NULL
        if numbers.shape[0] != self.size:
            raise ValueError(f"{self.size} words have no {numbers.shape[0]} factors")
        return &numbers[0]

    cdef bint take_chunk(self, TileFiles files, uint32_t row_class, int64_t number, Chunk* chunk) noexcept nogil:
        """Find the parts of a chunk; returns False if it is not within its file."""
        cdef int64_t offset = self.chunks[number, 2], entries = self.chunks[number, 3]
        cdef int64_t width = self.chunks[number, 4], length = self.whole_length(number)
        if offset < 0 or entries < 0 or length < 0 or offset + length > files.sizes[row_class]:
            return False
        chunk.entries, chunk.width = entries, <uint32_t> width
        chunk.counts = files.data[row_class] + offset
        chunk.rows = chunk.counts + entries * width
        chunk.columns = chunk.rows + entries * self.number_bytes
        return True

    cdef int64_t whole_length(self, int64_t number) noexcept nogil:
        """Return the bytes of a chunk, with those that fill it up."""
        cdef int64_t length = self.chunks[number, 3] * (self.chunks[number, 4] + 2 * <int64_t> self.number_bytes)
        return (length + self.alignment - 1) // self.alignment * self.alignment

    cdef uint32_t number_of_tiles(self, uint32_t step) noexcept nogil:
        """Return how many tiles a shard is read from."""
        return (1 + self.mirrored) * (self.classes // step) * (self.classes // step)

    cdef Tile tile_of(self, Shard shard, uint32_t n, uint32_t step, uint32_t k) noexcept nogil:
        """Return the k-th tile of a shard: those below the diagonal of a half that is stored come first."""
        cdef uint32_t along = self.classes // step
        cdef bint turned = self.mirrored and k < along * along
        cdef uint32_t row_class = (shard.j if turned else shard.i) % step + k // along % along * step
        cdef uint32_t column_class = (shard.i if turned else shard.j) % step + k % along * step
        return Tile(row_class, column_class, row_class // n, column_class // n, turned)

    cdef int64_t count_shard(self, TileFiles files, Shard shard, uint32_t n, uint32_t step, int64_t* starts,
                             Py_ssize_t height) noexcept nogil:
        """Check all tiles of a shard, and count the entries of its rows."""
        cdef int64_t damaged
        cdef Py_ssize_t k
        memset(starts, 0, sizeof(int64_t) * (height + 1))
        for k in range(self.number_of_tiles(step)):
            damaged = self.count_tile(files, self.tile_of(shard, n, step, k), shard, n, step, starts + 1)
            if damaged != RIGHT:
                return damaged
        for k in range(height):
            starts[k + 1] += starts[k]
        return RIGHT

    cdef int64_t place_shard(self, TileFiles files, Shard shard, uint32_t n, uint32_t step, int64_t* places,
                             Py_ssize_t height, int32_t* columns, Value* values,
                             const double** factors) noexcept nogil:
        """Write the entries of a shard."""
        cdef int64_t damaged
        cdef Py_ssize_t k
        for k in range(self.number_of_tiles(step)):
            damaged = self.place_tile(files, self.tile_of(shard, n, step, k), shard, n, step, places, height, columns,
                                      values, factors)
            if damaged != RIGHT:
                return damaged
        return RIGHT

    cdef int64_t count_tile(self, TileFiles files, Tile tile, Shard shard, uint32_t n, uint32_t step,
                            int64_t* lengths) noexcept nogil:
        """Check the chunks of a tile: every number is that of a word, entries ascend, and no count is zero."""
        cdef int64_t key = <int64_t> tile.row_class * self.classes + tile.column_class, number, k
        cdef uint64_t least = 0, i, j, place
        cdef uint32_t row, column, ratio = self.classes // n
        cdef uint32_t rows = shard.j if tile.turned else shard.i, columns = shard.i if tile.turned else shard.j
        cdef Chunk chunk
        for number in range(self.tile_starts[key], self.tile_starts[key + 1]):
            if (not self.take_chunk(files, tile.row_class, number, &chunk)
                    or crc32(chunk.counts, self.whole_length(number)) != <uint64_t> self.chunks[number, 5]):
                return number
            for k in range(chunk.entries):
                row = number_at(chunk.rows, k, self.number_bytes)
                column = number_at(chunk.columns, k, self.number_bytes)
                i = <uint64_t> row * self.classes + tile.row_class
                j = <uint64_t> column * self.classes + tile.column_class
                place = <uint64_t> row << 32 | column
                if (place < least or i >= self.size or j >= self.size or (self.mirrored and i > j)
                        or get_count(chunk.counts, <uint32_t> k, chunk.width) == 0):
                    return number
                least = place + 1
                if tile.turned and i == j:
                    continue
                if n == step:
                    lengths[column * ratio + tile.column_base if tile.turned else row * ratio + tile.row_base] += 1
                elif <uint32_t> i % n == rows and <uint32_t> j % n == columns:
                    lengths[(<uint32_t> j if tile.turned else <uint32_t> i) // n] += 1
        return RIGHT

    cdef int64_t place_tile(self, TileFiles files, Tile tile, Shard shard, uint32_t n, uint32_t step, int64_t* places,
                            Py_ssize_t height, int32_t* out_columns, Value* out_values,
                            const double** factors) noexcept nogil:
        """Write the entries of a tile to where `places` has the next place of their rows, which then moves on."""
        cdef int64_t key = <int64_t> tile.row_class * self.classes + tile.column_class, number, k, place
        cdef int64_t total = places[height]
        cdef uint32_t row, column, i, j, ratio = self.classes // n
        cdef double value
        cdef Chunk chunk
        for number in range(self.tile_starts[key], self.tile_starts[key + 1]):
            if not self.take_chunk(files, tile.row_class, number, &chunk):
                return number
            for k in range(chunk.entries):
                row = number_at(chunk.rows, k, self.number_bytes)
                column = number_at(chunk.columns, k, self.number_bytes)
                i = row * self.classes + tile.row_class
                j = column * self.classes + tile.column_class
                if i >= self.size or j >= self.size:    # Somebody has changed the file since it was checked.
                    return number
                if tile.turned:
                    if i == j:
                        continue
                    i, j = j, i
                if n == step:
                    row, column = row * ratio + tile.row_base, column * ratio + tile.column_base
                    if tile.turned:
                        row, column = column, row
                elif i % n == shard.i and j % n == shard.j:
                    row, column = i // n, j // n
                else:
                    continue
                place = places[row]
                if place >= total:
                    return number
                value = <double> get_count(chunk.counts, <uint32_t> k, chunk.width) / self.scale
                if factors[0]:
                    value *= factors[0][i] * factors[0][j]
                if factors[1]:
                    value = value * factors[1][i] * factors[2][j]
                out_columns[place] = <int32_t> column
                out_values[place] = <Value> value
                places[row] = place + 1
        return RIGHT
