// Label propagation: which label most neighbours of a vertex have, and how many have each.
//
// Rows by degree class. A thread compares the labels of a short row with each other; a warp or a block counts
// longer rows in a hash table in shared memory, and a block the longest ones in a table in the device's memory.

struct Vote {
    LocalId proxy;
    u32 label;
    u32 count;
};

// What a round finds.
struct Outcome {
    // The label that each of `decided` gets.
    u32* winners;
    u32* decided;
    // Rows whose votes are wanted, instead of a winner.
    const u32* shared;
    Vote* votes;
    u64* num_votes;
    u64* edges;
};

// What a round reads. `changed`: only rows with a neighbour among these count.
struct Ballot {
    Edges edges;
    const u32* labels;
    const u32* changed;
};

const u32 NO_LABEL = 0xffffffffu;
// Edges of a row that one thread counts, at most; tables have twice as many slots as rows edges.
const u32 MAX_EDGES_PER_THREAD = 16;
const u32 SLOTS_PER_WARP = 512;
const u32 SLOTS_PER_BLOCK = 4096;
const u32 MAX_WARPS = 8;

// Greater for more votes, and for the lesser of two labels with as many.
DEVICE u64 rank_of(u32 label, u32 count) { return (u64)count << 32 | (u32)~label; }

// Calls `visit(neighbour)` with every `step`-th neighbour, from `first` on.
template <class Visit>
DEVICE void each_neighbour(const Edges& edges, LocalId row, u32 first, u32 step, Visit visit)
{
    for (u64 part = 0; part < edges.num_parts; part++) {
        const Rows& rows = edges.parts[part];
        u64 end = rows.offsets[row + 1];
        for (u64 edge = rows.offsets[row] + first; edge < end; edge += step) visit(rows.ends[edge]);
    }
}

// Whether one of these neighbours has another label than in the round before.
DEVICE bool is_stale(const Ballot& ballot, LocalId row, u32 first, u32 step)
{
    if (!ballot.changed) return true;
    for (u64 part = 0; part < ballot.edges.num_parts; part++) {
        const Rows& rows = ballot.edges.parts[part];
        u64 end = rows.offsets[row + 1];
        for (u64 edge = rows.offsets[row] + first; edge < end; edge += step)
            if (has_bit(ballot.changed, rows.ends[edge])) return true;
    }
    return false;
}

DEVICE void decide(const Outcome& outcome, LocalId row, u64 best)
{
    outcome.winners[row] = ~(u32)best;
    set_bit(outcome.decided, row);
}

// Rows of few edges: one thread each.
extern "C" __global__ void ballot_thread(Ballot ballot, const u32* list, u32 count, Outcome outcome)
{
    u64 edges = 0;
    for (u64 i = thread_of_grid(); i < count; i += threads_of_grid()) {
        LocalId row = list[i];
        if (!is_stale(ballot, row, 0, 1)) continue;
        u32 labels[MAX_EDGES_PER_THREAD], degree = 0;
        each_neighbour(ballot.edges, row, 0, 1, [&](LocalId end) { labels[degree++] = ballot.labels[end]; });
        edges += degree;
        u64 best = 0;
        bool is_shared = has_bit(outcome.shared, row);
        for (u32 place = 0; place < degree; place++) {
            u32 label = labels[place], votes = 0;
            bool is_counted = false;
            for (u32 other = 0; other < degree; other++) {
                if (labels[other] != label) continue;
                is_counted |= other < place;
                votes++;
            }
            if (is_counted) continue;
            u64 rank = rank_of(label, votes);
            best = rank > best ? rank : best;
            if (is_shared) outcome.votes[atomicAdd(outcome.num_votes, 1ull)] = Vote{row, label, votes};
        }
        if (!is_shared) decide(outcome, row, best);
    }
    if (edges) atomicAdd(outcome.edges, edges);
}

// A hash table from labels to counts.
struct Table {
    u32* labels;
    u32* counts;
    u32 mask;

    DEVICE_MEMBER void clear(u32 first, u32 step)
    {
        for (u32 slot = first; slot <= mask; slot += step) {
            labels[slot] = NO_LABEL;
            counts[slot] = 0;
        }
    }

    DEVICE_MEMBER void add(u32 label)
    {
        u32 slot = label * 0x9e3779b1u >> 7 & mask;
        for (;;) {
            u32 found = atomicCAS(&labels[slot], NO_LABEL, label);
            if (found == NO_LABEL || found == label) break;
            slot = (slot + 1) & mask;
        }
        atomicAdd(&counts[slot], 1u);
    }

    // The best of every `step`-th slot.
    DEVICE_MEMBER u64 best(u32 first, u32 step) const
    {
        u64 best = 0;
        for (u32 slot = first; slot <= mask; slot += step) {
            u64 rank = labels[slot] == NO_LABEL ? 0 : rank_of(labels[slot], counts[slot]);
            best = rank > best ? rank : best;
        }
        return best;
    }

    // Writes the votes of every `step`-th slot.
    DEVICE_MEMBER void write(const Outcome& outcome, LocalId row, u32 first, u32 step) const
    {
        u32 number = 0;
        for (u32 slot = first; slot <= mask; slot += step) number += labels[slot] != NO_LABEL;
        u64 place = number ? atomicAdd(outcome.num_votes, (u64)number) : 0;
        for (u32 slot = first; slot <= mask; slot += step)
            if (labels[slot] != NO_LABEL) outcome.votes[place++] = Vote{row, labels[slot], counts[slot]};
    }
};

// Slots for the labels of a row: a power of two, at least half of them free.
DEVICE u32 slots_of(u64 degree)
{
    u32 slots = 8;
    while (slots < 2 * degree) slots *= 2;
    return slots;
}

// Rows of more edges: one warp each.
extern "C" __global__ void ballot_warp(Ballot ballot, const u32* list, u32 count, Outcome outcome)
{
    __shared__ u32 labels[MAX_WARPS * SLOTS_PER_WARP];
    __shared__ u32 counts[MAX_WARPS * SLOTS_PER_WARP];
    u32 lane = threadIdx.x % 32, first_slot = threadIdx.x / 32 * SLOTS_PER_WARP;
    u64 edges = 0;
    for (u64 i = thread_of_grid() / 32; i < count; i += threads_of_grid() / 32) {
        LocalId row = list[i];
        if (!__any_sync(0xffffffffu, is_stale(ballot, row, lane, 32))) continue;
        u64 degree = degree_of(ballot.edges, row);
        Table table = {labels + first_slot, counts + first_slot, slots_of(degree) - 1};
        table.clear(lane, 32);
        __syncwarp();
        each_neighbour(ballot.edges, row, lane, 32, [&](LocalId end) { table.add(ballot.labels[end]); });
        __syncwarp();
        if (has_bit(outcome.shared, row)) {
            table.write(outcome, row, lane, 32);
        } else {
            u64 best = table.best(lane, 32);
            for (u32 distance = 16; distance > 0; distance /= 2) {
                u64 other = __shfl_xor_sync(0xffffffffu, best, distance);
                best = other > best ? other : best;
            }
            if (lane == 0) decide(outcome, row, best);
        }
        if (lane == 0) edges += degree;
        // The table is read before the next row clears it.
        __syncwarp();
    }
    if (edges) atomicAdd(outcome.edges, edges);
}

// One row by all threads of a block.
DEVICE void count_by_block(const Ballot& ballot, LocalId row, Table table, const Outcome& outcome)
{
    __shared__ u64 best;
    // The row before has been decided.
    __syncthreads();
    if (!__syncthreads_or(is_stale(ballot, row, threadIdx.x, blockDim.x))) return;
    if (threadIdx.x == 0) best = 0;
    table.clear(threadIdx.x, blockDim.x);
    __syncthreads();
    each_neighbour(ballot.edges, row, threadIdx.x, blockDim.x,
                   [&](LocalId end) { table.add(ballot.labels[end]); });
    __syncthreads();
    if (has_bit(outcome.shared, row)) table.write(outcome, row, threadIdx.x, blockDim.x);
    else atomicMax(&best, table.best(threadIdx.x, blockDim.x));
    __syncthreads();
    if (threadIdx.x != 0) return;
    if (!has_bit(outcome.shared, row)) decide(outcome, row, best);
    atomicAdd(outcome.edges, degree_of(ballot.edges, row));
}

// Rows of many edges: one block each.
extern "C" __global__ void ballot_block(Ballot ballot, const u32* list, u32 count, Outcome outcome)
{
    __shared__ u32 labels[SLOTS_PER_BLOCK];
    __shared__ u32 counts[SLOTS_PER_BLOCK];
    for (u32 i = blockIdx.x; i < count; i += gridDim.x) {
        u32 slots = slots_of(degree_of(ballot.edges, list[i]));
        count_by_block(ballot, list[i], Table{labels, counts, slots - 1}, outcome);
    }
}

// Rows of more edges than a table in shared memory has room for. `starts`: where their tables are.
extern "C" __global__ void ballot_long(Ballot ballot, const u32* list, u32 count, Outcome outcome, u32* tables,
                                       const u64* starts)
{
    for (u32 i = blockIdx.x; i < count; i += gridDim.x) {
        u32 slots = slots_of(degree_of(ballot.edges, list[i]));
        u32* labels = tables + starts[i];
        count_by_block(ballot, list[i], Table{labels, labels + slots, slots - 1}, outcome);
    }
}

extern "C" __global__ void ballot_start(const u32* globals, u32 proxies, u32* labels)
{
    for (u64 i = thread_of_grid(); i < proxies; i += threads_of_grid()) labels[i] = globals[i];
}

// Labels that the host has chosen: pairs of a master and its label.
extern "C" __global__ void ballot_choose(const u32* chosen, u32 count, u32* winners, u32* decided)
{
    for (u64 i = thread_of_grid(); i < count; i += threads_of_grid()) {
        winners[chosen[2 * i]] = chosen[2 * i + 1];
        set_bit(decided, chosen[2 * i]);
    }
}

// Masters take the labels that were chosen for them.
extern "C" __global__ void ballot_apply(const u32* winners, const u32* decided, u32 masters, u32* labels, u32* active,
                                        u32* updated, u64* num_changed)
{
    u64 changed = 0;
    for (u64 i = thread_of_grid(); i < masters; i += threads_of_grid()) {
        if (!has_bit(decided, (LocalId)i) || winners[i] == labels[i]) continue;
        labels[i] = winners[i];
        set_bit(active, (LocalId)i);
        if (updated) set_bit(updated, (LocalId)i);
        changed++;
    }
    if (changed) atomicAdd(num_changed, changed);
}
