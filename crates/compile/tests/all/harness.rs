//! Runs device code on this machine: g++ compiles it to a library, which is loaded.
//!
//! Tests of other crates include this file, too.

#![allow(dead_code, reason = "not every crate that includes this file needs all of it")]

use std::path::Path;
use std::process::Command;

use libloading::Library;
use parton_engine::device::DeviceProgram;
use parton_engine::device::program::Word;
use tempfile::TempDir;

const PRELUDE: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../gpu/kernels/prelude.cu"));

/// Values from and to slots of eight bytes.
const SLOTS: &str = "
template <class T> static T from_slot(u64 bits) {
    T value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}
template <class T> static void to_slots(u64* slots, T value) {
    __builtin_memcpy(slots, &value, sizeof value);
}
template <class T> static void to_slots(u64* slots, Option<T> option) {
    slots[0] = option.is_some;
    if (option.is_some) __builtin_memcpy(slots + 1, &option.value, sizeof option.value);
}
";

/// Options of the compiler that must not change a result.
const LEVELS: [&str; 2] = ["-O0", "-O2"];

/// Slots of a result.
pub(crate) const RESULT_SLOTS: usize = 8;

/// Functions that were compiled, once for each of the options.
pub(crate) struct Compiled {
    libraries: Vec<Library>,
    _folder: TempDir,
}

/// Compiles text that follows the prelude. It defines functions `extern "C" void name(const void*
/// program, u64 count, const u64* arguments, u64* results)`.
pub(crate) fn compile(text: &str) -> Compiled {
    let folder = tempfile::tempdir().expect("a folder for compiled code");
    let source = folder.path().join("code.cpp");
    std::fs::write(&source, format!("{PRELUDE}{SLOTS}{text}")).expect("room for the text");
    let libraries = LEVELS.iter().map(|level| library(&source, level, text)).collect();
    Compiled { libraries, _folder: folder }
}

fn library(source: &Path, level: &str, text: &str) -> Library {
    let path = source.with_file_name(format!("code{level}.so"));
    let mut command = Command::new("g++");
    command.args(["-std=c++17", "-shared", "-fPIC", "-ffp-contract=off", "-w", level]);
    let output = command.arg(source).arg("-o").arg(&path).output();
    let output = output.expect("these tests need g++: apt-get install g++");
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "g++ {level}:\n{log}\n{text}");
    // SAFETY: the library has no initialisers.
    unsafe { Library::new(&path) }.expect("g++ writes libraries that can be loaded")
}

impl Compiled {
    /// Calls a function for each group of arguments. Returns its results with each of the options.
    pub(crate) fn call(
        &self,
        name: &str,
        program: &[u64],
        arguments: &[u64],
        count: usize,
    ) -> Vec<Vec<[u64; RESULT_SLOTS]>> {
        type Function = unsafe extern "C" fn(*const u64, u64, *const u64, *mut u64);
        let run = |library: &Library| {
            let mut results = vec![[0_u64; RESULT_SLOTS]; count];
            // SAFETY: the text defines functions of this type, which stay inside the arrays.
            unsafe {
                let function = library.get::<Function>(name.as_bytes()).expect("it is defined");
                let results = results.as_flattened_mut().as_mut_ptr();
                function(program.as_ptr(), count as u64, arguments.as_ptr(), results);
            }
            results
        };
        self.libraries.iter().map(run).collect()
    }
}

/// A function that calls `call` for each group of `width` arguments, which are in `a`.
pub(crate) fn wrapper(name: &str, width: usize, call: &str) -> String {
    format!(
        "extern \"C\" void {name}(const void* program, u64 count, const u64* a, u64* results) {{
    (void)program;
    for (u64 i = 0; i < count; ++i, a += {width}, results += {RESULT_SLOTS}) {{
        {call}
    }}
}}
"
    )
}

/// The parameters of a program as its functions get them on this machine.
pub(crate) fn parameters(program: &DeviceProgram<'_>) -> Vec<u64> {
    let word = |word: &Word<'_>| match word {
        Word::Bits(bits) => *bits,
        Word::Array(bytes) => bytes.as_ptr() as u64,
    };
    program.words().iter().map(word).collect()
}

/// Pseudo-random numbers (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 31
    }

    /// A value: often one at which functions go wrong.
    pub(crate) fn value<T: Slot>(&mut self) -> T {
        let bits = self.next();
        match bits % 3 {
            0 => T::SPECIAL[self.next() as usize % T::SPECIAL.len()],
            1 => T::small(self.next()),
            _ => T::of_bits(self.next()),
        }
    }
}

/// A type of arguments and results.
pub(crate) trait Slot: Copy + std::fmt::Debug + 'static {
    const SPECIAL: &'static [Self];

    fn of_bits(bits: u64) -> Self;

    /// A number near 0.
    fn small(bits: u64) -> Self;

    fn bits(self) -> u64;

    /// The bits of a result, which are the same for all NaNs: Rust does not say which one it is.
    fn known_bits(self) -> u64 {
        self.bits()
    }
}

macro_rules! integer_slot {
    ($($type:ident),+) => {
        $(impl Slot for $type {
            const SPECIAL: &'static [Self] = &[
                0, 1, 2, 31, 32, 33, 63, 64, $type::MAX, $type::MAX - 1, $type::MIN, $type::MIN + 1,
                $type::MAX / 2, $type::MAX / 2 + 1,
            ];

            fn of_bits(bits: u64) -> Self {
                bits as $type
            }

            fn small(bits: u64) -> Self {
                ((bits % 200) as $type).wrapping_sub(if $type::MIN == 0 { 0 } else { 100 })
            }

            fn bits(self) -> u64 {
                // Without the sign, as memory has it.
                u64::from_ne_bytes({
                    let mut slot = [0; 8];
                    let bytes = self.to_ne_bytes();
                    slot[..bytes.len()].copy_from_slice(&bytes);
                    slot
                })
            }
        })+
    };
}

integer_slot!(u32, i32, u64, i64);

macro_rules! float_slot {
    ($($type:ident, $bits:ident);+) => {
        $(impl Slot for $type {
            const SPECIAL: &'static [Self] = &[
                0.0, -0.0, 1.0, -1.0, 0.1, 0.5, -1.5, 2147483647.0, 2147483648.0, -2147483648.0,
                4294967295.0, 4294967296.0, 9223372036854775808.0, 18446744073709551615.0,
                $type::NAN, -$type::NAN, $type::INFINITY, $type::NEG_INFINITY, $type::MAX,
                $type::MIN, $type::MIN_POSITIVE, $type::MIN_POSITIVE / 3.0, $type::EPSILON,
                $type::from_bits(1),
            ];

            fn of_bits(bits: u64) -> Self {
                $type::from_bits(bits as $bits)
            }

            fn small(bits: u64) -> Self {
                (bits % 4000) as $type / 16.0 - 100.0
            }

            fn bits(self) -> u64 {
                self.to_bits().into()
            }

            fn known_bits(self) -> u64 {
                if self.is_nan() { $type::NAN.bits() } else { self.bits() }
            }
        })+
    };
}

float_slot!(f32, u32; f64, u64);

impl Slot for () {
    const SPECIAL: &'static [Self] = &[()];

    fn of_bits(_: u64) -> Self {}

    fn small(_: u64) -> Self {}

    fn bits(self) -> u64 {
        0
    }
}

impl Slot for bool {
    const SPECIAL: &'static [Self] = &[false, true];

    fn of_bits(bits: u64) -> Self {
        bits % 2 == 1
    }

    fn small(bits: u64) -> Self {
        bits % 2 == 1
    }

    fn bits(self) -> u64 {
        self.into()
    }
}

/// What a function returns.
pub(crate) trait Outcome {
    /// What it is in slots.
    fn slots(self) -> [u64; RESULT_SLOTS];

    /// The same slots with NaNs made equal, for slots that a device wrote.
    fn known(slots: [u64; RESULT_SLOTS]) -> [u64; RESULT_SLOTS];
}

fn first(bits: u64) -> [u64; RESULT_SLOTS] {
    std::array::from_fn(|place| if place == 0 { bits } else { 0 })
}

impl<T: Slot> Outcome for T {
    fn slots(self) -> [u64; RESULT_SLOTS] {
        first(self.known_bits())
    }

    fn known(slots: [u64; RESULT_SLOTS]) -> [u64; RESULT_SLOTS] {
        first(T::of_bits(slots[0]).known_bits())
    }
}

impl<T: Slot> Outcome for Option<T> {
    fn slots(self) -> [u64; RESULT_SLOTS] {
        let mut slots = first(self.is_some().into());
        slots[1] = self.map_or(0, T::known_bits);
        slots
    }

    fn known(slots: [u64; RESULT_SLOTS]) -> [u64; RESULT_SLOTS] {
        (slots[0] != 0).then(|| T::of_bits(slots[1])).slots()
    }
}
