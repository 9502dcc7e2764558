// A host's edges by one of their ends, bits of proxies, and folds that threads do at once.

struct Rows {
    const Offset* offsets;
    const LocalId* ends;
    const Weight* weights;
};

// Out-edges, in-edges, or both, one after the other.
struct Edges {
    Rows parts[2];
    u64 num_parts;
};

// The weight of an edge; an edge without one counts 1.
template <class W> struct Weights {
    DEVICE W at(const W* weights, u64 edge) { return weights ? weights[edge] : (W)1; }
};
template <> struct Weights<Unit> {
    DEVICE Unit at(const Unit*, u64) { return Unit{}; }
};

DEVICE u64 degree_of(const Edges& edges, LocalId vertex)
{
    u64 degree = 0;
    for (u64 part = 0; part < edges.num_parts; part++) {
        const Offset* offsets = edges.parts[part].offsets;
        degree += offsets[vertex + 1] - offsets[vertex];
    }
    return degree;
}

DEVICE bool has_bit(const u32* set, LocalId proxy) { return set[proxy >> 5] >> (proxy & 31) & 1; }

// Adds a proxy to a set. Returns whether it is new.
DEVICE bool set_bit(u32* set, LocalId proxy)
{
    u32 bit = 1u << (proxy & 31);
    if (((volatile u32*)set)[proxy >> 5] & bit) return false;
    return !(atomicOr(&set[proxy >> 5], bit) & bit);
}

DEVICE u32 p_trailing_bit(u32 word) { return 31u - (u32)__clz((int)(word & (0u - word))); }

template <u64 BYTES> struct WordOf;
template <> struct WordOf<4> { typedef u32 Type; };
template <> struct WordOf<8> { typedef u64 Type; };

// The same bytes as another type.
template <class To, class From> DEVICE To same_bits(From from)
{
    union Both {
        From from;
        To to;
    };
    Both both;
    both.from = from;
    return both.to;
}

template <class T> DEVICE T load_now(const T* cell)
{
    typedef typename WordOf<sizeof(T)>::Type Word;
    return same_bits<T>((Word) * (const volatile Word*)cell);
}

// Folds a value into a cell while other threads may do so, too. Says whether the cell changed.
template <class Fold, class T> struct SharedCell {
    DEVICE bool fold(T* cell, T value)
    {
        typedef typename WordOf<sizeof(T)>::Type Word;
        Word old = *(volatile Word*)cell;
        for (;;) {
            Word next = same_bits<Word>(Fold::combine(same_bits<T>(old), value));
            if (next == old) return false;
            Word found = atomicCAS((Word*)cell, old, next);
            if (found == old) return true;
            old = found;
        }
    }
    DEVICE bool fold_at_once(T* cell, T value) { return fold(cell, value); }
};

// The hardware has these folds. Most values do not improve their cell, which a load tells.
template <class T> struct SharedLeast {
    DEVICE bool fold(T* cell, T value) { return value < *(volatile T*)cell && fold_at_once(cell, value); }
    DEVICE bool fold_at_once(T* cell, T value) { return value < atomicMin(cell, value); }
};
template <> struct SharedCell<Min<u32>, u32> : SharedLeast<u32> {};
template <> struct SharedCell<Min<u64>, u64> : SharedLeast<u64> {};

template <class T> struct SharedSum {
    DEVICE bool fold(T* cell, T value) { return value != 0 && (atomicAdd(cell, value), true); }
    DEVICE bool fold_at_once(T* cell, T value) { return fold(cell, value); }
};
template <> struct SharedCell<Sum<u32>, u32> : SharedSum<u32> {};
template <> struct SharedCell<Sum<u64>, u64> : SharedSum<u64> {};

template <class Fold, class T> DEVICE bool fold_into(T* cell, T value)
{
    return SharedCell<Fold, T>::fold(cell, value);
}

// The same in one trip to memory where the hardware has the fold: for a thread that waits for the answer.
template <class Fold, class T> DEVICE bool fold_at_once(T* cell, T value)
{
    return SharedCell<Fold, T>::fold_at_once(cell, value);
}

DEVICE u64 thread_of_grid() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }
DEVICE u64 threads_of_grid() { return (u64)gridDim.x * blockDim.x; }

const u32 ALL_LANES = 0xffffffffu;

DEVICE u32 lane_of_warp() { return threadIdx.x % 32; }

// Sums over the lanes of a warp: each lane gets the sum up to its own.
DEVICE u32 scan_warp(u32 value)
{
    for (u32 step = 1; step < 32; step *= 2) {
        u32 before = __shfl_up_sync(ALL_LANES, value, step);
        if (lane_of_warp() >= step) value += before;
    }
    return value;
}

DEVICE u64 sum_warp(u64 value)
{
    for (u32 distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(ALL_LANES, value, distance);
    return value;
}

// The fold of a value of each lane, at all lanes. Lanes fold in the same order in every warp.
template <class Fold, class T> DEVICE T fold_warp(T value)
{
    typedef typename WordOf<sizeof(T)>::Type Word;
    for (u32 distance = 16; distance > 0; distance /= 2) {
        Word other = __shfl_xor_sync(ALL_LANES, same_bits<Word>(value), distance);
        value = Fold::combine(value, same_bits<T>(other));
    }
    return value;
}

// Sums over the threads of a block: each gets the sum of those up to its own, and `total` that of all.
// Blocks have whole warps, at most 32 of them.
DEVICE u32 scan_block(u32 value, u32* total)
{
    __shared__ u32 sums[32];
    u32 warp = threadIdx.x / 32, num_warps = blockDim.x / 32;
    u32 sum = scan_warp(value);
    // The sums of the call before may still be read.
    __syncthreads();
    if (lane_of_warp() == 31) sums[warp] = sum;
    __syncthreads();
    u32 of_warps = scan_warp(lane_of_warp() < num_warps ? sums[lane_of_warp()] : 0);
    *total = __shfl_sync(ALL_LANES, of_warps, 31);
    u32 before = __shfl_sync(ALL_LANES, of_warps, warp == 0 ? 0 : warp - 1);
    return warp == 0 ? sum : sum + before;
}

// What a kernel has found in a set of proxies.
struct Found {
    // Vertices in the queue, and pieces of those with very many edges.
    u32 vertices;
    u32 chunks;
    // Edges of both.
    u64 edges;
    // The complement of the lowest bucket that was left in the set; 0 if none was.
    u64 waiting;
};

// Some edges of a vertex that has very many.
struct Chunk {
    LocalId vertex;
    u32 part;
    u64 begin;
    u64 end;
};

// A vertex of more edges than this is in the queue, but its edges are in chunks: a warp would be late with
// 32 such vertices.
const u32 MAX_EDGES_PER_VERTEX = 256;
// Edges of a chunk at most.
const u32 MAX_EDGES_PER_CHUNK = 2048;

DEVICE u32 num_chunks(const Rows& rows, LocalId vertex)
{
    u64 edges = rows.offsets[vertex + 1] - rows.offsets[vertex];
    return (u32)((edges + MAX_EDGES_PER_CHUNK - 1) / MAX_EDGES_PER_CHUNK);
}

// Puts the edges of lanes' vertices into chunks. The lanes of a warp take their places at once.
DEVICE void add_chunks(const Edges& edges, bool has_many, LocalId vertex, Chunk* chunks, Found* found)
{
    if (!__any_sync(ALL_LANES, has_many)) return;
    for (u32 part = 0; part < edges.num_parts; part++) {
        const Rows& rows = edges.parts[part];
        u32 mine = has_many ? num_chunks(rows, vertex) : 0, first = 0;
        u32 end = scan_warp(mine), total = __shfl_sync(ALL_LANES, end, 31);
        if (lane_of_warp() == 0) first = atomicAdd(&found->chunks, total);
        u32 slot = __shfl_sync(ALL_LANES, first, 0) + end - mine;
        for (u32 piece = 0; piece < mine; piece++) {
            u64 begin = rows.offsets[vertex] + (u64)piece * MAX_EDGES_PER_CHUNK;
            u64 stop = begin + MAX_EDGES_PER_CHUNK, last = rows.offsets[vertex + 1];
            chunks[slot + piece] = Chunk{vertex, part, begin, stop < last ? stop : last};
        }
    }
}

// Lists the members of a set for which `keep(vertex)` holds. The lanes of a warp look at 32 words in
// turns, one lane for each bit, so that what they read lies side by side; a block takes its places in
// the queue at once. `done(word, members, kept)` gets what was kept of each word.
template <class Keep, class Done>
DEVICE void list_members(const u32* set, u32 words, const Edges& edges, u32* queue, Chunk* chunks,
                         Found* found, Keep keep, Done done)
{
    __shared__ u32 first_place;
    u32 lane = lane_of_warp(), total;
    u64 num_edges = 0;
    for (u64 first = (u64)blockIdx.x * blockDim.x; first < words; first += threads_of_grid()) {
        u64 word = first + threadIdx.x;
        u32 members = word < words ? set[word] : 0, kept = 0;
        for (u32 rest = __ballot_sync(ALL_LANES, members != 0); rest; rest &= rest - 1) {
            u32 from = p_trailing_bit(rest);
            u32 bits = __shfl_sync(ALL_LANES, members, from);
            LocalId vertex = (LocalId)((word - lane + from) * 32 + lane);
            u32 here = __ballot_sync(ALL_LANES, (bits >> lane & 1) && keep(vertex));
            if (lane == from) kept = here;
        }
        if (word < words) done(word, members, kept);
        u32 count = (u32)__popc(kept);
        u32 place = scan_block(count, &total) - count;
        if (threadIdx.x == 0 && total) first_place = atomicAdd(&found->vertices, total);
        __syncthreads();
        place += first_place;
        for (u32 rest = __ballot_sync(ALL_LANES, kept != 0); rest; rest &= rest - 1) {
            u32 from = p_trailing_bit(rest);
            u32 bits = __shfl_sync(ALL_LANES, kept, from), before = __shfl_sync(ALL_LANES, place, from);
            bool is_member = bits >> lane & 1;
            LocalId vertex = (LocalId)((word - lane + from) * 32 + lane);
            if (is_member) queue[before + (u32)__popc(bits & ((1u << lane) - 1))] = vertex;
            u64 degree = is_member ? degree_of(edges, vertex) : 0;
            num_edges += degree;
            add_chunks(edges, degree > MAX_EDGES_PER_VERTEX, vertex, chunks, found);
        }
        // `first_place` is read by all before the next one is written.
        __syncthreads();
    }
    num_edges = sum_warp(num_edges);
    if (lane == 0 && num_edges) atomicAdd(&found->edges, num_edges);
}

// Lists all members of a set.
DEVICE void list_all(const u32* set, u32 words, const Edges& edges, u32* queue, Chunk* chunks, Found* found)
{
    list_members(set, words, edges, queue, chunks, found, [](LocalId) { return true; },
                 [](u64, u32, u32) {});
}

// Calls `visit(vertex, end, weight)` with every edge of the queue and the chunks, shared out over the
// threads of the grid: a block takes a chunk, a warp the vertices of 32 places. The lanes go through a
// long row together, then through all short ones as if these were one.
template <class Visit>
DEVICE void each_edge(const Edges& edges, const u32* queue, const Chunk* chunks, const Found* found,
                      Visit visit)
{
    u32 num_vertices = found->vertices, num_chunks = found->chunks, lane = lane_of_warp();
    for (u32 item = blockIdx.x; item < num_chunks; item += gridDim.x) {
        Chunk chunk = chunks[item];
        const Rows& rows = edges.parts[chunk.part];
        for (u64 edge = chunk.begin + threadIdx.x; edge < chunk.end; edge += blockDim.x)
            visit(chunk.vertex, rows.ends[edge], Weights<Weight>::at(rows.weights, edge));
    }
    for (u64 first = thread_of_grid() - lane; first < num_vertices; first += threads_of_grid()) {
        LocalId vertex = first + lane < num_vertices ? queue[first + lane] : 0;
        bool is_mine = first + lane < num_vertices && degree_of(edges, vertex) <= MAX_EDGES_PER_VERTEX;
        for (u32 part = 0; part < edges.num_parts; part++) {
            const Rows& rows = edges.parts[part];
            u64 begin = is_mine ? rows.offsets[vertex] : 0;
            u32 degree = is_mine ? (u32)(rows.offsets[vertex + 1] - begin) : 0;
            for (u32 rest = __ballot_sync(ALL_LANES, degree >= 32); rest; rest &= rest - 1) {
                u32 of = p_trailing_bit(rest);
                LocalId source = __shfl_sync(ALL_LANES, vertex, of);
                u64 edge = __shfl_sync(ALL_LANES, begin, of) + lane;
                u64 end = edge - lane + __shfl_sync(ALL_LANES, degree, of);
                for (; edge < end; edge += 32)
                    visit(source, rows.ends[edge], Weights<Weight>::at(rows.weights, edge));
            }
            u32 end = scan_warp(degree < 32 ? degree : 0);
            u32 total = __shfl_sync(ALL_LANES, end, 31);
            for (u32 base = 0; base < total; base += 32) {
                // The first lane whose edges end after this one.
                u32 at = base + lane, of = 0;
                for (u32 step = 16; step > 0; step /= 2)
                    if (__shfl_sync(ALL_LANES, end, of + step - 1) <= at) of += step;
                u32 before = __shfl_sync(ALL_LANES, end, of > 0 ? of - 1 : 0);
                LocalId source = __shfl_sync(ALL_LANES, vertex, of);
                u64 edge = __shfl_sync(ALL_LANES, begin, of) + (at - (of > 0 ? before : 0));
                if (at < total) visit(source, rows.ends[edge], Weights<Weight>::at(rows.weights, edge));
            }
        }
    }
}

// Counts the members of a set below `end`.
extern "C" __global__ void count_members(const u32* set, u32 end, u64* count)
{
    u64 mine = 0;
    for (u64 word = thread_of_grid(); word * 32 < end; word += threads_of_grid()) {
        u32 mask = word == end >> 5 ? (1u << (end & 31)) - 1 : 0xffffffffu;
        mine += (u32)__popc(set[word] & mask);
    }
    if (mine) atomicAdd(count, mine);
}
