//! Where NVIDIA's compiler for kernels may lie: the loader's path, CUDA's folders, Python's packages.

use std::path::{Path, PathBuf};

/// Variable that names the file. No other place is tried then.
pub(super) const VARIABLE: &str = "PARTON_NVRTC";
/// Names of the library, newest first.
const NAMES: [&str; 3] = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"];

/// What to try, in this order.
pub(super) fn candidates() -> Vec<PathBuf> {
    if let Some(file) = std::env::var_os(VARIABLE).filter(|file| !file.is_empty()) {
        return vec![file.into()];
    }
    let in_folders = folders().into_iter().flat_map(|folder| NAMES.map(|name| folder.join(name)));
    // A name without a folder is looked for by the loader.
    NAMES.iter().map(PathBuf::from).chain(in_folders.filter(|file| file.exists())).collect()
}

/// Folders that may hold it.
pub(super) fn folders() -> Vec<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let mut toolkits: Vec<PathBuf> =
        ["CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX"].into_iter().filter_map(variable).collect();
    toolkits.extend(children("/usr/local".as_ref(), "cuda"));
    let mut found: Vec<_> = toolkits
        .iter()
        .flat_map(|toolkit| {
            ["lib64", "lib", "targets/x86_64-linux/lib"].map(|lib| toolkit.join(lib))
        })
        .collect();
    let pythons = ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(variable);
    let pythons = pythons.chain(variable("HOME").map(|home| home.join(".local")));
    for python in pythons.chain(["/usr".into(), "/usr/local".into()]) {
        for version in children(&python.join("lib"), "python3") {
            for packages in ["site-packages", "dist-packages"] {
                let parts = children(&version.join(packages).join("nvidia"), "");
                found.extend(parts.into_iter().map(|part| part.join("lib")));
            }
        }
    }
    found.retain(|folder| folder.is_dir());
    found
}

/// What lies in a folder under a name with this start, last name first: the newest version, mostly.
fn children(folder: &Path, start: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(start))
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    paths.reverse();
    paths
}
