//! The drivers that tests run on: emulated ones, and a GPU where that is asked for.

use std::io::Write;
use std::sync::{Arc, Once};

use parton_gpu::discover;
use parton_gpu::driver::{Driver, Launch};
use parton_gpu::emulated::{Emulated, Settings};

/// Calls `test` with a driver of each kind. The GPU is one if `PARTON_TEST_GPU` is 1.
pub(crate) fn on_each_driver(test: impl Fn(&Arc<dyn Driver>)) {
    for (is_deferred, seed) in [(true, 1), (true, 2), (false, 3)] {
        test(&emulated(Settings { is_deferred, seed, ..Settings::default() }));
    }
    if is_gpu_wanted() {
        test(&discover::open("gpu").expect("PARTON_TEST_GPU asks for tests on a GPU"));
    } else {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| match discover::list() {
            Ok(_) => say("tests on the GPU were not run: set PARTON_TEST_GPU=1"),
            Err(reason) => say(&format!("tests on a GPU were not run: {reason}")),
        });
    }
}

/// True if tests shall run on a GPU, too.
pub(crate) fn is_gpu_wanted() -> bool {
    std::env::var("PARTON_TEST_GPU").as_deref() == Ok("1")
}

/// Writes a line that is seen even if the test passes.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "\n{line}");
}

/// An emulated device.
pub(crate) fn emulated(settings: Settings) -> Arc<dyn Driver> {
    Arc::new(Emulated::new(settings))
}

/// Blocks and threads that need not run at once.
pub(crate) fn grid(blocks: u32, threads: u32) -> Launch {
    Launch { blocks, threads, is_cooperative: false }
}

/// Blocks and threads that run at once.
pub(crate) fn cooperative(blocks: u32, threads: u32) -> Launch {
    Launch { blocks, threads, is_cooperative: true }
}
