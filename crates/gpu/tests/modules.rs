//! Compiled modules: kept and found again, damaged ones never loaded, and all kernels in the language of
//! NVIDIA's compiler where that is on this machine.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use parton_gpu::Result;
use parton_gpu::cuda::nvrtc::Nvrtc;
use parton_gpu::driver::Driver;
use parton_gpu::emulated::Settings;
use parton_gpu::module::{Cache, Module, whole_text};

use crate::common::{emulated, say};
use crate::kernels;

/// A text that no other test compiles.
fn fresh_text() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("extern \"C\" __global__ void k() {{ }} // {number}")
}

fn load(cache: &Cache, driver: &Arc<dyn Driver>, text: &str) -> Result<()> {
    Module::load_with(cache, driver, text, &["k"]).map(drop)
}

/// Entries of a cache, oldest first.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort_by_key(|path| path.metadata().unwrap().modified().unwrap());
    entries
}

#[test]
fn an_image_is_kept_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("made/when/needed");
    let driver = emulated(Settings::default());
    load(&Cache::new(&inner, 1 << 20), &driver, &fresh_text()).unwrap();
    load(&Cache::new(&inner, 1 << 20), &driver, &fresh_text()).unwrap();
    assert_eq!(entries(&inner).len(), 2);
}

#[test]
fn hosts_compile_a_text_once() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::new(folder.path(), 1 << 20);
    let text = fresh_text();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| load(&cache, &emulated(Settings::default()), &text).unwrap());
        }
    });
    let entry = entries(folder.path()).pop().unwrap();
    std::fs::remove_file(&entry).unwrap();
    // This process still knows it.
    load(&cache, &emulated(Settings::default()), &text).unwrap();
    assert_eq!(entries(folder.path()).len(), 0);
}

#[test]
fn an_old_entry_makes_room() {
    let folder = tempfile::tempdir().unwrap();
    let driver = emulated(Settings::default());
    load(&Cache::new(folder.path(), 0), &driver, &fresh_text()).unwrap();
    let first = entries(folder.path());
    let bytes = first[0].metadata().unwrap().len();
    let hour_ago = SystemTime::now() - Duration::from_secs(3600);
    std::fs::File::options().write(true).open(&first[0]).unwrap().set_modified(hour_ago).unwrap();
    // Room for two and a half.
    let cache = Cache::new(folder.path(), bytes * 5 / 2);
    load(&cache, &driver, &fresh_text()).unwrap();
    assert_eq!(entries(folder.path()).len(), 2);
    load(&cache, &driver, &fresh_text()).unwrap();
    let left = entries(folder.path());
    assert!(left.len() == 2 && !left.contains(&first[0]));
}

#[test]
fn a_folder_that_cannot_be_written_does_no_harm() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let cache = Cache::new(&file.path().join("below/a/file"), 1 << 20);
    load(&cache, &emulated(Settings::default()), &fresh_text()).unwrap();
}

#[test]
fn all_kernels_compile_for_gpus() {
    let nvrtc = match Nvrtc::get() {
        Ok(nvrtc) => nvrtc,
        Err(reason) => return say(&format!("kernels were not compiled for GPUs: {reason}")),
    };
    let known = nvrtc.architectures();
    for architecture in ["sm_70", "sm_75", "sm_80", "sm_90", "sm_100"] {
        // Newer versions drop old ones.
        if !known.iter().any(|known| known == architecture) {
            continue;
        }
        for text in kernels::texts() {
            let image = nvrtc.compile("gpu:0", architecture, &whole_text(&text));
            assert!(image.unwrap().starts_with(b"\x7fELF"));
        }
    }
    let wrong = nvrtc.compile("gpu:0", &known[0], "__global__ void k() { undeclared = 1; }");
    let message = wrong.unwrap_err().to_string();
    assert!(message.contains("undeclared"), "{message}");
    let unknown = nvrtc.compile("gpu:0", "sm_11", "").unwrap_err().to_string();
    assert!(unknown.contains("does not know sm_11"), "{unknown}");
}
