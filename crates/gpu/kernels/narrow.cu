// One cooperative launch for many steps of narrow frontiers. All threads wait for each other between
// steps. The launch ends when nothing is left, when more than `most` vertices are in a queue, or when one of
// them has a long row, which is work for the whole grid.

// Lanes that share the edges of a vertex.
const u32 LANES_PER_VERTEX = 4;
// A bit beside the length of a queue: one of its vertices has more than `MAX_EDGES_PER_VERTEX` edges.
const u32 HAS_LONG_ROW = 1u << 31;

// `counts` holds the lengths of the queues of three steps, in turns, and a queue has room for `room` vertices. A
// vertex improves once in a step, and is queued by the thread that improved it, if all labels of a frontier are
// equal (`is_level`); otherwise a bit in `active` tells whether it is queued.
extern "C" __global__ void relax_narrow(Program self, Label* labels, u32* active, u32* updated, Edges edges,
                                        u32* queue, u32* other_queue, u32 room, u32* counts, u32 most, u32 steps,
                                        u32 is_level, u64* edges_visited)
{
    u32 lane = lane_of_warp(), step = 0, count;
    u64 visited = 0, first_place = thread_of_grid() / LANES_PER_VERTEX;
    for (;; step++) {
        const volatile u32* now = step % 2 ? other_queue : queue;
        // This is loaded together with the length, which tells whether it is a vertex of the queue.
        LocalId first = first_place < room ? now[first_place] : 0;
        u32 length = ((volatile u32*)counts)[step % 3];
        count = length & ~HAS_LONG_ROW;
        if (step == steps || count == 0 || count > most || length != count) break;
        u32* then = step % 2 ? queue : other_queue;
        u32* then_count = &counts[(step + 1) % 3];
        if (thread_of_grid() == 0) counts[(step + 2) % 3] = 0;
        u64 padded = ((u64)count * LANES_PER_VERTEX + 31) / 32 * 32;
        for (u64 i = thread_of_grid(); i < padded; i += threads_of_grid()) {
            bool is_mine = i / LANES_PER_VERTEX < count;
            LocalId vertex = !is_mine ? 0 : i == thread_of_grid() ? first : now[i / LANES_PER_VERTEX];
            if (!is_level) {
                // A vertex that improves after this is queued again.
                if (is_mine && i % LANES_PER_VERTEX == 0) atomicAnd(&active[vertex >> 5], ~(1u << (vertex & 31)));
                __threadfence();
                __syncwarp();
            }
            Label label = is_mine ? load_now(&labels[vertex]) : Fold::identity();
            for (u64 part = 0; part < edges.num_parts; part++) {
                const Rows& rows = edges.parts[part];
                u64 edge = (is_mine ? rows.offsets[vertex] : 0) + i % LANES_PER_VERTEX;
                u64 end = is_mine ? rows.offsets[vertex + 1] : 0;
                for (; __any_sync(ALL_LANES, edge < end); edge += LANES_PER_VERTEX) {
                    bool is_new = false;
                    LocalId to = 0;
                    u64 degree = 0;
                    if (edge < end) {
                        to = rows.ends[edge];
                        visited++;
                        // Its row is loaded while its label is folded.
                        degree = degree_of(edges, to);
                        Weight weight = Weights<Weight>::at(rows.weights, edge);
#if FILTERS
                        if (passes(self, vertex, to, weight))
#endif
                        {
                            Label better = relax(self, label, weight);
                            is_new = is_level ? fold_at_once<Fold>(&labels[to], better)
                                              : fold_into<Fold>(&labels[to], better);
                        }
                        if (is_new && updated) set_bit(updated, to);
                        if (is_new && !is_level) {
                            // The label must be visible before the bit is looked at: its vertex clears the
                            // bit, then loads the label.
                            __threadfence();
                            is_new = set_bit(active, to);
                        }
                    }
                    u32 found = __ballot_sync(ALL_LANES, is_new), place = 0;
                    if (!found) continue;
                    if (lane == 0) place = atomicAdd(then_count, (u32)__popc(found)) & ~HAS_LONG_ROW;
                    place = __shfl_sync(ALL_LANES, place, 0);
                    if (is_new && degree > MAX_EDGES_PER_VERTEX) atomicOr(then_count, HAS_LONG_ROW);
                    if (is_new) then[place + (u32)__popc(found & ((1u << lane) - 1))] = to;
                }
            }
        }
        grid_sync();
    }
    // The other engines find the frontier in the set.
    const volatile u32* left = step % 2 ? other_queue : queue;
    for (u64 i = thread_of_grid(); is_level && i < count; i += threads_of_grid()) set_bit(active, left[i]);
    visited = sum_warp(visited);
    if (lane == 0 && visited) atomicAdd(edges_visited, visited);
}
