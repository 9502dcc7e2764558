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

// Folds a value into a cell while other threads may do so, too. Returns whether the cell changed.
template <class Fold, class T> DEVICE bool fold_into(T* cell, T value)
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

DEVICE u64 thread_of_grid() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }
DEVICE u64 threads_of_grid() { return (u64)gridDim.x * blockDim.x; }

// Sums that threads of a block scan: each gets the sum of those up to its own, and `total` that of
// all. Blocks have at most 1024 threads.
DEVICE u32 scan_block(u32 value, u32* total)
{
    __shared__ u32 sums[1024];
    __syncthreads();
    sums[threadIdx.x] = value;
    __syncthreads();
    for (u32 step = 1; step < blockDim.x; step *= 2) {
        u32 before = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
        __syncthreads();
        sums[threadIdx.x] += before;
        __syncthreads();
    }
    *total = sums[blockDim.x - 1];
    return sums[threadIdx.x];
}

// What a kernel has found in a set of proxies.
struct Found {
    // Vertices in the queue, and pieces of those with very many edges.
    u32 vertices;
    u32 chunks;
    // Edges of both.
    u64 edges;
    // Members that were left in the set.
    u64 waiting;
};

// Some edges of a vertex that has very many.
struct Chunk {
    LocalId vertex;
    u32 part;
    u64 begin;
    u64 end;
};

// Edges of a chunk, and of a vertex in the queue, at most.
const u32 MAX_EDGES_PER_ITEM = 2048;

// Puts a vertex into the queue, or its edges in chunks into the list of those.
DEVICE void enqueue(const Edges& edges, LocalId vertex, u32* queue, Chunk* chunks, Found* found)
{
    u64 degree = degree_of(edges, vertex);
    if (degree == 0) return;
    atomicAdd(&found->edges, degree);
    if (degree <= MAX_EDGES_PER_ITEM) {
        queue[atomicAdd(&found->vertices, 1u)] = vertex;
        return;
    }
    for (u32 part = 0; part < edges.num_parts; part++) {
        u64 begin = edges.parts[part].offsets[vertex], end = edges.parts[part].offsets[vertex + 1];
        u32 pieces = (u32)((end - begin + MAX_EDGES_PER_ITEM - 1) / MAX_EDGES_PER_ITEM);
        u32 slot = pieces ? atomicAdd(&found->chunks, pieces) : 0;
        for (u32 piece = 0; piece < pieces; piece++, begin += MAX_EDGES_PER_ITEM) {
            u64 stop = begin + MAX_EDGES_PER_ITEM;
            chunks[slot + piece] = Chunk{vertex, part, begin, stop < end ? stop : end};
        }
    }
}

// Calls `visit(vertex, end, weight)` with every edge of the queue and the chunks, shared out evenly
// over the threads of the grid.
template <class Visit>
DEVICE void each_edge(const Edges& edges, const u32* queue, const Chunk* chunks, const Found* found,
                      Visit visit)
{
    __shared__ LocalId vertices[1024];
    __shared__ u32 ends[1024];
    u32 num_vertices = found->vertices, num_chunks = found->chunks;
    for (u32 item = blockIdx.x; item < num_chunks; item += gridDim.x) {
        Chunk chunk = chunks[item];
        const Rows& rows = edges.parts[chunk.part];
        for (u64 edge = chunk.begin + threadIdx.x; edge < chunk.end; edge += blockDim.x)
            visit(chunk.vertex, rows.ends[edge], Weights<Weight>::at(rows.weights, edge));
    }
    for (u64 first = (u64)blockIdx.x * blockDim.x; first < num_vertices;
         first += (u64)gridDim.x * blockDim.x) {
        bool is_mine = first + threadIdx.x < num_vertices;
        LocalId vertex = is_mine ? queue[first + threadIdx.x] : 0;
        for (u32 part = 0; part < edges.num_parts; part++) {
            const Rows& rows = edges.parts[part];
            u32 degree = is_mine ? (u32)(rows.offsets[vertex + 1] - rows.offsets[vertex]) : 0, total;
            u32 end = scan_block(degree, &total);
            vertices[threadIdx.x] = vertex;
            ends[threadIdx.x] = end;
            __syncthreads();
            for (u32 at = threadIdx.x; at < total; at += blockDim.x) {
                // The first vertex whose edges end after this one.
                u32 low = 0, high = blockDim.x - 1;
                while (low < high) {
                    u32 middle = (low + high) / 2;
                    if (ends[middle] > at) high = middle;
                    else low = middle + 1;
                }
                LocalId source = vertices[low];
                u64 edge = rows.offsets[source] + (at - (low ? ends[low - 1] : 0));
                visit(source, rows.ends[edge], Weights<Weight>::at(rows.weights, edge));
            }
            __syncthreads();
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
