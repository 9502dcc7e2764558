//! What kernels rely on: barriers, operations of warps, shared memory, atomics; and that the emulator
//! notices mistakes.

use std::sync::Arc;

use bytemuck::bytes_of;
use parton_gpu::driver::{Driver, Launch};
use parton_gpu::memory::Buffer;
use parton_gpu::module::Module;

use crate::common::{cooperative, emulated, grid, on_each_driver};

/// Runs `kernel(output, count)` of a text. The outputs, or why it failed.
fn try_run(driver: &Arc<dyn Driver>, text: &str, launch: Launch) -> Result<Vec<u32>, String> {
    let count = launch.blocks * launch.threads;
    let run = || {
        let module = Module::load(driver, text, &["kernel"])?;
        let output = Buffer::<u32>::zeroed(driver, count as usize)?;
        module.launch("kernel", launch, &[output.argument(), bytes_of(&count)])?;
        driver.synchronize()?;
        output.to_vec()
    };
    run().map_err(|error: parton_gpu::Error| error.to_string())
}

fn run(driver: &Arc<dyn Driver>, body: &str, launch: Launch) -> Vec<u32> {
    try_run(driver, &kernel(body), launch).unwrap()
}

/// A kernel with this body. `i` is the number of a thread in the whole grid, `lane` that in its warp.
fn kernel(body: &str) -> String {
    format!(
        "extern \"C\" __global__ void kernel(unsigned int* output, unsigned int count) {{\n\
         unsigned int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;\n\
         (void)lane; (void)i;\n{body}\n}}"
    )
}

#[test]
fn threads_know_where_they_are() {
    on_each_driver(|driver| {
        let found =
            run(driver, "output[i] = i * 2 + (count == gridDim.x * blockDim.x);", grid(5, 48));
        assert!(found.into_iter().eq((0..240).map(|i| i * 2 + 1)));
    });
}

/// A kernel whose blocks use shared memory before and after a barrier.
fn sharing(barrier: &str) -> String {
    let mirrored = "
        template <typename T> __device__ __forceinline__ T mirrored(T value)
        {
            __shared__ T values[64];
            values[threadIdx.x] = value;
            __syncthreads();
            return values[blockDim.x - 1 - threadIdx.x];
        }";
    let body = format!(
        "__shared__ unsigned int first;
        if (threadIdx.x == 3) first = blockIdx.x * 1000;
        unsigned int value = mirrored<unsigned int>(threadIdx.x);
        {barrier};
        value += (unsigned int)mirrored<double>(0.0);
        output[i] = first + value;"
    );
    format!("{mirrored}\n{}", kernel(&body))
}

#[test]
fn blocks_share_memory() {
    let expected = |blocks: u32| {
        (0..blocks).flat_map(|block| (0..64).map(move |thread| block * 1000 + 63 - thread))
    };
    on_each_driver(|driver| {
        let found = try_run(driver, &sharing("__syncthreads()"), grid(7, 64)).unwrap();
        assert!(found.into_iter().eq(expected(7)));
        // All blocks are between their uses of shared memory at once.
        let found = try_run(driver, &sharing("grid_sync()"), cooperative(4, 64)).unwrap();
        assert!(found.into_iter().eq(expected(4)));
    });
}

/// What a lane of a number gets.
type Expected = fn(u32) -> u32;

/// Operations of warps.
const WARP_OPERATIONS: [(&str, Expected); 9] = [
    ("__shfl_sync(~0u, i, 5)", |_| 5),
    ("__shfl_sync(~0u, lane, lane + 1, 8)", |lane| lane / 8 * 8 + (lane + 1) % 8),
    ("(unsigned int)__shfl_up_sync(~0u, (double)lane, 3)", |lane| {
        lane.checked_sub(3).unwrap_or(lane)
    }),
    ("__shfl_down_sync(~0u, lane, 1, 16)", |lane| lane + u32::from(lane % 16 != 15)),
    ("(unsigned int)(__shfl_xor_sync(~0u, (unsigned long long)lane << 40, 9) >> 40)", |lane| {
        lane ^ 9
    }),
    ("__ballot_sync(~0u, lane % 3 == 0)", |_| {
        (0..32).filter(|lane| lane % 3 == 0).map(|lane| 1 << lane).sum()
    }),
    ("__any_sync(~0u, lane == 40) * 2 + __any_sync(~0u, lane == 31)", |_| 1),
    ("__all_sync(~0u, lane < 32) * 2 + __all_sync(~0u, lane < 31)", |_| 2),
    ("__match_any_sync(~0u, lane / 16)", |lane| if lane < 16 { 0xffff } else { 0xffff_0000 }),
];

#[test]
fn lanes_exchange_values() {
    on_each_driver(|driver| {
        for (expression, expected) in WARP_OPERATIONS {
            let found = run(driver, &format!("output[i] = {expression};"), grid(1, 32));
            assert!(found.into_iter().eq((0..32).map(expected)), "{expression}");
        }
        // Lanes that have ended are not waited for.
        let body = "if (lane >= 20) return; output[i] = __ballot_sync(~0u, 1);";
        let found = run(driver, body, grid(1, 64));
        assert!(
            found
                .iter()
                .enumerate()
                .all(|(i, bits)| *bits == if i % 32 < 20 { 0xf_ffff } else { 0 })
        );
    });
}

#[test]
fn blocks_count_at_barriers() {
    on_each_driver(|driver| {
        let body = "output[i] = __syncthreads_count(threadIdx.x % 3 == 0) * 100
            + __syncthreads_or(threadIdx.x == 63) * 10 + __syncthreads_and(threadIdx.x < 63);";
        assert_eq!(run(driver, body, grid(2, 64)), [2210; 128]);
    });
}

#[test]
fn all_blocks_wait_for_each_other() {
    on_each_driver(|driver| {
        let body = "for (unsigned int round = 0; round < 100; round++) {
            atomicAdd(&output[round % 2], 1u);
            grid_sync();
            if (output[round % 2] != (round / 2 + 1) * count) atomicAdd(&output[2], 1u);
            grid_sync();
        }";
        let found = run(driver, body, cooperative(3, 64));
        assert_eq!(found[..4], [50 * 192, 50 * 192, 0, 0]);
    });
}

/// A kernel with all atomic operations, and some on bits.
const ATOMICS: &str = "
        typedef unsigned long long u64;
        extern \"C\" __global__ void kernel(unsigned int* output, unsigned int count)
        {
            __shared__ unsigned int u[6];
            __shared__ u64 l[4];
            __shared__ int s[2];
            __shared__ float f;
            __shared__ double d;
            if (threadIdx.x == 0) {
                u[0] = u[1] = u[3] = u[5] = 0;
                u[2] = u[4] = ~0u;
                l[0] = l[1] = 0; l[2] = l[3] = ~0ull;
                s[0] = s[1] = 0; f = 0; d = 0;
            }
            __syncthreads();
            unsigned int i = threadIdx.x;
            output[atomicAdd(&u[0], 1u)] = 1;
            atomicMax(&u[1], i); atomicMin(&u[2], i + 7); atomicOr(&u[3], 1u << i % 32);
            atomicAnd(&u[4], ~(1u << i % 32)); atomicCAS(&u[5], 0u, 9u);
            atomicAdd(&l[0], (u64)i << 32); atomicMax(&l[1], (u64)i << 40);
            atomicMin(&l[2], ~(u64)i); atomicAnd(&l[3], ~(1ull << i % 64));
            atomicMin(&s[0], -(int)i); atomicAdd(&s[1], -1);
            atomicAdd(&f, 0.5f); atomicAdd(&d, 0.25);
            __syncthreads();
            if (i == 0) {
                bool is_right = u[1] == 63 && u[2] == 7 && u[3] == ~0u && u[4] == 0 && u[5] == 9
                    && l[0] == 2016ull << 32 && l[1] == 63ull << 40 && l[2] == ~63ull && l[3] == 0
                    && s[0] == -63 && s[1] == -64 && f == 32 && d == 16
                    && atomicExch(&u[0], 5u) == 64;
                output[0] = is_right ? 77 : 0;
                output[1] = __popc(0xf0f0u) * 100 + __ffs(8) * 10 + __clz(1) / 31;
                output[2] = __popcll(~0ull) * 1000 + __ffsll(1ll << 40) * 10 + (__clzll(1) == 63);
                output[3] = __float_as_uint(1.0f) == 0x3f800000u;
            }
        }";

#[test]
fn atomics_return_what_was_there() {
    on_each_driver(|driver| {
        let found = try_run(driver, ATOMICS, grid(1, 64)).unwrap();
        assert_eq!(found[..5], [77, 841, 64_411, 1, 1]);
    });
}

#[test]
fn mistakes_end_in_errors() {
    let mistakes = [
        ("if (threadIdx.x == 5) return; __syncthreads();", "has ended"),
        ("if (threadIdx.x == 5) __syncwarp(); else __syncthreads();", "different barriers"),
        ("if (threadIdx.x < 32) __syncthreads_or(1); else __syncthreads();", "different barriers"),
        ("if (lane < 4) __ballot_sync(0xfu, 1); else __ballot_sync(0xf0u, 1);", "not in the mask"),
        ("grid_sync();", "not cooperative"),
        ("output[count] = 1;", "wrote 0 bytes after the end"),
        ("output[-2] = 1;", "before the start"),
        ("if (i == 7) __trap();", "__trap"),
        ("while (*(volatile unsigned int*)output == 0) __nanosleep(1);", "never happens"),
    ];
    let driver = || emulated(Default::default());
    for (body, expected) in mistakes {
        let message = try_run(&driver(), &kernel(body), grid(2, 64)).unwrap_err();
        assert!(message.contains(expected), "{body}: {message}");
    }
    let body = "if (blockIdx.x == 1) return; grid_sync();";
    let message = try_run(&driver(), &kernel(body), cooperative(2, 64)).unwrap_err();
    assert!(message.contains("have ended"), "{message}");
    let message = try_run(&driver(), &kernel(""), cooperative(100, 64)).unwrap_err();
    assert!(message.contains("100 blocks"), "{message}");
    let message = try_run(&driver(), &kernel(""), grid(1, 2000)).unwrap_err();
    assert!(message.contains("not possible"), "{message}");
}

#[test]
fn undefined_memory_shows() {
    let driver = emulated(Default::default());
    assert_eq!(Buffer::<u32>::new(&driver, 3).unwrap().to_vec().unwrap(), [0xcdcd_cdcd; 3]);
    let body = "__shared__ unsigned int fresh; if (count == 1) fresh = 1; output[i] = fresh;";
    assert_eq!(run(&driver, body, grid(1, 2)), [0xcdcd_cdcd; 2]);
}

/// Texts that every compiler of kernels must take.
pub(crate) fn texts() -> Vec<String> {
    let operations = WARP_OPERATIONS.iter().map(|(text, _)| format!("output[i] += {text};\n"));
    let operations = kernel(&operations.collect::<String>());
    vec![sharing("grid_sync()"), operations, ATOMICS.into(), kernel("__nanosleep(1); __trap();")]
}
