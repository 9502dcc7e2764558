//! Kernels of a program, and starting them with typed arguments.

use std::sync::Arc;

use bytemuck::{NoUninit, bytes_of};
use parton_engine::device::DeviceProgram;
use parton_engine::device::program::Word;

use crate::driver::{Driver, Launch};
use crate::error::Result;
use crate::memory::{Buffer, Uploader};
use crate::module::Module;

/// Rust's types and operators, before the text of every program.
const PRELUDE: &str = include_str!("../kernels/prelude.cu");
/// Edges, bits and folds, before the kernels of every engine.
const ROWS: &str = include_str!("../kernels/rows.cu");
/// Blocks of a launch, per processor of the device. More blocks than run at once share out uneven work.
const BLOCKS_PER_PROCESSOR: u32 = 16;

/// Threads of a block at most: kernels have shared memory for more, but gain nothing from it.
const MAX_THREADS: u32 = 256;

/// The arguments of a kernel, each as it lies in memory.
#[derive(Default)]
pub(crate) struct Arguments {
    /// Each argument begins with a slot of its own, so that it is aligned.
    slots: Vec<u128>,
    /// First slot and bytes of each.
    parts: Vec<(usize, usize)>,
}

impl Arguments {
    /// Adds one.
    pub(crate) fn push<T: NoUninit>(&mut self, argument: T) {
        self.push_bytes(bytes_of(&argument));
    }

    /// Adds a struct of whole words.
    pub(crate) fn push_words(&mut self, words: &[u64]) {
        self.push_bytes(bytemuck::cast_slice(words));
    }

    fn push_bytes(&mut self, bytes: &[u8]) {
        let first = self.slots.len();
        self.slots.resize(first + bytes.len().div_ceil(size_of::<u128>()), 0);
        bytemuck::cast_slice_mut(&mut self.slots[first..])[..bytes.len()].copy_from_slice(bytes);
        self.parts.push((first, bytes.len()));
    }

    fn all(&self) -> impl Iterator<Item = &[u8]> {
        let part =
            |&(first, len): &(usize, usize)| &bytemuck::cast_slice(&self.slots[first..])[..len];
        self.parts.iter().map(part)
    }
}

/// The arguments of a kernel.
macro_rules! arguments {
    ($($argument:expr),* $(,)?) => {{
        let mut arguments = $crate::launch::Arguments::default();
        $(arguments.push($argument);)*
        arguments
    }};
}
pub(crate) use arguments;

/// The kernels of one program on one device.
pub(crate) struct Kernels {
    module: Module,
    threads: u32,
    blocks: u32,
}

/// The struct `Program` of a program's kernels: its numbers, and where its arrays are.
pub(crate) struct Parameters {
    words: Vec<u64>,
    /// The arrays, which `words` has the addresses of.
    _arrays: Vec<Buffer<u8>>,
}

impl Parameters {
    /// Uploads the arrays.
    pub(crate) fn new(uploader: &Uploader, program: &DeviceProgram<'_>) -> Result<Self> {
        let (mut words, mut arrays) = (Vec::new(), Vec::new());
        for word in program.words() {
            words.push(match word {
                Word::Bits(bits) => *bits,
                Word::Array(bytes) => {
                    let copy = uploader.buffer(bytes)?;
                    let address = copy.address().0;
                    arrays.push(copy);
                    address
                }
            });
        }
        // A program without parameters has one word, too.
        if words.is_empty() {
            words.push(0);
        }
        Ok(Parameters { words, _arrays: arrays })
    }

    /// Takes over numbers that have changed. Arrays stay as they are.
    pub(crate) fn update(&mut self, program: &DeviceProgram<'_>) {
        for (mine, word) in self.words.iter_mut().zip(program.words()) {
            if let Word::Bits(bits) = word {
                *mine = *bits;
            }
        }
    }
}

impl Kernels {
    /// Compiles the kernels of an engine for a program. `defines` are lines before them.
    pub(crate) fn new(
        driver: &Arc<dyn Driver>,
        program: &DeviceProgram<'_>,
        defines: &str,
        engine: &[&str],
        names: &[&str],
    ) -> Result<Self> {
        let text = [PRELUDE, &program.text(), defines, ROWS, &engine.concat()].join("\n");
        let module = Module::load(driver, &text, names)?;
        let info = driver.info();
        let blocks = info.multiprocessors * BLOCKS_PER_PROCESSOR;
        Ok(Kernels { module, threads: info.threads_per_block.min(MAX_THREADS), blocks })
    }

    /// Queues a kernel that shares out `work` items, over its parameters but the program's.
    pub(crate) fn launch(&self, name: &str, work: u64, arguments: &Arguments) -> Result<()> {
        self.launch_as(name, self.grid(work, self.threads), arguments)
    }

    /// The same as a grid of any form.
    pub(crate) fn launch_as(
        &self,
        name: &str,
        launch: Launch,
        arguments: &Arguments,
    ) -> Result<()> {
        let arguments: Vec<_> = arguments.all().collect();
        self.module.launch(name, launch, &arguments)
    }

    /// The same, with the program's parameters first.
    pub(crate) fn run(
        &self,
        name: &str,
        work: u64,
        program: &Parameters,
        arguments: &Arguments,
    ) -> Result<()> {
        self.run_as(name, self.grid(work, self.threads), program, arguments)
    }

    /// Queues a kernel of any form, with the program's parameters first.
    pub(crate) fn run_as(
        &self,
        name: &str,
        launch: Launch,
        program: &Parameters,
        arguments: &Arguments,
    ) -> Result<()> {
        let program: &[u8] = bytemuck::cast_slice(&program.words);
        let arguments: Vec<_> = std::iter::once(program).chain(arguments.all()).collect();
        self.module.launch(name, launch, &arguments)
    }

    /// Blocks of this many threads for so much work.
    fn grid(&self, work: u64, threads: u32) -> Launch {
        let blocks = work.div_ceil(threads.into()).clamp(1, self.blocks.into()) as u32;
        Launch { blocks, threads, is_cooperative: false }
    }

    /// Number of blocks of this many threads that run at once.
    pub(crate) fn blocks_at_once(&self, name: &str, threads: u32) -> Result<u32> {
        self.module.driver().blocks_at_once(self.module.kernel(name), threads)
    }

    /// Waits until everything that was queued is done.
    pub(crate) fn synchronize(&self) -> Result<()> {
        self.module.driver().synchronize()
    }

    /// Threads of a block.
    pub(crate) fn threads(&self) -> u32 {
        self.threads
    }
}

/// Reads one value from the device. Waits for all queued work.
pub(crate) fn read<T: bytemuck::Pod>(buffer: &Buffer<T>) -> Result<T> {
    let mut value = [T::zeroed()];
    buffer.download(0, &mut value)?;
    Ok(value[0])
}
