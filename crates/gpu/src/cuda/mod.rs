//! NVIDIA's GPUs, through CUDA's driver interface. Both CUDA's driver and NVRTC are loaded when first
//! asked for: Parton also starts on machines that have neither.
//!
//! All drivers of a process share the GPU's primary context, and each has a stream of its own, so that
//! hosts of one process do not wait for each other. Results are certain after
//! [`Driver::synchronize`] only.

pub(crate) mod devices;
pub mod nvrtc;
mod search;

use std::ffi::{CString, c_void};
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::{PoisonError, RwLock};

use cudarc::driver::sys::{self, CUresult};
use devices::{Context, describe};
use nvrtc::Nvrtc;

use crate::driver::{Address, DeviceInfo, Driver, Kernel, Launch, Mark, Pinned};
use crate::error::{Error, Result};

/// One host's connection to a GPU.
pub struct Cuda {
    number: u32,
    info: DeviceInfo,
    context: Context,
    stream: sys::CUstream,
    loaded: RwLock<Loaded>,
}

/// Modules and their kernels.
#[derive(Default)]
struct Loaded {
    modules: Vec<sys::CUmodule>,
    functions: Vec<sys::CUfunction>,
}

// SAFETY: CUDA allows streams, modules and functions to be used from all threads.
unsafe impl Send for Cuda {}
// SAFETY: as above.
unsafe impl Sync for Cuda {}

impl Cuda {
    /// A connection to the GPU of this number.
    pub fn new(number: u32) -> Result<Cuda> {
        let info = devices::info(number)?;
        // Asked for here, so that a user learns at once if it is missing.
        Nvrtc::get()?;
        let failed = |code| Error::Driver {
            device: info.name.clone(),
            action: "open it",
            reason: describe(code),
        };
        let context = Context::of(number).map_err(failed)?;
        context.enter().map_err(failed)?;
        let mut stream = std::ptr::null_mut();
        // A stream that does not wait for the default one, which all hosts would share.
        let flags = sys::CUstream_flags_enum::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: this is a place for a stream, and the context is current.
        match unsafe { sys::cuStreamCreate(&mut stream, flags) } {
            CUresult::CUDA_SUCCESS => {
                Ok(Cuda { number, info, context, stream, loaded: RwLock::default() })
            }
            code => Err(failed(code)),
        }
    }

    fn failed(&self, action: &'static str, code: CUresult) -> Error {
        Error::Driver { device: self.info.name.clone(), action, reason: describe(code) }
    }

    /// Does a call of CUDA with the context current.
    fn call(&self, action: &'static str, call: impl FnOnce() -> CUresult) -> Result<()> {
        self.context.enter().map_err(|code| self.failed(action, code))?;
        match call() {
            CUresult::CUDA_SUCCESS => Ok(()),
            code => Err(self.failed(action, code)),
        }
    }

    fn function(&self, kernel: Kernel) -> sys::CUfunction {
        self.loaded.read().unwrap_or_else(PoisonError::into_inner).functions[kernel.0]
    }

    /// Where a part of pinned memory is.
    fn part(pinned: &Pinned, part: &Range<usize>) -> *mut c_void {
        assert!(
            part.start <= part.end && part.end <= pinned.bytes,
            "{part:?} of {} pinned bytes",
            pinned.bytes
        );
        // SAFETY: the part lies in that memory.
        unsafe { pinned.host.add(part.start) }.cast()
    }
}

impl Driver for Cuda {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn memory(&self) -> NonZeroU64 {
        NonZeroU64::MIN.saturating_add(self.number.into())
    }

    fn free_memory(&self) -> Result<u64> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: these are places for numbers.
        self.call("ask for free memory", || unsafe {
            sys::cuMemGetInfo_v2(&mut free, &mut total)
        })?;
        Ok(free as u64)
    }

    fn allocate(&self, bytes: usize) -> Result<Address> {
        self.context.enter().map_err(|code| self.failed("allocate", code))?;
        let mut address = 0;
        // SAFETY: this is a place for an address.
        match unsafe { sys::cuMemAlloc_v2(&mut address, bytes) } {
            CUresult::CUDA_SUCCESS => Ok(Address(address)),
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => Err(Error::OutOfMemory {
                device: self.info.name.clone(),
                needed: bytes as u64,
                free: self.free_memory().unwrap_or(0),
            }),
            code => Err(self.failed("allocate", code)),
        }
    }

    fn free(&self, address: Address) {
        // SAFETY: the caller no longer uses this memory. CUDA waits for kernels that do.
        let _ = self.call("free", || unsafe { sys::cuMemFree_v2(address.0) });
    }

    fn allocate_pinned(&self, bytes: usize) -> Result<Pinned> {
        let action = "allocate pinned memory";
        self.context.enter().map_err(|code| self.failed(action, code))?;
        let mut host = std::ptr::null_mut();
        let flags = sys::CU_MEMHOSTALLOC_DEVICEMAP | sys::CU_MEMHOSTALLOC_PORTABLE;
        // SAFETY: this is a place for an address.
        match unsafe { sys::cuMemHostAlloc(&mut host, bytes, flags) } {
            CUresult::CUDA_SUCCESS => {}
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                let (device, needed) = (self.info.name.clone(), bytes as u64);
                return Err(Error::OutOfPinned { device, needed });
            }
            code => return Err(self.failed(action, code)),
        }
        let mut address = 0;
        // SAFETY: the memory was allocated as mapped.
        let mapped = self
            .call(action, || unsafe { sys::cuMemHostGetDevicePointer_v2(&mut address, host, 0) });
        let pinned = Pinned { host: host.cast(), address: Address(address), bytes };
        mapped.inspect_err(|_| self.free_pinned(&pinned)).map(|()| pinned)
    }

    fn free_pinned(&self, pinned: &Pinned) {
        // Copies may be under way.
        let _ = self.synchronize();
        // SAFETY: the caller no longer uses this memory.
        let _ =
            self.call("free pinned memory", || unsafe { sys::cuMemFreeHost(pinned.host.cast()) });
    }

    fn upload(&self, to: Address, bytes: &[u8]) -> Result<()> {
        // SAFETY: the bytes stay where they are until the copy is done, which is waited for.
        self.call("upload", || unsafe {
            sys::cuMemcpyHtoDAsync_v2(to.0, bytes.as_ptr().cast(), bytes.len(), self.stream)
        })?;
        self.synchronize()
    }

    fn download(&self, from: Address, into: &mut [u8]) -> Result<()> {
        // SAFETY: as for `upload`.
        self.call("download", || unsafe {
            sys::cuMemcpyDtoHAsync_v2(into.as_mut_ptr().cast(), from.0, into.len(), self.stream)
        })?;
        self.synchronize()
    }

    fn queue_upload(&self, to: Address, from: &Pinned, part: Range<usize>) -> Result<()> {
        let host = Cuda::part(from, &part);
        // SAFETY: freeing pinned memory waits for copies.
        self.call("upload", || unsafe {
            sys::cuMemcpyHtoDAsync_v2(to.0, host, part.len(), self.stream)
        })
    }

    fn queue_download(&self, from: Address, to: &Pinned, part: Range<usize>) -> Result<()> {
        let host = Cuda::part(to, &part);
        // SAFETY: as for `queue_upload`.
        self.call("download", || unsafe {
            sys::cuMemcpyDtoHAsync_v2(host, from.0, part.len(), self.stream)
        })
    }

    fn queue_copy(&self, from: Address, to: Address, bytes: usize) -> Result<()> {
        // SAFETY: CUDA checks addresses of the device.
        self.call("copy", || unsafe { sys::cuMemcpyDtoDAsync_v2(to.0, from.0, bytes, self.stream) })
    }

    fn queue_fill(&self, at: Address, byte: u8, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: CUDA checks addresses of the device.
        self.call("fill", || unsafe { sys::cuMemsetD8Async(at.0, byte, bytes, self.stream) })
    }

    fn compile(&self, text: &str) -> Result<Vec<u8>> {
        Nvrtc::get()?.compile(&self.info.name, &self.info.architecture, text)
    }

    fn compiler(&self) -> Result<String> {
        Ok(Nvrtc::get()?.identity(&self.info.architecture))
    }

    fn load(&self, image: &[u8], kernels: &[&str]) -> Result<Vec<Kernel>> {
        let action = "load kernels";
        let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
        let mut module = std::ptr::null_mut();
        // SAFETY: the image is one that NVRTC made, whole as its digest says. It has its own length.
        let code = self.context.enter().err().unwrap_or_else(|| unsafe {
            sys::cuModuleLoadData(&mut module, image.as_ptr().cast())
        });
        if code != CUresult::CUDA_SUCCESS {
            // Code of a newer compiler than the driver knows is refused here.
            let compiler = Nvrtc::get()?.describe();
            let reason = format!("{}; compiled by {compiler}", describe(code));
            return Err(Error::Driver { device: self.info.name.clone(), action, reason });
        }
        // It is on the list before anything else can fail, so that it is unloaded in any case.
        loaded.modules.push(module);
        let first = loaded.functions.len();
        for name in kernels {
            let missing = |reason: String| Error::Driver {
                device: self.info.name.clone(),
                action,
                reason: format!("kernel `{name}`: {reason}"),
            };
            let symbol = CString::new(*name).map_err(|error| missing(error.to_string()))?;
            let mut function = std::ptr::null_mut();
            // SAFETY: the module is loaded, and the name ends with zero.
            match unsafe { sys::cuModuleGetFunction(&mut function, module, symbol.as_ptr()) } {
                CUresult::CUDA_SUCCESS => loaded.functions.push(function),
                code => return Err(missing(describe(code))),
            }
        }
        Ok((first..loaded.functions.len()).map(Kernel).collect())
    }

    fn blocks_at_once(&self, kernel: Kernel, threads: u32) -> Result<u32> {
        let function = self.function(kernel);
        let mut per_multiprocessor = 0;
        // SAFETY: this is a place for a number, and the kernel is loaded.
        self.call("ask for occupancy", || unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &mut per_multiprocessor,
                function,
                threads as i32,
                0,
            )
        })?;
        Ok(per_multiprocessor as u32 * self.info.multiprocessors)
    }

    fn launch(&self, kernel: Kernel, launch: Launch, arguments: &[&[u8]]) -> Result<()> {
        let function = self.function(kernel);
        // CUDA copies the arguments before it returns, and does not write to them.
        let mut parameters: Vec<*mut c_void> =
            arguments.iter().map(|argument| argument.as_ptr().cast_mut().cast()).collect();
        let parameters = parameters.as_mut_ptr();
        let Launch { blocks, threads, is_cooperative } = launch;
        let none = std::ptr::null_mut();
        // SAFETY: the arguments are the parameters of the kernel: the emulator checks their sizes. A
        // kernel may do anything to the device's memory.
        self.call("launch a kernel", || unsafe {
            if is_cooperative {
                sys::cuLaunchCooperativeKernel(
                    function,
                    blocks,
                    1,
                    1,
                    threads,
                    1,
                    1,
                    0,
                    self.stream,
                    parameters,
                )
            } else {
                sys::cuLaunchKernel(
                    function,
                    blocks,
                    1,
                    1,
                    threads,
                    1,
                    1,
                    0,
                    self.stream,
                    parameters,
                    none,
                )
            }
        })
    }

    fn new_mark(&self) -> Result<Mark> {
        let mut event: sys::CUevent = std::ptr::null_mut();
        let flags = sys::CUevent_flags_enum::CU_EVENT_DISABLE_TIMING as u32;
        // SAFETY: this is a place for an event.
        self.call("make an event", || unsafe { sys::cuEventCreate(&mut event, flags) })?;
        Ok(Mark(event as u64))
    }

    fn free_mark(&self, mark: Mark) {
        // SAFETY: the caller no longer uses the event, which `new_mark` made.
        let _ = self.call("free an event", || unsafe { sys::cuEventDestroy_v2(event(mark)) });
    }

    fn set_mark(&self, mark: Mark) -> Result<()> {
        // SAFETY: the event and the stream exist.
        self.call("record an event", || unsafe { sys::cuEventRecord(event(mark), self.stream) })
    }

    fn wait_for(&self, mark: Mark) -> Result<()> {
        // SAFETY: the event exists.
        self.call("wait for the device", || unsafe { sys::cuEventSynchronize(event(mark)) })
    }

    fn synchronize(&self) -> Result<()> {
        // SAFETY: the stream exists for as long as this value.
        self.call("wait for the device", || unsafe { sys::cuStreamSynchronize(self.stream) })
    }
}

/// The event behind a mark.
fn event(mark: Mark) -> sys::CUevent {
    mark.0 as sys::CUevent
}

impl Drop for Cuda {
    fn drop(&mut self) {
        // Nothing can be done about failures here, and they have shown before.
        let _ = self.synchronize();
        let modules = std::mem::take(
            &mut self.loaded.get_mut().unwrap_or_else(PoisonError::into_inner).modules,
        );
        for module in modules {
            // SAFETY: no kernel of it runs, and none can be launched again.
            let _ = self.call("unload kernels", || unsafe { sys::cuModuleUnload(module) });
        }
        // SAFETY: nobody can use the stream again.
        let _ = self.call("close it", || unsafe { sys::cuStreamDestroy_v2(self.stream) });
    }
}
