//! The GPUs of this machine, and why there are none.

use std::cell::Cell;
use std::ffi::{CStr, c_int};
use std::sync::{Mutex, OnceLock, PoisonError};

use cudarc::driver::sys::{self, CUdevice_attribute_enum as Attribute, CUresult};

use crate::driver::DeviceInfo;
use crate::error::{Error, Result};

/// The oldest version of CUDA whose driver will do, as CUDA writes it.
const MIN_CUDA: c_int = 12_000;
/// The oldest architecture: threads of a warp progress independently from Volta on.
const MIN_ARCHITECTURE: c_int = 70;
/// Threads of a block that engines choose: several blocks fit on a multiprocessor.
const THREADS_PER_BLOCK: u32 = 256;

/// What CUDA says about a code.
pub(super) fn describe(code: CUresult) -> String {
    let text = |function: unsafe fn(CUresult, *mut *const std::ffi::c_char) -> CUresult| {
        let mut text = std::ptr::null();
        // SAFETY: CUDA sets this to constant text, or to null.
        unsafe {
            function(code, &mut text);
            (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
        }
    };
    match (text(sys::cuGetErrorName), text(sys::cuGetErrorString)) {
        (Some(name), Some(words)) => format!("{name} ({words})"),
        _ => format!("code {}", code as u32),
    }
}

/// An error unless CUDA's driver is there and works. Asks only once.
fn initialise() -> Result<()> {
    static DONE: OnceLock<std::result::Result<(), String>> = OnceLock::new();
    let done = DONE.get_or_init(|| {
        // SAFETY: initialising NVIDIA's library has no side effects.
        if !unsafe { sys::is_culib_present() } {
            return Err("there is no GPU to use: libcuda.so.1, which comes with NVIDIA's driver, was \
                        not found; install the driver"
                .into());
        }
        let mut version = 0;
        // SAFETY: this is a place for a number. The function needs no initialisation.
        let code = unsafe { sys::cuDriverGetVersion(&mut version) };
        if code == CUresult::CUDA_SUCCESS && version < MIN_CUDA {
            return Err(format!(
                "NVIDIA's driver is too old: it supports CUDA {}, and {} is needed; update the driver",
                cuda_version(version),
                cuda_version(MIN_CUDA)
            ));
        }
        // SAFETY: this is the first call, as it must be.
        match unsafe { sys::cuInit(0) } {
            CUresult::CUDA_SUCCESS => Ok(()),
            CUresult::CUDA_ERROR_NO_DEVICE => {
                Err("NVIDIA's driver is there, but it sees no GPU (does CUDA_VISIBLE_DEVICES hide it?)"
                    .into())
            }
            code => Err(format!("NVIDIA's driver does not start: {}", describe(code))),
        }
    });
    done.clone().map_err(Error::Missing)
}

fn cuda_version(number: c_int) -> String {
    format!("{}.{}", number / 1000, number % 1000 / 10)
}

/// Version of the driver, as NVIDIA and CUDA count.
fn driver_version() -> String {
    let mut number = 0;
    // SAFETY: this is a place for a number.
    unsafe { sys::cuDriverGetVersion(&mut number) };
    let cuda = format!("CUDA {}", cuda_version(number));
    match std::fs::read_to_string("/sys/module/nvidia/version") {
        Ok(version) => format!("{} ({cuda})", version.trim()),
        Err(_) => cuda,
    }
}

/// Number of GPUs.
pub(crate) fn count() -> Result<u32> {
    initialise()?;
    let mut count = 0;
    // SAFETY: this is a place for a number, and CUDA is initialised.
    let code = unsafe { sys::cuDeviceGetCount(&mut count) };
    match (code, count) {
        (CUresult::CUDA_SUCCESS, 1..) => Ok(count as u32),
        (CUresult::CUDA_SUCCESS, _) => {
            Err(Error::Missing("NVIDIA's driver is there, but it sees no GPU".into()))
        }
        _ => Err(Error::Missing(format!("cannot count GPUs: {}", describe(code)))),
    }
}

/// What a GPU is.
pub(crate) fn info(number: u32) -> Result<DeviceInfo> {
    let count = count()?;
    if number >= count {
        let last = count - 1;
        return Err(Error::Missing(format!(
            "there is no gpu:{number}: this machine has {}",
            if last == 0 { "only gpu:0".into() } else { format!("gpu:0 to gpu:{last}") }
        )));
    }
    let name = format!("gpu:{number}");
    let failed = |code| Error::Driver {
        device: name.clone(),
        action: "ask what it is",
        reason: describe(code),
    };
    let check = |code| if code == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(failed(code)) };
    let device = handle(number).map_err(failed)?;
    let attribute = |attribute: Attribute| {
        let mut value = 0;
        // SAFETY: this is a place for a number.
        check(unsafe { sys::cuDeviceGetAttribute(&mut value, attribute, device) })?;
        Ok(value)
    };
    let mut model = [0; 256];
    let mut memory = 0;
    // SAFETY: there is room for that many characters, and for a number.
    unsafe {
        check(sys::cuDeviceGetName(model.as_mut_ptr(), model.len() as c_int - 1, device))?;
        check(sys::cuDeviceTotalMem_v2(&mut memory, device))?;
    }
    // SAFETY: the last character is zero, whatever CUDA wrote.
    let model = unsafe { CStr::from_ptr(model.as_ptr()) }.to_string_lossy().into_owned();
    let major = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    if major * 10 + minor < MIN_ARCHITECTURE {
        return Err(Error::Missing(format!(
            "{name} is too old: {model} is of compute capability {major}.{minor}, and 7.0 is needed"
        )));
    }
    let multiprocessors = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
    Ok(DeviceInfo {
        name,
        model,
        driver: driver_version(),
        architecture: format!("sm_{major}{minor}"),
        memory: memory as u64,
        multiprocessors: multiprocessors as u32,
        threads_per_block: THREADS_PER_BLOCK,
    })
}

/// CUDA's handle of a GPU.
fn handle(number: u32) -> std::result::Result<sys::CUdevice, CUresult> {
    let mut device = 0;
    // SAFETY: this is a place for a handle.
    match unsafe { sys::cuDeviceGet(&mut device, number as c_int) } {
        CUresult::CUDA_SUCCESS => Ok(device),
        code => Err(code),
    }
}

/// A GPU's context, which all drivers of this process share.
#[derive(Clone, Copy)]
pub(super) struct Context(sys::CUcontext);

// SAFETY: a context may be used from any thread that has made it current.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// The context of a GPU. It is kept until this process ends, so that it never dangles.
    pub(super) fn of(number: u32) -> std::result::Result<Context, CUresult> {
        static KEPT: Mutex<Vec<(u32, Context)>> = Mutex::new(Vec::new());
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, context)) = kept.iter().find(|(known, _)| *known == number) {
            return Ok(*context);
        }
        let device = handle(number)?;
        let mut context = std::ptr::null_mut();
        // SAFETY: this is a place for a context, and the device exists.
        match unsafe { sys::cuDevicePrimaryCtxRetain(&mut context, device) } {
            CUresult::CUDA_SUCCESS => {
                kept.push((number, Context(context)));
                Ok(Context(context))
            }
            code => Err(code),
        }
    }

    /// Makes it current in this thread, unless it is.
    pub(super) fn enter(self) -> std::result::Result<(), CUresult> {
        thread_local! {
            static CURRENT: Cell<sys::CUcontext> = const { Cell::new(std::ptr::null_mut()) };
        }
        CURRENT.with(|current| {
            if current.get() == self.0 {
                return Ok(());
            }
            // SAFETY: contexts are never destroyed.
            match unsafe { sys::cuCtxSetCurrent(self.0) } {
                CUresult::CUDA_SUCCESS => {
                    current.set(self.0);
                    Ok(())
                }
                code => Err(code),
            }
        })
    }
}
