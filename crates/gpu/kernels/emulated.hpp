// CUDA's names on a processor, so that kernels are tested without a GPU.
//
// A thread of a kernel is a fiber. It runs until it waits for other threads, or ends. All fibers of
// a launch run on one thread of the host, so that atomic operations are plain ones. Blocks run one
// after another, except in a cooperative launch. The order of blocks and threads depends on a seed.
//
// `__shared__` variables are the thread-local ones of this module. Their contents belong to the block
// that runs, and are exchanged when another block goes on. They start as 0xCD, as fresh device memory
// does. (A section of their own would do, too, but g++ ignores sections in templates.)
//
// `__global__` stays undefined here: the driver looks for it in the preprocessed text.

#define PARTON_EMULATED 1

#include <link.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ucontext.h>
#endif
#include <utility>

#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __shared__ static thread_local
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

struct uint3 { unsigned int x, y, z; };
struct __align__(8) int2 { int x, y; };
struct __align__(8) uint2 { unsigned int x, y; };
struct __align__(16) int4 { int x, y, z, w; };
struct __align__(16) uint4 { unsigned int x, y, z, w; };
struct __align__(8) float2 { float x, y; };
struct __align__(16) float4 { float x, y, z, w; };
struct __align__(16) double2 { double x, y; };
struct __align__(16) longlong2 { long long x, y; };
struct __align__(16) ulonglong2 { unsigned long long x, y; };

static uint3 threadIdx, blockIdx, blockDim, gridDim;
static const int warpSize = 32;

namespace parton_emulated {

typedef unsigned int u32;
typedef unsigned long long u64;

const u32 WARP = 32;
const u64 UNDEFINED = 0xCDCDCDCDCDCDCDCDull;
const size_t STACK_BYTES = 128 << 10;
const size_t GUARD_BYTES = 64 << 10;
// Rounds in which threads do nothing but `__nanosleep`, until they count as lost.
const u32 MAX_IDLE_ROUNDS = 1 << 18;

// ---- Fibers ----

#if defined(__x86_64__)

struct Context { void* stack_pointer; };
extern "C" void parton_switch(void** from, void* to) __attribute__((visibility("hidden")));
asm(R"(
    .text
    .hidden parton_switch
    .type parton_switch, @function
parton_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size parton_switch, . - parton_switch
)");
static void switch_context(Context& from, Context& to)
{
    parton_switch(&from.stack_pointer, to.stack_pointer);
}
static void prepare(Context& context, char* stack, size_t bytes, void (*start)())
{
    // Where `ret` finds the function, and a return address for it, which it never uses.
    void** top = (void**)(stack + bytes);
    *--top = nullptr;
    *--top = (void*)start;
    for (int i = 0; i < 6; i++) *--top = nullptr;
    context.stack_pointer = top;
}

#elif defined(__aarch64__)

struct Context { void* stack_pointer; };
extern "C" void parton_switch(void** from, void* to) __attribute__((visibility("hidden")));
asm(R"(
    .text
    .hidden parton_switch
    .type parton_switch, %function
parton_switch:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
    .size parton_switch, . - parton_switch
)");
static void switch_context(Context& from, Context& to)
{
    parton_switch(&from.stack_pointer, to.stack_pointer);
}
static void prepare(Context& context, char* stack, size_t bytes, void (*start)())
{
    char* top = stack + bytes - 160;
    memset(top, 0, 160);
    ((void**)top)[11] = (void*)start;
    context.stack_pointer = top;
}

#else

struct Context { ucontext_t saved; };
static void switch_context(Context& from, Context& to) { swapcontext(&from.saved, &to.saved); }
static void prepare(Context& context, char* stack, size_t bytes, void (*start)())
{
    getcontext(&context.saved);
    context.saved.uc_stack.ss_sp = stack;
    context.saved.uc_stack.ss_size = bytes;
    context.saved.uc_link = nullptr;
    makecontext(&context.saved, start, 0);
}

#endif

// ---- A launch ----

enum State { READY, YIELDED, AT_WARP, AT_BLOCK, AT_GRID, DONE };
enum Operation { SYNC, BALLOT, MATCH, SHUFFLE, SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_XOR, COUNT, OR, AND };

struct Fiber {
    Context context;
    char* stack;
    u32 state, block, thread;
    // What it waits for with its warp, and what comes of that.
    u32 operation, mask, argument, width, members;
    u64 value, result;
};

struct Block {
    u32 index, done, waiting, operation, count;
    char* shared;
};

struct Launch {
    void (*call)(void**);
    void** arguments;
    u32 blocks, threads, is_cooperative;
    u64 seed;
};

static Launch launch;
static Fiber* fibers;
static Block* blocks;
static u32 num_fibers, num_blocks, alive_blocks, at_grid;
static Fiber* current;
static Context scheduler;
static char failure[512];
// All shared variables, where the thread of the host that runs this launch has them.
static char* shared;
static size_t shared_bytes;

static u64 random_number()
{
    launch.seed ^= launch.seed << 13;
    launch.seed ^= launch.seed >> 7;
    launch.seed ^= launch.seed << 17;
    return launch.seed;
}

static void give_way() { switch_context(current->context, scheduler); }

// Ends the launch. The fiber that calls it never goes on.
[[noreturn]] __attribute__((format(printf, 1, 2))) static void fail(const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(failure, sizeof failure, format, arguments);
    va_end(arguments);
    give_way();
    __builtin_unreachable();
}

static Block& own_block() { return blocks[current->block]; }
static Fiber* fiber_of(u32 block, u32 thread) { return fibers + block * launch.threads + thread; }

static u32 wait_for_block(u32 operation, bool predicate)
{
    Block& block = own_block();
    if (block.done)
        fail("block %u: thread %u waits for a thread of its block that has ended", block.index,
             current->thread);
    if (block.waiting == 0) {
        block.operation = operation;
        block.count = 0;
    } else if (block.operation != operation) {
        fail("block %u: threads of a block wait at different barriers", block.index);
    }
    block.count += predicate;
    if (++block.waiting < launch.threads) {
        current->state = AT_BLOCK;
        give_way();
        return (u32)current->result;
    }
    u32 result = operation == OR ? block.count > 0
        : operation == AND ? block.count == launch.threads : block.count;
    for (u32 thread = 0; thread < launch.threads; thread++) {
        fiber_of(current->block, thread)->result = result;
        fiber_of(current->block, thread)->state = READY;
    }
    block.waiting = 0;
    return result;
}

static void wait_for_grid()
{
    if (!launch.is_cooperative) fail("grid_sync in a launch that is not cooperative");
    for (u32 block = 0; block < alive_blocks; block++)
        if (blocks[block].done) fail("grid_sync waits for threads that have ended");
    if (++at_grid < launch.blocks * launch.threads) {
        current->state = AT_GRID;
        give_way();
        return;
    }
    at_grid = 0;
    for (u32 i = 0; i < launch.blocks * launch.threads; i++) fibers[i].state = READY;
}

// The lane that a lane reads from, or its own.
static u32 source_lane(const Fiber& fiber, u32 lane)
{
    u32 first = lane & ~(fiber.width - 1), last = first + fiber.width - 1;
    switch (fiber.operation) {
    case SHUFFLE: return first + (fiber.argument & (fiber.width - 1));
    case SHUFFLE_UP: return fiber.argument > lane - first ? lane : lane - fiber.argument;
    case SHUFFLE_DOWN: return fiber.argument > last - lane ? lane : lane + fiber.argument;
    default: return (lane ^ fiber.argument) > last ? lane : lane ^ fiber.argument;
    }
}

// Completes an operation of a warp if all lanes of the mask that have not ended wait for it.
static bool complete_warp(Fiber* warp, u32 lanes, u32 mask, u32 operation)
{
    u32 members = 0, ballot = 0;
    for (u32 lane = 0; lane < lanes; lane++) {
        Fiber& fiber = warp[lane];
        if (!(mask >> lane & 1) || fiber.state == DONE) continue;
        if (fiber.state != AT_WARP || fiber.mask != mask || fiber.operation != operation)
            return false;
        members |= 1u << lane;
        ballot |= (u32)(fiber.value != 0) << lane;
    }
    for (u32 lane = 0; lane < lanes; lane++) {
        Fiber& fiber = warp[lane];
        if (!(members >> lane & 1)) continue;
        fiber.members = members;
        fiber.result = ballot;
        if (operation == MATCH) {
            fiber.result = 0;
            for (u32 other = 0; other < lanes; other++)
                if (members >> other & 1 && warp[other].value == fiber.value)
                    fiber.result |= 1u << other;
        } else if (operation >= SHUFFLE) {
            u32 source = source_lane(fiber, lane);
            fiber.result = members >> source & 1 ? warp[source].value : UNDEFINED;
        }
    }
    for (u32 lane = 0; lane < lanes; lane++)
        if (members >> lane & 1) warp[lane].state = READY;
    return members != 0;
}

static u32 lanes_of(u32 warp_start)
{
    return launch.threads - warp_start < WARP ? launch.threads - warp_start : WARP;
}

static u64 wait_for_warp(u32 operation, u32 mask, u64 value, u32 argument, u32 width)
{
    u32 lane = current->thread % WARP, start = current->thread - lane;
    if (!(mask >> lane & 1))
        fail("block %u: thread %u is not in the mask %#x of its warp operation",
             own_block().index, current->thread, mask);
    current->operation = operation;
    current->mask = mask;
    current->value = value;
    current->argument = argument;
    current->width = width;
    current->state = AT_WARP;
    if (!complete_warp(fiber_of(current->block, start), lanes_of(start), mask, operation))
        give_way();
    return current->result;
}

static void run_thread()
{
    launch.call(launch.arguments);
    Block& block = own_block();
    current->state = DONE;
    block.done++;
    if (block.waiting)
        fail("block %u: thread %u has ended, and threads of its block wait for it", block.index,
             current->thread);
    if (at_grid) fail("grid_sync waits for threads that have ended");
    // Lanes of its warp need no longer wait for it.
    u32 start = current->thread / WARP * WARP, lanes = lanes_of(start);
    Fiber* warp = fiber_of(current->block, start);
    for (u32 lane = 0; lane < lanes; lane++)
        if (warp[lane].state == AT_WARP)
            complete_warp(warp, lanes, warp[lane].mask, warp[lane].operation);
    give_way();
    __builtin_unreachable();
}

// ---- The scheduler ----

// There is a thread-local variable even if no kernel shares anything.
__shared__ u64 any_shared;

// Where a thread has the thread-local variables of a library: a function of the C library, which allocates
// them if need be. `dlpi_tls_data` may be null while other threads load libraries.
struct TlsIndex { unsigned long module, offset; };
extern "C" void* __tls_get_addr(TlsIndex*);

// Called with each loaded library, until it is the one that this text became.
static int find_shared(dl_phdr_info* library, size_t, void* module)
{
    bool is_own = false;
    size_t bytes = 0;
    for (int i = 0; i < library->dlpi_phnum; i++) {
        const ElfW(Phdr)& part = library->dlpi_phdr[i];
        size_t offset = (size_t)&launch - library->dlpi_addr;
        is_own |= part.p_type == PT_LOAD && offset - part.p_vaddr < part.p_memsz;
        if (part.p_type == PT_TLS) bytes = part.p_memsz;
    }
    if (!is_own) return 0;
    *(unsigned long*)module = library->dlpi_tls_modid;
    shared_bytes = bytes;
    return 1;
}

static bool reserve(u32 wanted_blocks)
{
    *(volatile u64*)&any_shared = 0;
    TlsIndex index = {0, 0};
    dl_iterate_phdr(find_shared, &index.module);
    shared = (char*)__tls_get_addr(&index);
    size_t wanted = (size_t)wanted_blocks * launch.threads;
    if (wanted > num_fibers) {
        fibers = (Fiber*)realloc((void*)fibers, wanted * sizeof(Fiber));
        for (; num_fibers < wanted; num_fibers++) {
            void* stack = mmap(nullptr, GUARD_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (stack == MAP_FAILED || mprotect(stack, GUARD_BYTES, PROT_NONE) != 0) return false;
            fibers[num_fibers].stack = (char*)stack + GUARD_BYTES;
        }
    }
    if (wanted_blocks > num_blocks) {
        blocks = (Block*)realloc((void*)blocks, wanted_blocks * sizeof(Block));
        for (; num_blocks < wanted_blocks; num_blocks++)
            blocks[num_blocks].shared = (char*)malloc(shared_bytes);
    }
    return true;
}

__attribute__((destructor)) static void release()
{
    for (u32 i = 0; i < num_fibers; i++)
        munmap(fibers[i].stack - GUARD_BYTES, GUARD_BYTES + STACK_BYTES);
    for (u32 i = 0; i < num_blocks; i++) free(blocks[i].shared);
    free(fibers);
    free(blocks);
}

static void start_block(u32 slot, u32 index)
{
    blocks[slot] = Block {index, 0, 0, 0, 0, blocks[slot].shared};
    memset(blocks[slot].shared, 0xCD, shared_bytes);
    for (u32 thread = 0; thread < launch.threads; thread++) {
        Fiber& fiber = *fiber_of(slot, thread);
        fiber.block = slot;
        fiber.thread = thread;
        fiber.state = READY;
        prepare(fiber.context, fiber.stack, STACK_BYTES, run_thread);
    }
}

// Runs threads of a block until all of them wait.
static void run_block(u32 slot)
{
    Block& block = blocks[slot];
    memcpy(shared, block.shared, shared_bytes);
    blockIdx.x = block.index;
    for (bool is_stuck = false; !is_stuck && !*failure;) {
        is_stuck = true;
        u32 first = random_number() % launch.threads;
        bool is_backwards = random_number() & 1024;
        for (u32 i = 0; i < launch.threads && !*failure; i++) {
            u32 step = is_backwards ? launch.threads - i : i;
            current = fiber_of(slot, (first + step) % launch.threads);
            if (current->state != READY) continue;
            is_stuck = false;
            threadIdx.x = current->thread;
            switch_context(scheduler, current->context);
        }
    }
    memcpy(block.shared, shared, shared_bytes);
}

static void explain_deadlock(u32 slots)
{
    u32 counts[6] = {0, 0, 0, 0, 0, 0};
    for (u32 i = 0; i < slots * launch.threads; i++) counts[fibers[i].state]++;
    snprintf(failure, sizeof failure,
             "threads of a block wait at different barriers: %u in a warp operation, %u at "
             "__syncthreads, %u at grid_sync, %u have ended",
             counts[AT_WARP], counts[AT_BLOCK], counts[AT_GRID], counts[DONE]);
}

// Runs blocks that are alive together until all have ended, or one fails.
static void run_blocks(u32 slots)
{
    alive_blocks = slots;
    for (u32 idle_rounds = 0; !*failure;) {
        u32 first = random_number() % slots, done = 0;
        bool has_yielded = false;
        for (u32 i = 0; i < slots && !*failure; i++) run_block((first + i) % slots);
        if (*failure) return;
        for (u32 slot = 0; slot < slots; slot++) done += blocks[slot].done;
        if (done == slots * launch.threads) return;
        bool is_all_waiting = true;
        for (u32 i = 0; i < slots * launch.threads; i++) {
            has_yielded |= fibers[i].state == YIELDED;
            is_all_waiting &= fibers[i].state != READY;
            if (fibers[i].state == YIELDED) fibers[i].state = READY;
        }
        if (is_all_waiting && !has_yielded) return explain_deadlock(slots);
        idle_rounds = has_yielded ? idle_rounds + 1 : 0;
        if (idle_rounds == MAX_IDLE_ROUNDS)
            snprintf(failure, sizeof failure, "threads wait for something that never happens");
    }
}

// What the driver finds for each kernel.
struct Entry {
    unsigned long num_parameters;
    const unsigned long* sizes;
    void (*call)(void**);
};

template <typename Function> struct Signature;
template <typename... Parameters> struct Signature<void(Parameters...)> {
    static constexpr unsigned long sizes[] = {sizeof(Parameters)..., 0};

    template <void (*kernel)(Parameters...), size_t... i>
    static void expand(void** arguments, std::index_sequence<i...>)
    {
        kernel(*(Parameters*)arguments[i]...);
        (void)arguments;
    }
    template <void (*kernel)(Parameters...)> static void call(void** arguments)
    {
        expand<kernel>(arguments, std::index_sequence_for<Parameters...>());
    }
    template <void (*kernel)(Parameters...)> static Entry entry()
    {
        return Entry {sizeof...(Parameters), sizes, call<kernel>};
    }
};

// ---- CUDA's functions ----

template <typename T> static u64 to_bits(T value)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "lanes exchange 32 or 64 bits");
    u64 bits = 0;
    memcpy(&bits, &value, sizeof value);
    return bits;
}

template <typename T> static T from_bits(u64 bits)
{
    T value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

} // namespace parton_emulated

extern "C" __attribute__((visibility("default"))) const char* parton_emulated_launch(
    const parton_emulated::Launch* launch)
{
    using namespace parton_emulated;
    parton_emulated::launch = *launch;
    *failure = 0;
    at_grid = 0;
    threadIdx = blockIdx = uint3 {0, 0, 0};
    blockDim = uint3 {launch->threads, 1, 1};
    gridDim = uint3 {launch->blocks, 1, 1};
    u32 slots = launch->is_cooperative ? launch->blocks : 1;
    if (!reserve(slots)) return "no memory for the stacks of threads";
    if (launch->is_cooperative) {
        for (u32 block = 0; block < slots; block++) start_block(block, block);
        run_blocks(slots);
    } else {
        u32 first = random_number() % launch->blocks;
        for (u32 i = 0; i < launch->blocks && !*failure; i++) {
            start_block(0, (first + i) % launch->blocks);
            run_blocks(1);
        }
    }
    return *failure ? failure : nullptr;
}

inline void grid_sync() { parton_emulated::wait_for_grid(); }
inline void __syncthreads()
{
    parton_emulated::wait_for_block(parton_emulated::SYNC, false);
}
inline int __syncthreads_count(int predicate)
{
    return parton_emulated::wait_for_block(parton_emulated::COUNT, predicate != 0);
}
inline int __syncthreads_or(int predicate)
{
    return parton_emulated::wait_for_block(parton_emulated::OR, predicate != 0);
}
inline int __syncthreads_and(int predicate)
{
    return parton_emulated::wait_for_block(parton_emulated::AND, predicate != 0);
}

inline void __syncwarp(unsigned int mask = 0xffffffffu)
{
    parton_emulated::wait_for_warp(parton_emulated::SYNC, mask, 0, 0, 32);
}
inline unsigned int __ballot_sync(unsigned int mask, int predicate)
{
    return parton_emulated::wait_for_warp(parton_emulated::BALLOT, mask, predicate != 0, 0, 32);
}
inline int __any_sync(unsigned int mask, int predicate)
{
    return __ballot_sync(mask, predicate) != 0;
}
inline int __all_sync(unsigned int mask, int predicate)
{
    unsigned int ballot = __ballot_sync(mask, predicate);
    return ballot == parton_emulated::current->members;
}
template <typename T> unsigned int __match_any_sync(unsigned int mask, T value)
{
    using namespace parton_emulated;
    return wait_for_warp(MATCH, mask, to_bits(value), 0, 32);
}
template <typename T> T __shfl_sync(unsigned int mask, T value, int lane, int width = 32)
{
    using namespace parton_emulated;
    return from_bits<T>(wait_for_warp(SHUFFLE, mask, to_bits(value), lane, width));
}
template <typename T> T __shfl_up_sync(unsigned int mask, T value, unsigned int delta, int width = 32)
{
    using namespace parton_emulated;
    return from_bits<T>(wait_for_warp(SHUFFLE_UP, mask, to_bits(value), delta, width));
}
template <typename T>
T __shfl_down_sync(unsigned int mask, T value, unsigned int delta, int width = 32)
{
    using namespace parton_emulated;
    return from_bits<T>(wait_for_warp(SHUFFLE_DOWN, mask, to_bits(value), delta, width));
}
template <typename T> T __shfl_xor_sync(unsigned int mask, T value, int lanes, int width = 32)
{
    using namespace parton_emulated;
    return from_bits<T>(wait_for_warp(SHUFFLE_XOR, mask, to_bits(value), lanes, width));
}

inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
// The only call that lets other threads go on while a thread spins.
inline void __nanosleep(unsigned int)
{
    parton_emulated::current->state = parton_emulated::YIELDED;
    parton_emulated::give_way();
}
[[noreturn]] inline void __trap() { parton_emulated::fail("a kernel called __trap"); }
inline long long clock64()
{
    static long long ticks;
    return ticks += 64;
}

template <typename T> T __ldg(const T* at) { return *at; }
template <typename T> T __ldcg(const T* at) { return *at; }
template <typename T> T __ldcs(const T* at) { return *at; }
template <typename T> void __stcg(T* at, T value) { *at = value; }
template <typename T> void __stcs(T* at, T value) { *at = value; }

#define PARTON_ATOMIC(name, type, result)                                                          \
    inline type name(type* at, type value)                                                         \
    {                                                                                              \
        type before = *at;                                                                         \
        *at = result;                                                                              \
        return before;                                                                             \
    }
#define PARTON_ATOMIC_BITS(type)                                                                   \
    PARTON_ATOMIC(atomicOr, type, before | value)                                                  \
    PARTON_ATOMIC(atomicAnd, type, before & value)                                                 \
    PARTON_ATOMIC(atomicXor, type, before ^ value)                                                 \
    PARTON_ATOMIC(atomicExch, type, value)                                                         \
    inline type atomicCAS(type* at, type expected, type value)                                     \
    {                                                                                              \
        type before = *at;                                                                         \
        if (before == expected) *at = value;                                                       \
        return before;                                                                             \
    }
#define PARTON_ATOMIC_ORDER(type)                                                                  \
    PARTON_ATOMIC(atomicMin, type, value < before ? value : before)                                \
    PARTON_ATOMIC(atomicMax, type, before < value ? value : before)
PARTON_ATOMIC_BITS(int)
PARTON_ATOMIC_BITS(unsigned int)
PARTON_ATOMIC_BITS(unsigned long long)
PARTON_ATOMIC_ORDER(int)
PARTON_ATOMIC_ORDER(unsigned int)
PARTON_ATOMIC_ORDER(long long)
PARTON_ATOMIC_ORDER(unsigned long long)
PARTON_ATOMIC(atomicAdd, int, (int)((unsigned int)before + (unsigned int)value))
PARTON_ATOMIC(atomicAdd, unsigned int, before + value)
PARTON_ATOMIC(atomicAdd, unsigned long long, before + value)
PARTON_ATOMIC(atomicAdd, float, before + value)
PARTON_ATOMIC(atomicAdd, double, before + value)
PARTON_ATOMIC(atomicSub, int, (int)((unsigned int)before - (unsigned int)value))
PARTON_ATOMIC(atomicSub, unsigned int, before - value)
PARTON_ATOMIC(atomicExch, float, value)

inline int __popc(unsigned int value) { return __builtin_popcount(value); }
inline int __popcll(unsigned long long value) { return __builtin_popcountll(value); }
inline int __ffs(int value) { return __builtin_ffs(value); }
inline int __ffsll(long long value) { return __builtin_ffsll(value); }
inline int __clz(int value) { return value ? __builtin_clz(value) : 32; }
inline int __clzll(long long value) { return value ? __builtin_clzll(value) : 64; }
inline unsigned int __brev(unsigned int value)
{
    unsigned int reversed = 0;
    for (int bit = 0; bit < 32; bit++) reversed |= (value >> bit & 1) << (31 - bit);
    return reversed;
}
inline unsigned long long __brevll(unsigned long long value)
{
    return (unsigned long long)__brev((unsigned int)value) << 32 | __brev((unsigned int)(value >> 32));
}
inline unsigned int __umulhi(unsigned int a, unsigned int b)
{
    return (unsigned int)((unsigned long long)a * b >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }

#define PARTON_BITS(name, from, to)                                                                \
    inline to name(from value) { return parton_emulated::from_bits<to>(parton_emulated::to_bits(value)); }
PARTON_BITS(__float_as_uint, float, unsigned int)
PARTON_BITS(__float_as_int, float, int)
PARTON_BITS(__uint_as_float, unsigned int, float)
PARTON_BITS(__int_as_float, int, float)
PARTON_BITS(__double_as_longlong, double, long long)
PARTON_BITS(__longlong_as_double, long long, double)

#define PARTON_ROUNDED(letter, type)                                                               \
    inline type __##letter##add_rn(type a, type b) { return a + b; }                               \
    inline type __##letter##sub_rn(type a, type b) { return a - b; }                               \
    inline type __##letter##mul_rn(type a, type b) { return a * b; }                               \
    inline type __##letter##div_rn(type a, type b) { return a / b; }                               \
    inline type __##letter##sqrt_rn(type a) { return sqrt(a); }
PARTON_ROUNDED(f, float)
PARTON_ROUNDED(d, double)
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }

#define PARTON_MIN_MAX(type)                                                                       \
    inline type min(type a, type b) { return b < a ? b : a; }                                      \
    inline type max(type a, type b) { return a < b ? b : a; }
PARTON_MIN_MAX(int)
PARTON_MIN_MAX(unsigned int)
PARTON_MIN_MAX(long)
PARTON_MIN_MAX(unsigned long)
PARTON_MIN_MAX(long long)
PARTON_MIN_MAX(unsigned long long)
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }

inline int2 make_int2(int x, int y) { return int2 {x, y}; }
inline uint2 make_uint2(unsigned int x, unsigned int y) { return uint2 {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return int4 {x, y, z, w}; }
inline uint4 make_uint4(unsigned int x, unsigned int y, unsigned int z, unsigned int w)
{
    return uint4 {x, y, z, w};
}
inline float2 make_float2(float x, float y) { return float2 {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return float4 {x, y, z, w}; }
inline double2 make_double2(double x, double y) { return double2 {x, y}; }
inline longlong2 make_longlong2(long long x, long long y) { return longlong2 {x, y}; }
inline ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y)
{
    return ulonglong2 {x, y};
}
