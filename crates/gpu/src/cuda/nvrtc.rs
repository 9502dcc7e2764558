//! NVRTC, NVIDIA's compiler from CUDA text to code of a GPU, as a library that is loaded if it exists.
//!
//! `cudarc` has these functions, too, but cannot be told where the library lies, and panics if it is
//! missing. Nine functions are used.

use std::error::Error as _;
use std::ffi::{CStr, CString, c_char, c_int};
use std::path::Path;
use std::sync::OnceLock;

use libloading::Library;

use super::search;
use crate::error::{Error, Result};

/// Options beside the architecture. Without contraction, results equal those of a host to the bit.
const OPTIONS: [&str; 2] = ["-std=c++17", "--fmad=false"];

const SUCCESS: c_int = 0;
const INVALID_OPTION: c_int = 5;

type Program = *mut std::ffi::c_void;

/// Declares functions of the library, and finds them.
macro_rules! functions {
    ($($field:ident = $name:literal: fn($($argument:ty),*);)+) => {
        struct Functions {
            $($field: unsafe extern "C" fn($($argument),*) -> c_int,)+
            error_string: unsafe extern "C" fn(c_int) -> *const c_char,
        }

        impl Functions {
            fn find(library: &Library) -> std::result::Result<Functions, libloading::Error> {
                // SAFETY: these are the types that nvrtc.h declares.
                unsafe {
                    Ok(Functions {
                        $($field: *library.get(concat!($name, "\0").as_bytes())?,)+
                        error_string: *library.get(b"nvrtcGetErrorString\0")?,
                    })
                }
            }
        }
    };
}

functions! {
    version = "nvrtcVersion": fn(*mut c_int, *mut c_int);
    create = "nvrtcCreateProgram": fn(
        *mut Program, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char
    );
    compile = "nvrtcCompileProgram": fn(Program, c_int, *const *const c_char);
    log_size = "nvrtcGetProgramLogSize": fn(Program, *mut usize);
    log = "nvrtcGetProgramLog": fn(Program, *mut c_char);
    cubin_size = "nvrtcGetCUBINSize": fn(Program, *mut usize);
    cubin = "nvrtcGetCUBIN": fn(Program, *mut c_char);
    destroy = "nvrtcDestroyProgram": fn(*mut Program);
    num_architectures = "nvrtcGetNumSupportedArchs": fn(*mut c_int);
    architectures = "nvrtcGetSupportedArchs": fn(*mut c_int);
}

/// The compiler.
pub struct Nvrtc {
    functions: Functions,
    /// File, or name that the loader knows.
    path: String,
    version: (c_int, c_int),
    /// Its code stays loaded.
    _library: Library,
}

impl Nvrtc {
    /// The library of this machine, loaded once. An error says where it was looked for.
    pub fn get() -> Result<&'static Nvrtc> {
        static NVRTC: OnceLock<std::result::Result<Nvrtc, String>> = OnceLock::new();
        NVRTC.get_or_init(find).as_ref().map_err(|reason| Error::Missing(reason.clone()))
    }

    fn open(path: &Path) -> std::result::Result<Nvrtc, libloading::Error> {
        preload_builtins(path);
        // SAFETY: initialising NVIDIA's library has no side effects.
        let library = unsafe { Library::new(path)? };
        let functions = Functions::find(&library)?;
        let mut version = (0, 0);
        // SAFETY: both are places for a number.
        unsafe { (functions.version)(&mut version.0, &mut version.1) };
        Ok(Nvrtc { functions, path: path.display().to_string(), version, _library: library })
    }

    /// File and version, for people.
    pub fn describe(&self) -> String {
        format!("{} (version {}.{})", self.path, self.version.0, self.version.1)
    }

    /// All that the result of [`Nvrtc::compile`] depends on beside the text.
    pub fn identity(&self, architecture: &str) -> String {
        format!("nvrtc {}.{} {architecture} {OPTIONS:?}", self.version.0, self.version.1)
    }

    /// Architectures that this version knows: `sm_90`.
    pub fn architectures(&self) -> Vec<String> {
        let mut count = 0;
        // SAFETY: this is a place for a number.
        if unsafe { (self.functions.num_architectures)(&mut count) } != SUCCESS {
            return Vec::new();
        }
        let mut numbers = vec![0; count as usize];
        // SAFETY: there is room for that many numbers.
        if unsafe { (self.functions.architectures)(numbers.as_mut_ptr()) } != SUCCESS {
            return Vec::new();
        }
        numbers.into_iter().map(|number| format!("sm_{number}")).collect()
    }

    /// Compiles a text to code for an architecture. `device` is named in errors.
    pub fn compile(&self, device: &str, architecture: &str, text: &str) -> Result<Vec<u8>> {
        let failed = |code| Error::Driver {
            device: device.into(),
            action: "compile kernels",
            reason: self.reason(code),
        };
        let check = |code| if code == SUCCESS { Ok(()) } else { Err(failed(code)) };
        let log_of = |log: String| Error::Compile { device: device.into(), log };
        let source = CString::new(text).map_err(|_| log_of("the text contains a zero".into()))?;
        let mut program = OwnedProgram { nvrtc: self, program: std::ptr::null_mut() };
        let none = std::ptr::null();
        // SAFETY: the text ends with zero, and there are no headers.
        check(unsafe {
            let name = c"kernels.cu".as_ptr();
            (self.functions.create)(&mut program.program, source.as_ptr(), name, 0, none, none)
        })?;

        let target = format!("--gpu-architecture={architecture}");
        let options: Vec<CString> = std::iter::once(target.as_str())
            .chain(OPTIONS)
            .map(|option| CString::new(option).expect("options contain no zero"))
            .collect();
        let pointers: Vec<_> = options.iter().map(|option| option.as_ptr()).collect();
        // SAFETY: there are that many options, each ending with zero.
        let code = unsafe {
            (self.functions.compile)(program.program, pointers.len() as c_int, pointers.as_ptr())
        };
        if code == INVALID_OPTION {
            return Err(Error::Missing(format!(
                "{device}: {} does not know {architecture}: install a newer one (pip install \
                 nvidia-cuda-nvrtc), and name its file in {}",
                self.describe(),
                search::VARIABLE
            )));
        }
        if code != SUCCESS {
            return Err(log_of(program.log().unwrap_or_else(|| self.reason(code))));
        }
        let mut size = 0;
        // SAFETY: this is a place for a number.
        check(unsafe { (self.functions.cubin_size)(program.program, &mut size) })?;
        let mut image = vec![0u8; size];
        // SAFETY: there is room for that many bytes.
        check(unsafe { (self.functions.cubin)(program.program, image.as_mut_ptr().cast()) })?;
        Ok(image)
    }

    fn reason(&self, code: c_int) -> String {
        // SAFETY: the library returns constant text, for any code.
        unsafe { CStr::from_ptr((self.functions.error_string)(code)) }
            .to_string_lossy()
            .into_owned()
    }
}

/// A program, destroyed when dropped.
struct OwnedProgram<'n> {
    nvrtc: &'n Nvrtc,
    program: Program,
}

impl OwnedProgram<'_> {
    /// What the compiler said.
    fn log(&self) -> Option<String> {
        let functions = &self.nvrtc.functions;
        let mut size = 0;
        // SAFETY: this is a place for a number.
        if unsafe { (functions.log_size)(self.program, &mut size) } != SUCCESS {
            return None;
        }
        let mut log = vec![0u8; size];
        // SAFETY: there is room for that many bytes.
        if unsafe { (functions.log)(self.program, log.as_mut_ptr().cast()) } != SUCCESS {
            return None;
        }
        Some(String::from_utf8_lossy(&log).trim_end_matches('\0').trim().to_owned())
    }
}

impl Drop for OwnedProgram<'_> {
    fn drop(&mut self) {
        if !self.program.is_null() {
            // SAFETY: the program was created, and is not used again.
            unsafe { (self.nvrtc.functions.destroy)(&mut self.program) };
        }
    }
}

fn find() -> std::result::Result<Nvrtc, String> {
    let candidates = search::candidates();
    let mut reasons = Vec::new();
    for path in &candidates {
        match Nvrtc::open(path) {
            Ok(nvrtc) => return Ok(nvrtc),
            Err(error) => {
                // The loader's own words are behind those of `libloading`.
                let words = error.source().map_or(error.to_string(), ToString::to_string);
                reasons.push(format!("{}: {words}", path.display()));
            }
        }
    }
    if let (Some(_), [reason]) = (std::env::var_os(search::VARIABLE), &reasons[..]) {
        return Err(format!(
            "{} names a library that cannot be loaded as NVIDIA's libnvrtc.so: {reason}",
            search::VARIABLE
        ));
    }
    let folders: Vec<_> =
        search::folders().iter().map(|folder| folder.display().to_string()).collect();
    let folders = if folders.is_empty() { "no folder of CUDA".into() } else { folders.join(", ") };
    // The last one is the most specific place.
    let last = reasons.pop().unwrap_or_default();
    Err(format!(
        "kernels are compiled by NVIDIA's libnvrtc.so, which was not found (the loader's path and \
         {folders} were tried; {last}): install the CUDA toolkit, or `pip install nvidia-cuda-nvrtc`, \
         or name the file in {}",
        search::VARIABLE
    ))
}

/// Loads the part of NVRTC that it looks for itself, in the loader's path only, from its own folder.
fn preload_builtins(path: &Path) {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return;
    };
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("libnvrtc-builtins.so") {
            // SAFETY: as for the library itself. It stays loaded, so that its name is known.
            if let Ok(library) = unsafe { Library::new(entry.path()) } {
                std::mem::forget(library);
            }
        }
    }
}
