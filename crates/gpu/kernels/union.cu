// Union-find with sampling: Afforest (Sutton, Ben-Nun, Barak, IPDPS'18).
//
// Each proxy points to a parent of no greater id. Components of the host's own edges are joined once;
// after that, labels travel inside a component at once, and only between hosts in rounds.

// Loads may come from a processor's own cache and be old: an old parent is an ancestor, too, and `join`
// finds out when it writes. Nearly all proxies end at one root, which every processor then has at hand.
DEVICE LocalId root_of(const u32* parents, LocalId proxy)
{
    for (;;) {
        LocalId parent = parents[proxy];
        if (parent == proxy) return proxy;
        proxy = parent;
    }
}

DEVICE void join(u32* parents, LocalId a, LocalId b)
{
    a = root_of(parents, a);
    b = root_of(parents, b);
    while (a != b) {
        LocalId high = a > b ? a : b, low = a > b ? b : a;
        u32 found = atomicCAS(&parents[high], high, low);
        if (found == high) return;
        a = root_of(parents, found);
        b = root_of(parents, low);
    }
}

extern "C" __global__ void union_start(u32* parents, u32 proxies)
{
    for (u64 i = thread_of_grid(); i < proxies; i += threads_of_grid()) parents[i] = (u32)i;
}

// Joins every vertex with one neighbour, the `number`-th.
extern "C" __global__ void union_sample(u32* parents, u32 proxies, Edges edges, u32 number)
{
    for (u64 i = thread_of_grid(); i < proxies; i += threads_of_grid()) {
        const Rows& rows = edges.parts[0];
        u64 edge = (u64)rows.offsets[i] + number;
        if (edge < rows.offsets[i + 1]) join(parents, (LocalId)i, rows.ends[edge]);
    }
}

// Every proxy points to the root of its tree.
extern "C" __global__ void union_compress(u32* parents, u32 proxies)
{
    for (u64 i = thread_of_grid(); i < proxies; i += threads_of_grid())
        parents[i] = root_of(parents, (LocalId)i);
}

// The set of the vertices outside a component. The warp of a word of bits writes it.
extern "C" __global__ void union_outside(const u32* parents, u32 proxies, u32 component, u32* outside)
{
    u64 padded = ((u64)proxies + 31) / 32 * 32;
    for (u64 i = thread_of_grid(); i < padded; i += threads_of_grid()) {
        u32 bits = __ballot_sync(ALL_LANES, i < proxies && parents[i] != component);
        if (lane_of_warp() == 0) outside[i / 32] = bits;
    }
}

// Lists the members of a set.
extern "C" __global__ void union_list(const u32* members, u32 words, Edges edges, u32* queue, Chunk* chunks,
                                      Found* found)
{
    list_all(members, words, edges, queue, chunks, found);
}

// Joins the ends of the edges of listed vertices, unless neither is outside the largest component. Two
// bits answer that for most edges, and stay in the cache where parents would not.
extern "C" __global__ void union_join(u32* parents, const u32* outside, Edges edges, const u32* queue,
                                      const Chunk* chunks, const Found* found)
{
    each_edge(edges, queue, chunks, found, [&](LocalId from, LocalId to, Weight) {
        if (has_bit(outside, from) || has_bit(outside, to)) join(parents, from, to);
    });
}

// The best label of each component goes to its root.
extern "C" __global__ void union_gather(const u32* parents, u32 proxies, const u32* members,
                                        const Label* labels, Label* best)
{
    for (u64 i = thread_of_grid(); i < proxies; i += threads_of_grid())
        if (!members || has_bit(members, (LocalId)i)) {
            Label* cell = &best[parents[i]];
            // An old value only ever asks for one fold too many.
            Label known = *cell;
            if (Fold::combine(known, labels[i]) != known) fold_into<Fold>(cell, labels[i]);
        }
}

// Every proxy takes the label of its component.
extern "C" __global__ void union_spread(const u32* parents, u32 proxies, const Label* best, Label* labels,
                                        u32* updated)
{
    for (u64 i = thread_of_grid(); i < proxies; i += threads_of_grid()) {
        Label label = best[parents[i]];
        if (label == labels[i]) continue;
        labels[i] = label;
        if (updated) set_bit(updated, (LocalId)i);
    }
}
