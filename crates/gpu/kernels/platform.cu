// Names that every kernel may use beside CUDA's own: the part that differs between a GPU and the
// emulator. `Module` puts this file before the text of a module.
//
// Kernels are `extern "C" __global__ void`, and use only the `x` of indices. On a GPU this text is
// compiled by NVRTC, without any header.

#ifndef PARTON_EMULATED

// One word per module: blocks that have arrived at the barrier below, and the phase in its top bit.
__device__ unsigned int parton_grid_barrier;

// Waits for all threads of a cooperative launch. What any thread wrote before is visible to all
// threads after, except through `__ldg` and `const __restrict__` pointers.
//
// One atomic per block, as in CUDA's cooperative groups, which NVRTC does not bring along. All
// blocks together add 2^31: the top bit flips when the last one arrives, and the rest is zero again.
__device__ __forceinline__ void grid_sync()
{
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned int part = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1u;
        __threadfence();
        unsigned int before = atomicAdd(&parton_grid_barrier, part);
        while (((*(volatile unsigned int*)&parton_grid_barrier ^ before) & 0x80000000u) == 0) {
        }
        __threadfence();
    }
    __syncthreads();
}

#endif
