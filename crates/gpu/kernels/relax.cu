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

// Bottom-up: every vertex looks through its in-edges for neighbours in the frontier. The warp of a word
// of bits is the only one that writes it.
extern "C" __global__ void relax_pull(Program self, Label* labels, const u32* frontier, u32* active,
                                      u32* updated, Edges reverse, u32 proxies, u32 first_wins,
                                      const Label* best)
{
    u64 padded = ((u64)proxies + 31) / 32 * 32;
    for (u64 i = thread_of_grid(); i < padded; i += threads_of_grid()) {
        bool is_better = false;
        LocalId vertex = (LocalId)i;
        if (i < proxies) {
            Label old = labels[vertex], label = old;
            // Labels of one level are equal, so the first neighbour found gives the best there is.
            Label target = first_wins ? relax(self, *best, Weight()) : old;
            bool looks = !first_wins || Fold::combine(old, target) != old;
            for (u64 part = 0; looks && part < reverse.num_parts; part++) {
                const Rows& rows = reverse.parts[part];
                u64 end = rows.offsets[vertex + 1];
                for (u64 edge = rows.offsets[vertex]; looks && edge < end; edge++) {
                    LocalId from = rows.ends[edge];
                    if (!has_bit(frontier, from)) continue;
                    Weight weight = Weights<Weight>::at(rows.weights, edge);
#if FILTERS
                    if (!passes(self, from, vertex, weight)) continue;
#endif
                    label = Fold::combine(label, relax(self, load_now(&labels[from]), weight));
                    if (first_wins) looks = Fold::combine(label, target) != label;
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

// One cooperative launch for many steps of narrow frontiers: threads take a vertex each, and all wait
// for each other between steps. Ends when nothing is left, or more than `most` vertices are in a queue.
// `found[0]` and `found[1]` count the vertices in the two queues, in turns.
extern "C" __global__ void relax_narrow(Program self, Label* labels, u32* active, u32* updated, Edges edges,
                                        u32* queue, u32* other_queue, u32* counts, u32 most, u32 steps,
                                        u64* edges_visited)
{
    u64 visited = 0;
    for (u32 step = 0; step < steps; step++) {
        u32* now = step % 2 ? other_queue : queue;
        u32* then = step % 2 ? queue : other_queue;
        u32 count = ((volatile u32*)counts)[step % 3];
        if (count == 0 || count > most) break;
        if (thread_of_grid() == 0) counts[(step + 2) % 3] = 0;
        for (u64 i = thread_of_grid(); i < count; i += threads_of_grid()) {
            LocalId vertex = ((volatile u32*)now)[i];
            // A vertex that improves after this is queued again.
            atomicAnd(&active[vertex >> 5], ~(1u << (vertex & 31)));
            __threadfence();
            Label label = load_now(&labels[vertex]);
            for (u64 part = 0; part < edges.num_parts; part++) {
                const Rows& rows = edges.parts[part];
                u64 end = rows.offsets[vertex + 1];
                for (u64 edge = rows.offsets[vertex]; edge < end; edge++, visited++) {
                    LocalId to = rows.ends[edge];
                    Weight weight = Weights<Weight>::at(rows.weights, edge);
#if FILTERS
                    if (!passes(self, vertex, to, weight)) continue;
#endif
                    if (fold_into<Fold>(&labels[to], relax(self, label, weight))) {
                        if (updated) set_bit(updated, to);
                        // The label must be visible before the bit is looked at: its vertex clears the bit, then loads the label.
                        __threadfence();
                        if (set_bit(active, to)) then[atomicAdd(&counts[(step + 1) % 3], 1u)] = to;
                    }
                }
            }
        }
        grid_sync();
    }
    if (visited) atomicAdd(edges_visited, visited);
}
