//! NVIDIA's compiler for kernels, which needs no GPU: tests compile all kernels with it. A machine
//! without CUDA gets it from Python's package index, into `target/`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{root, step};

/// The package, which is the library and little else.
const PACKAGE: &str = "nvidia-cuda-nvrtc-cu12";
/// The library.
const FILE: &str = "libnvrtc.so.12";

/// The file that tests shall load, or `None` if they find one themselves, or there is none. Its absence
/// is no failure: tests say what they left out.
pub(crate) fn install() -> Option<PathBuf> {
    if std::env::var_os("PARTON_NVRTC").is_some() || has_cuda() {
        return None;
    }
    let folder = root().join("target/nvrtc");
    let file = || find(&folder.join("nvidia"));
    if file().is_none() {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]);
        pip.args(["--retries", "1", "--timeout", "15", "--target"]).arg(&folder).arg(PACKAGE);
        step("NVRTC for the tests", &mut pip);
    }
    if file().is_none() {
        eprintln!(
            "kernels will not be compiled for GPUs: pip install {PACKAGE}, and set PARTON_NVRTC"
        );
    }
    file()
}

/// True if there is a CUDA toolkit where tests look for it.
fn has_cuda() -> bool {
    let known = Command::new("ldconfig").arg("-p").output();
    let known = known.map(|output| String::from_utf8_lossy(&output.stdout).contains("libnvrtc.so"));
    known.unwrap_or(false) || Path::new("/usr/local/cuda/lib64/libnvrtc.so").exists()
}

/// The library in a folder of NVIDIA's packages.
fn find(folder: &Path) -> Option<PathBuf> {
    let packages = std::fs::read_dir(folder).ok()?.flatten();
    packages.map(|package| package.path().join("lib").join(FILE)).find(|file| file.exists())
}
