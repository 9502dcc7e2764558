//! Compiled kernels in this process: loading a shared library, and calling into it.

use std::ffi::{CStr, c_char, c_void};
use std::io::Write;
use std::sync::Arc;

use libloading::Library;

use crate::driver::Launch;

/// `Entry` of the shim: one kernel.
#[repr(C)]
#[derive(Clone, Copy)]
struct Entry {
    num_parameters: usize,
    sizes: *const usize,
    call: extern "C" fn(*mut *mut c_void),
}

/// `Launch` of the shim.
#[repr(C)]
struct ShimLaunch {
    call: extern "C" fn(*mut *mut c_void),
    arguments: *mut *mut c_void,
    blocks: u32,
    threads: u32,
    is_cooperative: u32,
    seed: u64,
}

type RunLaunch = unsafe extern "C" fn(*const ShimLaunch) -> *const c_char;

/// A kernel that can be called.
#[derive(Clone)]
pub(super) struct Function {
    name: String,
    entry: Entry,
    run: RunLaunch,
    /// The code stays loaded for as long as it can be called.
    _library: Arc<Library>,
}

// SAFETY: the addresses are those of code and constants.
unsafe impl Send for Function {}

/// Loads a library and finds kernels in it.
///
/// Each call gets a copy of the library with variables of its own, so that several hosts of one
/// process can run the same kernels at once.
pub(super) fn load(image: &[u8], kernels: &[&str]) -> Result<Vec<Function>, String> {
    // The loader keeps what it mapped. The file may go.
    let mut file = tempfile::Builder::new()
        .prefix("parton-kernels-")
        .suffix(".so")
        .tempfile()
        .map_err(|error| error.to_string())?;
    file.write_all(image).and_then(|()| file.flush()).map_err(|error| error.to_string())?;
    // SAFETY: the compiler of this module made it. It has no initialisers with side effects.
    let library = unsafe { Library::new(file.path()) };
    let library = Arc::new(library.map_err(|error| error.to_string())?);
    // SAFETY: the shim defines it with this type.
    let run = *unsafe { library.get::<RunLaunch>(b"parton_emulated_launch\0") }
        .map_err(|error| error.to_string())?;
    let function = |name: &&str| {
        let symbol = format!("parton_entry_{name}\0");
        // SAFETY: the compiler of this module adds such a variable for each kernel.
        let entry = unsafe { library.get::<*const Entry>(symbol.as_bytes()) };
        let entry = entry.map_err(|_| format!("there is no kernel `{name}`"))?;
        // SAFETY: as above.
        let entry = unsafe { **entry };
        Ok(Function { name: (*name).to_owned(), entry, run, _library: library.clone() })
    };
    kernels.iter().map(function).collect()
}

impl Function {
    /// What the kernel is called.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// An error unless the arguments have the sizes of the parameters.
    pub(super) fn check(&self, arguments: &[&[u8]]) -> Result<(), String> {
        // SAFETY: the shim's array has that many elements.
        let sizes =
            unsafe { std::slice::from_raw_parts(self.entry.sizes, self.entry.num_parameters) };
        let found: Vec<_> = arguments.iter().map(|argument| argument.len()).collect();
        if sizes == found {
            return Ok(());
        }
        let name = &self.name;
        Err(format!("`{name}` has parameters of {sizes:?} bytes, and got {found:?}"))
    }

    /// Runs the kernel to its end. The arguments have been checked.
    pub(super) fn run(
        &self,
        launch: Launch,
        arguments: &mut [Argument],
        seed: u64,
    ) -> Result<(), String> {
        let mut addresses: Vec<_> =
            arguments.iter_mut().map(|argument| argument.0.as_mut_ptr().cast::<c_void>()).collect();
        let launch = ShimLaunch {
            call: self.entry.call,
            arguments: addresses.as_mut_ptr(),
            blocks: launch.blocks,
            threads: launch.threads,
            is_cooperative: launch.is_cooperative.into(),
            seed,
        };
        // SAFETY: the arguments have the sizes of the parameters. A kernel may do anything to memory:
        // that it does not is what it is tested for.
        let failure = unsafe { (self.run)(&launch) };
        if failure.is_null() {
            return Ok(());
        }
        // SAFETY: the shim returns text that ends with zero.
        let failure = unsafe { CStr::from_ptr(failure) };
        Err(format!("kernel `{}`: {}", self.name, failure.to_string_lossy()))
    }
}

/// A copy of an argument, aligned for any type.
pub(super) struct Argument(Vec<u128>);

impl Argument {
    pub(super) fn new(bytes: &[u8]) -> Argument {
        let mut words = vec![0; bytes.len().div_ceil(size_of::<u128>())];
        bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
        Argument(words)
    }
}
