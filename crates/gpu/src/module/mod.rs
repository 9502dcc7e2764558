//! From text to kernels that can be started. Each text is compiled once: images are kept in this
//! process, where hosts share them, and [on disk](Cache).

mod cache;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};

pub use cache::Cache;

use crate::driver::{Driver, Kernel, Launch};
use crate::error::{Error, Result};

/// Stands before the text of each module: what differs between a GPU and the emulator.
const PLATFORM: &str = include_str!("../../kernels/platform.cu");

/// Kernels that were loaded onto a device.
pub struct Module {
    driver: Arc<dyn Driver>,
    kernels: Vec<(String, Kernel)>,
}

impl Module {
    /// Loads kernels of a text, and compiles it if this was not done before.
    pub fn load(driver: &Arc<dyn Driver>, text: &str, kernels: &[&str]) -> Result<Module> {
        Module::load_with(&Cache::of_user(), driver, text, kernels)
    }

    /// The same with another cache.
    pub fn load_with(
        cache: &Cache,
        driver: &Arc<dyn Driver>,
        text: &str,
        kernels: &[&str],
    ) -> Result<Module> {
        let image = image(cache, driver.as_ref(), &whole_text(text))?;
        let loaded = driver.load(&image, kernels)?;
        let kernels = kernels.iter().map(|name| (*name).to_owned()).zip(loaded).collect();
        Ok(Module { driver: driver.clone(), kernels })
    }

    /// A kernel by its name.
    ///
    /// # Panics
    ///
    /// If it was not asked for.
    pub fn kernel(&self, name: &str) -> Kernel {
        let found = self.kernels.iter().find(|(known, _)| known == name);
        found.unwrap_or_else(|| panic!("no kernel `{name}` was loaded")).1
    }

    /// Queues a kernel by its name.
    pub fn launch(&self, name: &str, launch: Launch, arguments: &[&[u8]]) -> Result<()> {
        self.driver.launch(self.kernel(name), launch, arguments)
    }

    /// The driver of the device.
    pub fn driver(&self) -> &Arc<dyn Driver> {
        &self.driver
    }
}

/// The text that is compiled for a module: that of the platform, and the module's own, with its own
/// numbers of lines.
pub fn whole_text(text: &str) -> String {
    format!("#line 1 \"platform.cu\"\n{PLATFORM}\n#line 1 \"module.cu\"\n{text}\n")
}

/// A compiled text, or where it will be.
type Slot = Arc<Mutex<Option<Arc<Vec<u8>>>>>;

/// Images of this process. Hosts that ask for the same one wait for the first.
static IMAGES: Mutex<Option<HashMap<[u8; 32], Slot>>> = Mutex::new(None);

/// The image of a text.
fn image(cache: &Cache, driver: &dyn Driver, text: &str) -> Result<Arc<Vec<u8>>> {
    let mut digest = Sha256::new();
    let compiler = driver.compiler()?;
    digest.update((compiler.len() as u64).to_le_bytes());
    digest.update(compiler);
    digest.update(text);
    let key: [u8; 32] = digest.finalize().into();

    let slot = {
        let mut images = IMAGES.lock().unwrap_or_else(PoisonError::into_inner);
        images.get_or_insert_default().entry(key).or_default().clone()
    };
    let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(image) = &*slot {
        return Ok(image.clone());
    }
    let image = match cache.read(&key) {
        Some(image) => image,
        None => {
            let image = driver.compile(text).map_err(|error| with_lines(error, text))?;
            cache.write(&key, &image);
            image
        }
    };
    Ok(slot.insert(Arc::new(image)).clone())
}

/// Adds the lines of a module that the compiler's log mentions, since no file has them.
fn with_lines(error: Error, text: &str) -> Error {
    let Error::Compile { device, mut log } = error else {
        return error;
    };
    let own = text.split_once("#line 1 \"module.cu\"\n").map_or(text, |(_, own)| own);
    let lines: Vec<&str> = own.lines().collect();
    let mut mentioned: Vec<usize> = log
        .split("module.cu")
        .skip(1)
        // g++ writes `module.cu:12:`, and NVRTC `module.cu(12):`.
        .filter_map(|rest| rest.get(1..)?.split([':', ')']).next()?.parse().ok())
        .collect();
    mentioned.sort_unstable();
    mentioned.dedup();
    for number in mentioned.into_iter().take(20) {
        if let Some(line) = number.checked_sub(1).and_then(|index| lines.get(index)) {
            log.push_str(&format!("\n{number:5} | {line}"));
        }
    }
    Error::Compile { device, log }
}
