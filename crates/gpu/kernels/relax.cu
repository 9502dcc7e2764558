// Relaxations: labels that only improve travel along edges.

DEVICE void relax_edge(const Program& self, Label label, LocalId from, LocalId to, Weight weight,
                       Label* labels, u32* active, u32* updated)
{
#if FILTERS
    if (!passes(self, from, to, weight)) return;
#endif
    Label better = relax(self, label, weight);
    if (fold_into<Fold>(&labels[to], better)) {
        set_bit(active, to);
        if (updated) set_bit(updated, to);
    }
}

// The labels that vertices start with. Those that have one are active.
extern "C" __global__ void relax_start(Program self, const u32* globals, u32 proxies, Label* labels,
                                       u32* active)
{
    for (u64 i = thread_of_grid(); i < proxies; i += threads_of_grid()) {
        Option<Label> first = start(self, Vertex{(LocalId)i, (GlobalId)globals[i]});
        Label label = first.is_some ? first.value : Fold::identity();
        labels[i] = label;
        if (label != Fold::identity()) set_bit(active, (LocalId)i);
    }
}

// Lists the active vertices.
extern "C" __global__ void relax_list(const u32* active, u32 words, Edges edges, u32* queue, Chunk* chunks,
                                      Found* found)
{
    list_all(active, words, edges, queue, chunks, found);
}

// Lists the active vertices of buckets up to `last_bucket`, which leave the set, and finds the lowest
// bucket of those that stay.
extern "C" __global__ void relax_take(Program self, const Label* labels, u32* active, u32 words, Edges edges,
                                      u64 last_bucket, u32* queue, Chunk* chunks, Found* found)
{
    u64 waiting = 0;
    list_members(active, words, edges, queue, chunks, found,
                 [&](LocalId vertex) {
                     u64 mine = bucket(self, labels[vertex]);
                     if (mine > last_bucket && ~mine > waiting) waiting = ~mine;
                     return mine <= last_bucket;
                 },
                 [&](u64 word, u32 members, u32 taken) { if (taken) active[word] = members & ~taken; });
    for (u32 distance = 16; distance > 0; distance /= 2) {
        u64 other = __shfl_xor_sync(ALL_LANES, waiting, distance);
        waiting = other > waiting ? other : waiting;
    }
    if (lane_of_warp() == 0 && waiting) atomicMax(&found->waiting, waiting);
}

// Top-down: listed vertices spread their labels.
extern "C" __global__ void relax_push(Program self, Label* labels, u32* active, u32* updated, Edges edges,
                                      const u32* queue, const Chunk* chunks, const Found* found)
{
    each_edge(edges, queue, chunks, found, [&](LocalId from, LocalId to, Weight weight) {
        relax_edge(self, load_now(&labels[from]), from, to, weight, labels, active, updated);
    });
}

// A label that no vertex has.
extern "C" __global__ void relax_no_label(Label* label)
{
    if (thread_of_grid() == 0) *label = Fold::identity();
}

// The best label of the frontier.
extern "C" __global__ void relax_best(const Label* labels, const u32* frontier, u32 words, Label* best)
{
    Label mine = Fold::identity();
    for (u64 word = thread_of_grid(); word < words; word += threads_of_grid())
        for (u32 members = frontier[word]; members; members &= members - 1)
            mine = Fold::combine(mine, labels[word * 32 + p_trailing_bit(members)]);
    if (mine != Fold::identity()) fold_into<Fold>(best, mine);
}

// What a vertex would gain from one of its in-edges.
DEVICE Label gained(const Program& self, const Label* labels, const u32* frontier, const Rows& rows,
                    LocalId vertex, u64 edge, Label label)
{
    LocalId from = rows.ends[edge];
    if (!has_bit(frontier, from)) return label;
    Weight weight = Weights<Weight>::at(rows.weights, edge);
#if FILTERS
    if (!passes(self, from, vertex, weight)) return label;
#endif
    return Fold::combine(label, relax(self, load_now(&labels[from]), weight));
}

// Bottom-up where the first neighbour wins: every vertex looks through its in-edges for a neighbour in the
// frontier, until its label is as good as the best of the frontier can make it. The warp of a word of bits
// is the only one that writes it.
extern "C" __global__ void relax_pull_first(Program self, Label* labels, const u32* frontier, u32* active,
                                            u32* updated, Edges reverse, u32 proxies, const Label* best)
{
    u64 padded = ((u64)proxies + 31) / 32 * 32;
    Label target = relax(self, *best, Weight());
    for (u64 i = thread_of_grid(); i < padded; i += threads_of_grid()) {
        bool is_better = false;
        LocalId vertex = (LocalId)i;
        if (i < proxies) {
            Label old = labels[vertex], label = old;
            bool looks = Fold::combine(old, target) != old;
            for (u64 part = 0; looks && part < reverse.num_parts; part++) {
                const Rows& rows = reverse.parts[part];
                u64 end = rows.offsets[vertex + 1];
                for (u64 edge = rows.offsets[vertex]; looks && edge < end; edge++) {
                    label = gained(self, labels, frontier, rows, vertex, edge, label);
                    looks = Fold::combine(label, target) != label;
                }
            }
            is_better = label != old;
            if (is_better) labels[vertex] = label;
        }
        u32 bits = __ballot_sync(ALL_LANES, is_better);
        if (lane_of_warp() == 0 && bits) {
            active[i / 32] |= bits;
            if (updated) updated[i / 32] |= bits;
        }
    }
}

// Bottom-up along all in-edges: a lane takes a short row, the warp a long one.
extern "C" __global__ void relax_pull(Program self, Label* labels, const u32* frontier, u32* active,
                                      u32* updated, Edges reverse, u32 proxies)
{
    u32 lane = lane_of_warp();
    u64 padded = ((u64)proxies + 31) / 32 * 32;
    for (u64 i = thread_of_grid(); i < padded; i += threads_of_grid()) {
        LocalId vertex = (LocalId)i;
        Label old = i < proxies ? labels[vertex] : Fold::identity(), label = old;
        for (u64 part = 0; part < reverse.num_parts; part++) {
            const Rows& rows = reverse.parts[part];
            u64 begin = i < proxies ? rows.offsets[vertex] : 0;
            u64 end = i < proxies ? rows.offsets[vertex + 1] : 0;
            bool is_long = end - begin >= 32;
            for (u64 edge = begin; !is_long && edge < end; edge++)
                label = gained(self, labels, frontier, rows, vertex, edge, label);
            for (u32 rest = __ballot_sync(ALL_LANES, is_long); rest; rest &= rest - 1) {
                u32 of = p_trailing_bit(rest);
                LocalId row = __shfl_sync(ALL_LANES, vertex, of);
                u64 stop = __shfl_sync(ALL_LANES, end, of);
                Label mine = Fold::identity();
                for (u64 edge = __shfl_sync(ALL_LANES, begin, of) + lane; edge < stop; edge += 32)
                    mine = gained(self, labels, frontier, rows, row, edge, mine);
                mine = fold_warp<Fold>(mine);
                if (lane == of) label = Fold::combine(label, mine);
            }
        }
        bool is_better = label != old;
        if (is_better) labels[vertex] = label;
        u32 bits = __ballot_sync(ALL_LANES, is_better);
        if (lane == 0 && bits) {
            active[i / 32] |= bits;
            if (updated) updated[i / 32] |= bits;
        }
    }
}
