// The field `$name` of values `$Value`, folded by `$Fold`: extracting updated values of routes,
// absorbing what arrives, and resetting what was sent.

// 1024 places at most of a route. `list` holds the proxies of the whole route; without one they are
// consecutive from `first` on.
#ifndef PARTON_TILE
#define PARTON_TILE
struct Tile {
    const LocalId* list;
    u32 first;
    u32 count;
    // The place of the first one on its piece of the route, and the number of that piece.
    u32 place;
    u32 piece;
    // Masters whose mirrors are at one end of edges only: 1 + the number of that end.
    u64 only_at;
};

// Proxies that must be sent: to all, and to mirrors at one end of edges only.
struct Unsent {
    const u32* updated;
    const u32* owed[2];
};

const u32 PLACES_PER_TILE = 1024;

DEVICE LocalId proxy_at(const Tile& tile, u32 place)
{
    return tile.list ? tile.list[tile.first + place] : tile.first + place;
}

DEVICE bool is_unsent(const Unsent& unsent, const Tile& tile, LocalId proxy)
{
    if (has_bit(unsent.updated, proxy)) return true;
    const u32* owed = tile.only_at ? unsent.owed[tile.only_at - 1] : nullptr;
    return owed && has_bit(owed, proxy);
}
#endif

// Counts the updated proxies of each tile.
extern "C" __global__ void $name_count(const Tile* tiles, u32 num_tiles, Unsent unsent, u32* counts)
{
    for (u32 number = blockIdx.x; number < num_tiles; number += gridDim.x) {
        Tile tile = tiles[number];
        u32 mine = 0, total;
        for (u32 place = threadIdx.x; place < tile.count; place += blockDim.x)
            mine += is_unsent(unsent, tile, proxy_at(tile, place));
        scan_block(mine, &total);
        if (threadIdx.x == 0) counts[number] = total;
    }
}

// One block: where the updated values of each tile go, and where those of each piece end.
extern "C" __global__ void $name_scan(const Tile* tiles, u32 num_tiles, u32* counts, u64* piece_ends)
{
    __shared__ u64 before;
    if (threadIdx.x == 0) before = 0;
    __syncthreads();
    for (u32 first = 0; first < num_tiles; first += blockDim.x) {
        u32 number = first + threadIdx.x, total;
        u32 mine = number < num_tiles ? counts[number] : 0;
        u32 end = scan_block(mine, &total);
        u64 base = before;
        if (number < num_tiles) {
            counts[number] = (u32)(base + end - mine);
            if (number + 1 == num_tiles || tiles[number + 1].piece != tiles[number].piece)
                piece_ends[tiles[number].piece] = base + end;
        }
        __syncthreads();
        if (threadIdx.x == 0) before = base + total;
        __syncthreads();
    }
}

// Writes the places and values of the updated proxies, in the order of places.
extern "C" __global__ void $name_extract(const Tile* tiles, u32 num_tiles, Unsent unsent, const $Value* values,
                                         const u32* starts, u32* places,
                                         $Value* extracted)
{
    for (u32 number = blockIdx.x; number < num_tiles; number += gridDim.x) {
        Tile tile = tiles[number];
        u32 base = starts[number];
        for (u32 first = 0; first < tile.count; first += blockDim.x) {
            u32 place = first + threadIdx.x, total;
            LocalId proxy = place < tile.count ? proxy_at(tile, place) : 0;
            bool is_updated = place < tile.count && is_unsent(unsent, tile, proxy);
            u32 end = scan_block(is_updated, &total);
            if (is_updated) {
                places[base + end - 1] = tile.place + place;
                extracted[base + end - 1] = values[proxy];
            }
            base += total;
        }
    }
}

// The values at some places of one route, or at all of them.
extern "C" __global__ void $name_gather(Tile route, const u32* places, u32 count, const $Value* values,
                                        $Value* gathered)
{
    for (u64 i = thread_of_grid(); i < count; i += threads_of_grid())
        gathered[i] = values[proxy_at(route, places ? places[i] : (u32)i)];
}

// Values arrive for some places of one route, or for all of them. Each proxy is there once.
extern "C" __global__ void $name_absorb(Tile route, const u32* places, u32 count, const $Value* arrived,
                                        $Value* values, u32* updated, u32* active, u32 replaces,
                                        u32 goes_on, u32 is_event)
{
    for (u64 i = thread_of_grid(); i < count; i += threads_of_grid()) {
        LocalId proxy = proxy_at(route, places ? places[i] : (u32)i);
        $Value old = values[proxy], value = arrived[i];
        $Value next = replaces ? value : $Fold::combine(old, value);
        values[proxy] = next;
        if (next != old || is_event) {
            set_bit(active, proxy);
            if (goes_on) set_bit(updated, proxy);
        }
    }
}

// Takes a range of proxies out of the updated ones; contributions that count once become the identity. They join
// those that are `owed`, and leave those that are `paid`.
extern "C" __global__ void $name_reset(u32 start, u32 end, u32* updated, $Value* values, u32 forgets, u32* owed,
                                       u32* paid, u32* also_paid)
{
    u32 first_word = start >> 5, num_words = start < end ? ((end - 1) >> 5) - first_word + 1 : 0;
    for (u64 i = thread_of_grid(); i < num_words; i += threads_of_grid()) {
        u32 word = first_word + (u32)i, mask = 0xffffffffu;
        if (word == start >> 5) mask &= 0xffffffffu << (start & 31);
        if (word == (end - 1) >> 5) mask &= 0xffffffffu >> (31 - ((end - 1) & 31));
        u32 sent = updated[word] & mask;
        // Neighbouring ranges may share the word.
        if (owed && sent) atomicOr(&owed[word], sent);
        if (paid && paid[word] & mask) atomicAnd(&paid[word], ~mask);
        if (also_paid && also_paid[word] & mask) atomicAnd(&also_paid[word], ~mask);
        if (!sent) continue;
        atomicAnd(&updated[word], ~mask);
        for (; forgets && sent; sent &= sent - 1)
            values[word * 32 + p_trailing_bit(sent)] = $Fold::identity();
    }
}

// The values of a set of proxies become the identity, and the set becomes empty.
extern "C" __global__ void $name_forget(u32* set, u32 proxies, $Value* values)
{
    for (u64 word = thread_of_grid(); word * 32 < proxies; word += threads_of_grid()) {
        for (u32 bits = set[word]; bits; bits &= bits - 1) {
            u64 proxy = word * 32 + p_trailing_bit(bits);
            if (proxy < proxies) values[proxy] = $Fold::identity();
        }
        set[word] = 0;
    }
}
