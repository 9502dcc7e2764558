//! A program that was recognised as a relaxation, run by engines for relaxations without compiling it.

use std::marker::PhantomData;

use parton_compile::program::interpret::{View, evaluate};
use parton_compile::program::ir::{Dir, Expr, FieldId, ScalarId, VariableId, VertexPlace};
use parton_compile::program::recognise::{LABEL, NUMBER, Relaxed};
use parton_engine::{Edges, Relaxation, Vertex};
use parton_program::reduction::Reduction;
use parton_program::{Element, MAX_BUCKETS, RelaxSetting, Typed};
use parton_sync::value::Number;

/// A relaxation with the bits of its arguments.
pub(crate) struct InterpretedRelaxation<R> {
    relaxed: Relaxed,
    arguments: Vec<u64>,
    setting: RelaxSetting,
    reduction: PhantomData<R>,
}

// SAFETY: what keeps the form from being shared are its spans. Outside of a macro these are plain numbers, and
// nobody reads them here.
unsafe impl<R: Sync> Sync for InterpretedRelaxation<R> {}

impl<R> InterpretedRelaxation<R> {
    pub(crate) fn new(relaxed: Relaxed, arguments: Vec<u64>, setting: RelaxSetting) -> Self {
        InterpretedRelaxation { relaxed, arguments, setting, reduction: PhantomData }
    }
}

impl<R: Reduction> Relaxation for InterpretedRelaxation<R>
where
    R::Value: Number + Typed,
{
    type Label = R::Value;
    type Reduction = R;
    type Weight = u32;

    fn start(&self, vertex: Vertex<'_>) -> Option<R::Value> {
        let number = vertex.id().0;
        let seen =
            Seen { arguments: &self.arguments, label: None, number: Some(number), weight: None };
        let of = |expr: &Expr| evaluate(expr, &seen);
        let label = match &self.relaxed.point {
            Some((at, value)) if of(at) == number => of(value),
            _ => of(&self.relaxed.start),
        };
        let label = R::Value::of_bits(label);
        (label != R::identity()).then_some(label)
    }

    fn relax(&self, label: R::Value, weight: u32) -> R::Value {
        let seen = Seen {
            arguments: &self.arguments,
            label: Some(Element::to_bits(label)),
            number: None,
            weight: Some(u64::from(weight)),
        };
        R::Value::of_bits(evaluate(&self.relaxed.relax, &seen))
    }

    fn bucket(&self, label: R::Value) -> usize {
        match self.relaxed.adds {
            true => ((label.to_f64() * self.setting.delta.inverse) as usize).min(MAX_BUCKETS),
            false => 0,
        }
    }

    fn edges(&self) -> Edges {
        match self.relaxed.dir {
            Dir::Out => Edges::Out,
            Dir::In => Edges::In,
            Dir::Both => Edges::Both,
        }
    }

    fn first_wins(&self) -> bool {
        self.relaxed.first_wins
    }

    fn passes_unchanged(&self) -> bool {
        self.relaxed.passes_unchanged
    }
}

/// What expressions of a relaxation see; `None`: what they must not ask for.
struct Seen<'a> {
    arguments: &'a [u64],
    label: Option<u64>,
    number: Option<u64>,
    weight: Option<u64>,
}

impl View for Seen<'_> {
    fn local(&self, id: VariableId) -> u64 {
        match id {
            LABEL => self.label.expect("a label"),
            NUMBER => self.number.expect("the number of a vertex"),
            _ => unreachable!("relaxations have no other locals"),
        }
    }

    fn scalar(&self, id: ScalarId) -> u64 {
        self.arguments[id.0]
    }

    fn read(&self, _: FieldId, _: VertexPlace) -> u64 {
        unreachable!("closed")
    }

    fn weight(&self) -> u64 {
        self.weight.expect("the weight of an edge")
    }

    fn degree(&self, _: Dir, _: VertexPlace) -> u64 {
        unreachable!("relaxations know no degrees")
    }

    fn id(&self, _: VertexPlace) -> u64 {
        unreachable!("closed")
    }

    fn size(&self) -> (u64, u64) {
        unreachable!("relaxations know no sizes")
    }
}
