//! What the compiler makes of a program: a plan, and the code that the plan numbers.

use parton_engine::device::operators::OperatorText;
use parton_plan::{CompiledPlan, OperatorPart};
use parton_sync::AtomicValue;

use crate::column::AnyColumn;
use crate::host::Host;
use crate::processor::ProgramWeight;

/// A value of a program.
pub trait Element: AtomicValue + Default {
    /// The value as 64 bits.
    fn to_bits(self) -> u64;
    /// The value that these bits are.
    fn of_bits(bits: u64) -> Self;
}

macro_rules! element {
    ($($type:ty: $to:expr, $of:expr;)+) => {
        $(impl Element for $type {
            #[inline(always)]
            fn to_bits(self) -> u64 {
                $to(self)
            }

            #[inline(always)]
            fn of_bits(bits: u64) -> Self {
                $of(bits)
            }
        })+
    };
}

element! {
    u32: u64::from, |bits| bits as u32;
    u64: |value| value, |bits| bits;
    i32: |value: i32| u64::from(value.cast_unsigned()), |bits| (bits as u32).cast_signed();
    i64: i64::cast_unsigned, u64::cast_signed;
    f32: |value: f32| u64::from(value.to_bits()), |bits| f32::from_bits(bits as u32);
    f64: f64::to_bits, f64::from_bits;
    bool: u64::from, |bits| bits != 0;
}

/// What code outside operators sees.
#[derive(Clone, Copy, Debug)]
pub struct Uniform<'h> {
    /// The bits of all scalars.
    pub scalars: &'h [u64],
    /// Number of vertices of the whole graph.
    pub num_vertices: u64,
    /// Number of edges of the whole graph.
    pub num_edges: u64,
}

impl Uniform<'_> {
    /// The value of a scalar.
    #[inline(always)]
    pub fn scalar<T: Element>(&self, number: usize) -> T {
        T::of_bits(self.scalars[number])
    }
}

/// What of a compiled program with its arguments does not depend on the type of weights: what happens when, its columns,
/// and its values outside operators.
pub trait Outline: Sync {
    /// What happens when.
    fn plan(&self) -> &CompiledPlan;

    /// The bits of the arguments.
    fn arguments(&self) -> Vec<u64>;

    /// A new column, for this many proxies, of which other hosts have some if it is shared.
    fn column(&self, number: usize, proxies: usize, is_shared: bool) -> Box<dyn AnyColumn>;

    /// The bits of a value outside operators.
    fn value(&self, number: usize, uniform: Uniform<'_>) -> u64;

    /// The operators for devices, or why there are none.
    fn device(&self) -> Result<OperatorText<'_>, &'static str> {
        Err("they are known to processors alone")
    }

    /// The bits of what changes nothing when it is folded into a scalar.
    fn identity(&self, scalar: usize) -> u64;

    /// Two values of a scalar folded into one.
    fn combine(&self, scalar: usize, a: u64, b: u64) -> u64;
}

/// A compiled program with its arguments.
pub trait Code: Outline {
    /// The weight of an edge, or `()` if weights mean nothing.
    type Weight: ProgramWeight;

    /// Gives a column the value of that number, at the vertices that the host is asked to visit.
    fn start(&self, column: usize, value: usize, host: &Host<'_, Self::Weight>);

    /// Runs a part of an operator, at the vertices that the host is asked to visit.
    fn part(&self, operator: usize, part: OperatorPart, host: &Host<'_, Self::Weight>);
}
