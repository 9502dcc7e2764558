// Vertex programs: messages travel along edges, contributions are folded, masters apply them.

DEVICE Vertex vertex_at(const u32* globals, u64 local)
{
    return Vertex{(LocalId)local, (GlobalId)globals[local]};
}

// The first states of masters and their first messages.
extern "C" __global__ void vertex_init(Program self, const u32* globals, u32 masters, u32 proxies,
                                       State* states, Message* messages, Accumulated* accumulated,
                                       u32* active, u32* updated)
{
    for (u64 i = thread_of_grid(); i < proxies; i += threads_of_grid()) {
        messages[i] = Messages::identity();
        accumulated[i] = Fold::identity();
        if (i >= masters) continue;
        Vertex vertex = vertex_at(globals, i);
        State state = init(self, vertex);
        states[i] = state;
        Option<Message> message = scatter(self, vertex, state);
        if (message.is_some) {
            messages[i] = message.value;
            set_bit(active, (LocalId)i);
            if (updated) set_bit(updated, (LocalId)i);
        }
    }
}

// Lists the active vertices.
extern "C" __global__ void vertex_list(const u32* active, u32 words, Edges edges, u32* queue, Chunk* chunks,
                                       Found* found)
{
    list_all(active, words, edges, queue, chunks, found);
}

// Listed vertices spread their messages.
extern "C" __global__ void vertex_push(Program self, const Message* messages, Accumulated* accumulated,
                                       u32* touched, Edges edges, const u32* queue, const Chunk* chunks,
                                       const Found* found)
{
    each_edge(edges, queue, chunks, found, [&](LocalId from, LocalId to, Weight weight) {
        fold_into<Fold>(&accumulated[to], along(self, messages[from], weight));
        set_bit(touched, to);
    });
}

// Edges whose messages a thread asks for before it folds the first.
const u32 EDGES_AT_ONCE = 4;

// What one thread of `step` folds of a row, every `step`-th edge from its own on, in their order.
// `senders` limits what is collected to vertices with a message.
DEVICE Accumulated collect(const Program& self, const Message* messages, const u32* senders,
                           const Edges& reverse, LocalId row, u32 first, u32 step, bool* any)
{
    Accumulated all = Fold::identity();
    for (u64 part = 0; part < reverse.num_parts; part++) {
        const Rows& rows = reverse.parts[part];
        u64 edge = rows.offsets[row] + first, end = rows.offsets[row + 1];
        *any |= !senders && edge < end;
        for (; !senders && edge + (EDGES_AT_ONCE - 1) * (u64)step < end; edge += EDGES_AT_ONCE * (u64)step) {
            LocalId from[EDGES_AT_ONCE];
            Message message[EDGES_AT_ONCE];
            for (u32 i = 0; i < EDGES_AT_ONCE; i++) from[i] = rows.ends[edge + i * (u64)step];
            for (u32 i = 0; i < EDGES_AT_ONCE; i++) message[i] = messages[from[i]];
            for (u32 i = 0; i < EDGES_AT_ONCE; i++)
                all = Fold::combine(all, along(self, message[i], Weights<Weight>::at(rows.weights, edge + i * (u64)step)));
        }
        for (; edge < end; edge += step) {
            LocalId from = rows.ends[edge];
            if (senders && !has_bit(senders, from)) continue;
            all = Fold::combine(all, along(self, messages[from], Weights<Weight>::at(rows.weights, edge)));
            *any = true;
        }
    }
    return all;
}

// Rows of few edges: one thread each.
extern "C" __global__ void vertex_pull_thread(Program self, const Message* messages, const u32* senders,
                                              Edges reverse, const u32* list, u32 count,
                                              Accumulated* accumulated, u32* touched)
{
    for (u64 i = thread_of_grid(); i < count; i += threads_of_grid()) {
        bool any = false;
        Accumulated all = collect(self, messages, senders, reverse, list[i], 0, 1, &any);
        if (any) {
            accumulated[list[i]] = all;
            if (touched) set_bit(touched, list[i]);
        }
    }
}

// Rows of more edges: one warp each. The order of folding depends on the row alone.
extern "C" __global__ void vertex_pull_warp(Program self, const Message* messages, const u32* senders,
                                            Edges reverse, const u32* list, u32 count,
                                            Accumulated* accumulated, u32* touched)
{
    u32 lane = lane_of_warp();
    for (u64 i = thread_of_grid() / 32; i < count; i += threads_of_grid() / 32) {
        bool any = false;
        Accumulated all = collect(self, messages, senders, reverse, list[i], lane, 32, &any);
        all = fold_warp<Fold>(all);
        any = __any_sync(ALL_LANES, any);
        if (lane == 0 && any) {
            accumulated[list[i]] = all;
            if (touched) set_bit(touched, list[i]);
        }
    }
}

// Rows of very many edges: one block each.
extern "C" __global__ void vertex_pull_block(Program self, const Message* messages, const u32* senders,
                                             Edges reverse, const u32* list, u32 count,
                                             Accumulated* accumulated, u32* touched)
{
    __shared__ Accumulated sums[1024];
    for (u32 i = blockIdx.x; i < count; i += gridDim.x) {
        bool any = false;
        sums[threadIdx.x] = collect(self, messages, senders, reverse, list[i], threadIdx.x, blockDim.x, &any);
        any = __syncthreads_or(any);
        for (u32 half = blockDim.x / 2; half > 0; half /= 2) {
            if (threadIdx.x < half)
                sums[threadIdx.x] = Fold::combine(sums[threadIdx.x], sums[threadIdx.x + half]);
            __syncthreads();
        }
        if (threadIdx.x == 0 && any) {
            accumulated[list[i]] = sums[0];
            if (touched) set_bit(touched, list[i]);
        }
        __syncthreads();
    }
}

DEVICE void add_tally(Tally& mine, const Tally& other)
{
    mine.changed += other.changed;
    for (u32 i = 0; i < 4; i++) mine.sums[i] += other.sums[i];
    for (u32 i = 0; i < 4; i++) mine.counts[i] += other.counts[i];
    for (u32 i = 0; i < 2; i++) mine.least[i] = other.least[i] < mine.least[i] ? other.least[i] : mine.least[i];
    for (u32 i = 0; i < 2; i++)
        mine.greatest[i] = other.greatest[i] > mine.greatest[i] ? other.greatest[i] : mine.greatest[i];
}

DEVICE Tally empty_tally()
{
    Tally tally = {};
    for (u32 i = 0; i < 2; i++) {
        tally.least[i] = Numbers<f64>::INFINITY_();
        tally.greatest[i] = Numbers<f64>::NEG_INFINITY_();
    }
    return tally;
}

// Adds up the tallies of a block's threads, at the first.
DEVICE void sum_block(Tally* shared, const Tally& mine)
{
    shared[threadIdx.x] = mine;
    __syncthreads();
    for (u32 half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) add_tally(shared[threadIdx.x], shared[threadIdx.x + half]);
        __syncthreads();
    }
}

// Masters apply what has arrived; all of them if `everywhere`. What they send needs no mark if all send in
// every round: `stationary`. Each block adds up its tallies in a fixed order.
extern "C" __global__ void vertex_apply(Program self, const u32* globals, u32 masters, u32 everywhere,
                                        u32 stationary, State* states, Message* messages, Accumulated* accumulated,
                                        const u32* touched, u32* active, u32* updated, Tally* tallies)
{
    __shared__ Tally shared[128];
    Tally tally = empty_tally();
    for (u64 i = thread_of_grid(); i < masters; i += threads_of_grid()) {
        if (!everywhere && !has_bit(touched, (LocalId)i)) continue;
        Vertex vertex = vertex_at(globals, i);
        State state = states[i];
        bool sends = apply(self, vertex, state, accumulated[i], tally);
        accumulated[i] = Fold::identity();
        states[i] = state;
        if (!sends) continue;
        tally.changed++;
        Option<Message> message = scatter(self, vertex, state);
        if (!message.is_some) continue;
        messages[i] = message.value;
        if (stationary) continue;
        set_bit(active, (LocalId)i);
        if (updated) set_bit(updated, (LocalId)i);
    }
    sum_block(shared, tally);
    if (threadIdx.x == 0) tallies[blockIdx.x] = shared[0];
}

// One block: the sum of the blocks' tallies, in a fixed order, in place of the first.
extern "C" __global__ void vertex_sum_tallies(Tally* tallies, u32 count)
{
    __shared__ Tally shared[128];
    Tally tally = empty_tally();
    for (u32 i = threadIdx.x; i < count; i += blockDim.x) add_tally(tally, tallies[i]);
    sum_block(shared, tally);
    if (threadIdx.x == 0) tallies[0] = shared[0];
}

// Forgets the messages of these vertices.
extern "C" __global__ void vertex_forget(const u32* members, u32 words, Message* messages)
{
    for (u64 word = thread_of_grid(); word < words; word += threads_of_grid())
        for (u32 bits = members[word]; bits; bits &= bits - 1)
            messages[word * 32 + p_trailing_bit(bits)] = Messages::identity();
}
