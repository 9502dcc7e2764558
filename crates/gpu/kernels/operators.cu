// Operators of compiled programs. A program's text defines `Tallies`, `Host` and functions for vertices and edges,
// and names kernels below that call them.

// A value per proxy, with the proxies that must be sent, if other hosts see any, and those that were given something.
template <class T> struct Column {
    T* values;
    u32* updated;
    u32* active;
};

// What every program knows on a host. `Host` adds scalars, worklists and columns.
struct HostParts {
    const u32* globals;
    const u64* out_degrees;
    const u64* in_degrees;
    // Masters that will visit their edges.
    u32* activated;
    // Whether a number without a sign became less than 0, and whether a number outgrew its type.
    u32* faults;
    u64 num_vertices;
    u64 num_edges;
};

// Scalars are kept as 64 bits.
template <class T> struct Scalar {
    DEVICE T value(u64 bits) { return (T)bits; }
    DEVICE u64 bits(T value) { return (typename Numbers<T>::Unsigned)value; }
};
template <> struct Scalar<f32> {
    DEVICE f32 value(u64 bits) { return p_float_of_bits((u32)bits); }
    DEVICE u64 bits(f32 value) { return p_to_bits(value); }
};
template <> struct Scalar<f64> {
    DEVICE f64 value(u64 bits) { return p_float_of_bits(bits); }
    DEVICE u64 bits(f64 value) { return p_to_bits(value); }
};
template <> struct Scalar<bool> {
    DEVICE bool value(u64 bits) { return bits != 0; }
    DEVICE u64 bits(bool value) { return value; }
};
template <class T> DEVICE T value_of(u64 bits) { return Scalar<T>::value(bits); }
template <class T> DEVICE u64 bits_of(T value) { return Scalar<T>::bits(value); }

// A truth value is a byte; threads change the word around it.
template <> struct SharedCell<Or<bool>, bool> {
    DEVICE bool fold(bool* cell, bool value)
    {
        if (!value || *(volatile bool*)cell) return false;
        u64 at = (u64)cell;
        u32 bit = 1u << (at % 4 * 8);
        return !(atomicOr((u32*)(at - at % 4), bit) & bit);
    }
};

// Replaces the value of a master; if it changes, its mirrors will be told where they read it.
template <class T> DEVICE void set(const Column<T>& column, LocalId near, T value)
{
    if (column.values[near] == value) return;
    column.values[near] = value;
    if (column.updated) set_bit(column.updated, near);
}

// Gives a master a message for the mirrors of its vertex.
template <class T> DEVICE void send(const Column<T>& column, LocalId near, T value)
{
    column.values[near] = value;
    if (column.updated) set_bit(column.updated, near);
}

template <class T> DEVICE void touch(const Column<T>& column, LocalId proxy)
{
    set_bit(column.active, proxy);
    if (column.updated) set_bit(column.updated, proxy);
}

// Folds a contribution in at a proxy, while other threads may do so, too.
template <class Fold, class T> DEVICE void contribute(const Column<T>& column, LocalId proxy, T value)
{
    fold_into<Fold>(&column.values[proxy], value);
    touch(column, proxy);
}

// A number without a sign, less another one.
template <class T> DEVICE T less(const HostParts& host, T from, T amount)
{
    if (amount <= from) return from - amount;
    host.faults[0] = 1;
    return from;
}

template <class T> DEVICE T fitting(const HostParts& host, T value, bool has_wrapped)
{
    if (has_wrapped) host.faults[1] = 1;
    return value;
}
template <class T> DEVICE T fitting_add(const HostParts& host, T a, T b)
{
    return fitting(host, p_wrapping_add(a, b), p_wrapping_add(a, b) != p_saturating_add(a, b));
}
template <class T> DEVICE T fitting_sub(const HostParts& host, T a, T b)
{
    return fitting(host, p_wrapping_sub(a, b), p_wrapping_sub(a, b) != p_saturating_sub(a, b));
}
template <class T> DEVICE T fitting_mul(const HostParts& host, T a, T b)
{
    T product = p_wrapping_mul(a, b);
    bool has_wrapped = a != 0 && Operators<T>::div(product, a) != b;
    // Of numbers with a sign, the least one times -1 is itself.
    if constexpr (Numbers<T>::IS_SIGNED) has_wrapped |= a == (T)-1 && b == Numbers<T>::MIN_();
    return fitting(host, product, has_wrapped);
}

// ---------------------------------------------------------------------------------------------
// Sets
// ---------------------------------------------------------------------------------------------

// Adds a range of vertices to a set.
extern "C" __global__ void insert_range(u32* set, u32 start, u32 end)
{
    for (u64 vertex = start + thread_of_grid(); vertex < end; vertex += threads_of_grid())
        set_bit(set, (LocalId)vertex);
}

// Adds the members of one set to another.
extern "C" __global__ void insert_members(u32* set, const u32* members, u32 words)
{
    for (u64 word = thread_of_grid(); word < words; word += threads_of_grid()) set[word] |= members[word];
}

// Lists the members of a set.
extern "C" __global__ void list_near(const u32* set, u32 words, Edges edges, u32* queue, Chunk* chunks, Found* found)
{
    list_all(set, words, edges, queue, chunks, found);
}

// ---------------------------------------------------------------------------------------------
// What threads fold into scalars
// ---------------------------------------------------------------------------------------------

// Adds up what the threads of a block have folded, at a place for each block, in a fixed order.
template <class T> DEVICE void sum_tallies_of_block(const T& mine, T* of_blocks)
{
    __shared__ T shared[128];
    shared[threadIdx.x] = mine;
    __syncthreads();
    for (u32 half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) add_tallies(shared[threadIdx.x], shared[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0) of_blocks[blockIdx.x] = shared[0];
    __syncthreads();
}

// One block: folds the sums of all blocks into the scalars. The first place is read before it is written.
#define SUM_TALLIES                                                                                \
    extern "C" __global__ void sum_tallies(Tallies* of_blocks, u32 count, u64* folded)             \
    {                                                                                              \
        Tallies mine = no_tallies();                                                               \
        for (u32 i = threadIdx.x; i < count; i += blockDim.x) add_tallies(mine, of_blocks[i]);     \
        sum_tallies_of_block(mine, of_blocks);                                                     \
        if (threadIdx.x == 0) keep_tallies(folded, of_blocks[0]);                                  \
    }

// ---------------------------------------------------------------------------------------------
// Kernels of a program
// ---------------------------------------------------------------------------------------------

// Values of a column at a range of proxies.
#define START(NUMBER, COLUMN)                                                                      \
    extern "C" __global__ void start_##NUMBER(Host host, u32 start, u32 end)                       \
    {                                                                                              \
        for (u64 i = start + thread_of_grid(); i < end; i += threads_of_grid())                    \
            host.COLUMN.values[i] = value_##NUMBER(host, (LocalId)i);                              \
    }

// Masters do their part: those of a set, or all.
#define EACH_MASTER(NAME)                                                                          \
    for (u64 i = thread_of_grid(); i < count; i += threads_of_grid())                              \
        if (!members || has_bit(members, (LocalId)i)) at_##NAME(host, (LocalId)i, mine);

#define PART(NAME)                                                                                 \
    extern "C" __global__ void part_##NAME(Host host, const u32* members, u32 count)               \
    {                                                                                              \
        Tallies mine;                                                                              \
        EACH_MASTER(NAME)                                                                          \
    }

// The same where masters fold values into scalars: each block adds up its own in a fixed order.
#define PART_TALLYING(NAME)                                                                        \
    extern "C" __global__ void part_##NAME##_tallying(Host host, const u32* members, u32 count,    \
                                                      Tallies* of_blocks)                          \
    {                                                                                              \
        Tallies mine = no_tallies();                                                               \
        EACH_MASTER(NAME)                                                                          \
        sum_tallies_of_block(mine, of_blocks);                                                     \
    }

// Listed vertices visit their edges.
#define EACH_EDGE(NAME)                                                                            \
    each_edge(edges, queue, chunks, found, [&](LocalId near, LocalId far, Weight weight) {         \
        along_##NAME(host, near, far, weight, mine);                                               \
    });

#define EDGES(NAME)                                                                                \
    extern "C" __global__ void edges_##NAME(Host host, Edges edges, const u32* queue,              \
                                            const Chunk* chunks, const Found* found)               \
    {                                                                                              \
        Tallies mine;                                                                              \
        EACH_EDGE(NAME)                                                                            \
    }

#define EDGES_TALLYING(NAME)                                                                       \
    extern "C" __global__ void edges_##NAME##_tallying(Host host, Edges edges, const u32* queue,   \
                                                       const Chunk* chunks, const Found* found,    \
                                                       Tallies* of_blocks)                         \
    {                                                                                              \
        Tallies mine = no_tallies();                                                               \
        EACH_EDGE(NAME)                                                                            \
        sum_tallies_of_block(mine, of_blocks);                                                     \
    }

// Vertices of a set, or all, visit their edges, a warp each. Which warp depends on the vertex alone.
#define ROWS_TALLYING(NAME)                                                                        \
    extern "C" __global__ void rows_##NAME##_tallying(Host host, Edges edges, const u32* members,  \
                                                      u32 count, Tallies* of_blocks)               \
    {                                                                                              \
        Tallies mine = no_tallies();                                                               \
        for (u64 row = thread_of_grid() / 32; row < count; row += threads_of_grid() / 32) {        \
            if (members && !has_bit(members, (LocalId)row)) continue;                              \
            each_edge_of(edges, (LocalId)row, lane_of_warp(), 32, [&](LocalId far, Weight weight) { \
                along_##NAME(host, (LocalId)row, far, weight, mine);                               \
            });                                                                                    \
        }                                                                                          \
        sum_tallies_of_block(mine, of_blocks);                                                     \
    }

// Rows by the end that collects, of few, more and very many edges. `near` is the set of vertices that visit their
// edges, or null if all do. `FOLD` is sensitive to the order.
#define COLLECT(NAME, COLUMN, FOLD, END)                                                           \
    DEVICE FOLD::Value collect_##NAME##_of(const Host& host, const u32* near, const Edges& edges,  \
                                           LocalId row, u32 first, u32 step, bool* any)            \
    {                                                                                              \
        FOLD::Value all = FOLD::identity();                                                        \
        each_edge_of(edges, row, first, step, [&](LocalId other, Weight weight) {                  \
            LocalId active = END##_of(row, other), passive = END##_of(other, row);                 \
            if (near && !has_bit(near, active)) return;                                            \
            collect_##NAME(host, active, passive, weight, all, *any);                              \
        });                                                                                        \
        return all;                                                                                \
    }                                                                                              \
    extern "C" __global__ void collect_##NAME##_thread(Host host, const u32* near, Edges edges,    \
                                                       const u32* rows, u32 count)                 \
    {                                                                                              \
        for (u64 i = thread_of_grid(); i < count; i += threads_of_grid()) {                        \
            bool any = false;                                                                      \
            FOLD::Value all = collect_##NAME##_of(host, near, edges, rows[i], 0, 1, &any);         \
            if (any) give<FOLD>(host.COLUMN, rows[i], all);                                        \
        }                                                                                          \
    }                                                                                              \
    extern "C" __global__ void collect_##NAME##_warp(Host host, const u32* near, Edges edges,      \
                                                     const u32* rows, u32 count)                   \
    {                                                                                              \
        for (u64 i = thread_of_grid() / 32; i < count; i += threads_of_grid() / 32) {              \
            bool any = false;                                                                      \
            u32 lane = lane_of_warp();                                                             \
            FOLD::Value all = collect_##NAME##_of(host, near, edges, rows[i], lane, 32, &any);     \
            all = fold_warp<FOLD>(all);                                                            \
            any = __any_sync(ALL_LANES, any);                                                      \
            if (lane == 0 && any) give<FOLD>(host.COLUMN, rows[i], all);                           \
        }                                                                                          \
    }                                                                                              \
    extern "C" __global__ void collect_##NAME##_block(Host host, const u32* near, Edges edges,     \
                                                      const u32* rows, u32 count)                  \
    {                                                                                              \
        __shared__ FOLD::Value sums[1024];                                                         \
        for (u32 i = blockIdx.x; i < count; i += gridDim.x) {                                      \
            bool any = false;                                                                      \
            sums[threadIdx.x] =                                                                    \
                collect_##NAME##_of(host, near, edges, rows[i], threadIdx.x, blockDim.x, &any);    \
            any = __syncthreads_or(any);                                                           \
            for (u32 half = blockDim.x / 2; half > 0; half /= 2) {                                 \
                if (threadIdx.x < half)                                                            \
                    sums[threadIdx.x] = FOLD::combine(sums[threadIdx.x], sums[threadIdx.x + half]); \
                __syncthreads();                                                                   \
            }                                                                                      \
            if (threadIdx.x == 0 && any) give<FOLD>(host.COLUMN, rows[i], sums[0]);                \
            __syncthreads();                                                                       \
        }                                                                                          \
    }

// The active vertex and the other one, of the row and the other end.
DEVICE LocalId near_of(LocalId row, LocalId) { return row; }
DEVICE LocalId far_of(LocalId, LocalId other) { return other; }

// Folds in what a row has collected.
template <class Fold, class T> DEVICE void give(const Column<T>& column, LocalId row, T all)
{
    column.values[row] = Fold::combine(column.values[row], all);
    touch(column, row);
}

// Calls `visit` with every `step`-th edge of a row, from the `first` on, in their order.
template <class Visit>
DEVICE void each_edge_of(const Edges& edges, LocalId row, u32 first, u32 step, Visit visit)
{
    for (u64 part = 0; part < edges.num_parts; part++) {
        const Rows& rows = edges.parts[part];
        for (u64 edge = rows.offsets[row] + first, end = rows.offsets[row + 1]; edge < end; edge += step)
            visit(rows.ends[edge], Weights<Weight>::at(rows.weights, edge));
    }
}
