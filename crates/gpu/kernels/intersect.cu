// Common entries of sorted lists, for triangles `first < second < last`: a list belongs to `last`, an entry of it
// is `second`, and `first` is both among the entries before that one and on the list of `second`.
//
// Entries are shared out over lanes. A lane goes through the shorter of two lists and looks its entries up in
// the longer one; where the shorter one is long, the lanes of a warp share it.

struct Lists {
    const u64* ends;
    const u32* entries;
    // Multiplicities; null if all are 1.
    const unsigned char* weights;
};

const u32 NO_LIST = 0xffffffffu;
// A shorter list of at least this many entries is shared by the lanes of a warp.
const u64 MIN_ENTRIES_PER_WARP = 16;

DEVICE u32 weight_at(const Lists& lists, u64 place) { return lists.weights ? lists.weights[place] : 1u; }

// The first place whose entry is not less than a value.
DEVICE u64 lower_bound(const u32* entries, u64 begin, u64 end, u32 value)
{
    while (begin < end) {
        u64 middle = begin + (end - begin) / 2;
        if (entries[middle] < value) begin = middle + 1;
        else end = middle;
    }
    return begin;
}

// The list that a place is on.
DEVICE u32 list_at(const Lists& lists, u32 num_lists, u64 place)
{
    u32 low = 0, high = num_lists - 1;
    while (low < high) {
        u32 middle = low + (high - low + 1) / 2;
        if (lists.ends[middle] <= place) low = middle;
        else high = middle - 1;
    }
    return low;
}

// The entries before `second` on the list of `last`, and the list of `second`.
struct Pair {
    u64 begin;
    u64 end;
    u64 other_begin;
    u64 other_end;
    bool is_in_batch;

    DEVICE_MEMBER u64 shorter() const
    {
        u64 count = end - begin, other = other_end - other_begin;
        return count < other ? count : other;
    }
};

DEVICE Pair pair_at(const Lists& own, const Lists& batch, const u32* which, u32 with_own, u32 last, u64 place)
{
    u32 second = own.entries[place], number = which ? which[second] : NO_LIST;
    Pair pair = {own.ends[last], place, 0, 0, number != NO_LIST};
    const Lists& lists = pair.is_in_batch ? batch : own;
    if (!pair.is_in_batch) number = second;
    if (pair.is_in_batch || with_own) {
        pair.other_begin = lists.ends[number];
        pair.other_end = lists.ends[number + 1];
    }
    return pair;
}

// Looks up every `step`-th entry of the shorter list, from `lane` on.
DEVICE void count_pair(const Lists& own, const Lists& other, const Pair& pair, u32 last, u32 lane, u32 step,
                       u32* counts, u64* totals)
{
    u32 weight = weight_at(own, pair.end);
    u32 of_second = 0, of_last = 0;
    bool looks_up_own = pair.end - pair.begin <= pair.other_end - pair.other_begin;
    u64 from = looks_up_own ? pair.begin : pair.other_begin, to = looks_up_own ? pair.end : pair.other_end;
    const u32* entries = looks_up_own ? own.entries : other.entries;
    const u32* longer = looks_up_own ? other.entries : own.entries;
    u64 begin = looks_up_own ? pair.other_begin : pair.begin, end = looks_up_own ? pair.other_end : pair.end;
    for (u64 place = from + lane; place < to; place += step) {
        u32 first = entries[place];
        // Entries ascend: the next one is not before this one.
        begin = lower_bound(longer, begin, end, first);
        if (begin == end) break;
        if (longer[begin] != first) continue;
        u64 mine = looks_up_own ? place : begin, others = looks_up_own ? begin : place;
        atomicAdd(&counts[mine], weight);
        of_second += weight_at(own, mine);
        of_last += weight_at(other, others);
    }
    if (of_second) atomicAdd(&counts[pair.end], of_second);
    if (of_last) atomicAdd(&totals[last], (u64)of_last);
}

// `counts` are those of first and second vertices, by their places on the lists of last ones.
extern "C" __global__ void intersect_count(Lists own, Lists batch, const u32* which, u32 num_lists, u32 with_own,
                                           u32* counts, u64* totals, u64* visited)
{
    u64 num_entries = own.ends[num_lists], seen = 0;
    u32 lane = threadIdx.x % 32;
    for (u64 first = thread_of_grid() - lane; first < num_entries; first += threads_of_grid()) {
        u64 place = first + lane;
        u32 last = 0;
        Pair pair = {};
        if (place < num_entries) {
            last = list_at(own, num_lists, place);
            pair = pair_at(own, batch, which, with_own, last, place);
        }
        u64 entries = pair.shorter();
        seen += entries;
        if (entries > 0 && entries < MIN_ENTRIES_PER_WARP)
            count_pair(own, pair.is_in_batch ? batch : own, pair, last, 0, 1, counts, totals);
        u32 rest = __ballot_sync(0xffffffffu, entries >= MIN_ENTRIES_PER_WARP);
        for (; rest; rest &= rest - 1) {
            u32 of = p_trailing_bit(rest), shared_last = __shfl_sync(0xffffffffu, last, of);
            Pair shared = pair_at(own, batch, which, with_own, shared_last, first + of);
            count_pair(own, shared.is_in_batch ? batch : own, shared, shared_last, lane, 32, counts, totals);
        }
    }
    if (seen) atomicAdd(visited, seen);
}

// Adds the counts of places to those of the vertices there.
extern "C" __global__ void intersect_sum(Lists own, u32 num_lists, u32* counts, u64* totals)
{
    u64 num_entries = own.ends[num_lists];
    for (u64 place = thread_of_grid(); place < num_entries; place += threads_of_grid()) {
        if (!counts[place]) continue;
        atomicAdd(&totals[own.entries[place]], (u64)counts[place]);
        counts[place] = 0;
    }
}
