//! Kernels as code of this machine: the text becomes a shared library, by the machine's own C++ compiler.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use super::DEVICE;
use crate::error::{Error, Result};

/// Gives kernels CUDA's names.
const SHIM: &str = include_str!("../../kernels/emulated.hpp");

/// As NVRTC compiles for a GPU: no contraction of `a * b + c`, integers that wrap around, and no
/// assumptions on which pointers alias.
const OPTIONS: &[&str] = &[
    "-x",
    "c++",
    "-std=c++17",
    "-O1",
    "-shared",
    "-fPIC",
    "-w",
    "-ffp-contract=off",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-threadsafe-statics",
    "-fvisibility=hidden",
    // Fibers change stacks, which shadow stacks do not allow.
    #[cfg(target_arch = "x86_64")]
    "-fcf-protection=none",
];

/// The compiler: the variable `CXX`, or g++.
fn program() -> OsString {
    std::env::var_os("CXX").filter(|name| !name.is_empty()).unwrap_or_else(|| "g++".into())
}

/// The compiler with its version, options, and the text that is put before each module.
pub(super) fn identity() -> Result<String> {
    static VERSION: OnceLock<std::result::Result<String, String>> = OnceLock::new();
    let version = VERSION.get_or_init(|| {
        let output = Command::new(program()).arg("--version").output();
        let output = output.map_err(|error| missing(&error))?;
        let lines = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(lines.lines().next().unwrap_or_default().to_owned())
    });
    let version = version.clone().map_err(Error::Missing)?;
    Ok(format!("{version}\n{OPTIONS:?}\n{SHIM}"))
}

fn missing(error: &std::io::Error) -> String {
    format!(
        "the emulated device compiles kernels with {:?}, which does not start ({error}): install g++, \
         or name a C++ compiler in the variable CXX",
        program()
    )
}

/// A shared library with these kernels.
pub(super) fn compile(text: &str) -> Result<Vec<u8>> {
    let internal = |action| move |error: std::io::Error| super::failed(action, error.to_string());
    let folder = tempfile::tempdir().map_err(internal("make a folder for the compiler"))?;
    let [source, expanded, library] =
        ["kernels.cu", "expanded.cu", "kernels.so"].map(|name| folder.path().join(name));
    let whole = format!("#line 1 \"emulated.hpp\"\n{SHIM}\n#line 1 \"kernels.cu\"\n{text}\n");
    std::fs::write(&source, whole).map_err(internal("write for the compiler"))?;

    // Kernels may come from macros: look for them after these have been replaced.
    run(&["-E"], &source, &expanded)?;
    let mut whole =
        std::fs::read_to_string(&expanded).map_err(internal("read what the compiler wrote"))?;
    let entries: String = kernel_names(&whole).into_iter().map(entry).collect();
    whole.push_str(&entries);
    std::fs::write(&expanded, whole).map_err(internal("write for the compiler"))?;
    run(&["-D__global__="], &expanded, &library)?;
    std::fs::read(&library).map_err(internal("read what the compiler wrote"))
}

/// Runs the compiler.
fn run(more: &[&str], source: &Path, output: &Path) -> Result<()> {
    let result =
        Command::new(program()).args(OPTIONS).args(more).arg("-o").arg(output).arg(source).output();
    let result = result.map_err(|error| Error::Missing(missing(&error)))?;
    if result.status.success() {
        return Ok(());
    }
    let log = String::from_utf8_lossy(&result.stderr).into_owned();
    Err(Error::Compile { device: DEVICE.into(), log })
}

/// The variable in which [`library`](super::library) finds a kernel.
fn entry(kernel: &str) -> String {
    format!(
        "\nextern \"C\" {{ __attribute__((visibility(\"default\"))) parton_emulated::Entry \
         parton_entry_{kernel} = parton_emulated::Signature<decltype({kernel})>\
         ::entry<{kernel}>(); }}\n"
    )
}

/// Names of all functions marked `__global__` in text without macros and comments.
fn kernel_names(text: &str) -> Vec<&str> {
    text.split("__global__").skip(1).filter_map(kernel_name).collect()
}

/// The name in `void __attribute__((…)) name(…`.
fn kernel_name(declaration: &str) -> Option<&str> {
    let parameters = declaration.find('(')?;
    let before = declaration[..parameters].trim_end();
    let start = before.rfind(|letter: char| !letter.is_alphanumeric() && letter != '_')?;
    Some(&before[start + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_found_by_their_mark() {
        let text = "__device__ int f(); extern \"C\" __global__ void first(int* a) {}\n\
                    extern \"C\" __global__\nvoid\nsecond_2 (float b) { f(); }";
        assert_eq!(kernel_names(text), ["first", "second_2"]);
    }
}
