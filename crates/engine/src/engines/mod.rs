//! One engine per file; [`ALL`] is the registry.

pub mod blocks;
mod delta;
mod frontier;
mod pull;
mod push;
mod union;

use parton_graph::LocalId;
use parton_partition::Partition;

use crate::engine::Engine;
use crate::program::{Relaxation, VertexProgram};
use crate::relaxing::RelaxingEngine;
use crate::stepping::SteppingEngine;

/// An engine users can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Spreads labels inside a host until nothing changes, then talks to the others.
    Push,
    /// Goes level by level, and asks for labels instead of spreading them where that is less work.
    Frontier,
    /// Lets every vertex collect in every round.
    Pull,
    /// Spreads the nearest labels first.
    Delta,
    /// Joins what edges join, and labels what is joined.
    Union,
    /// Goes from edge to edge, in blocks that share no vertex.
    Blocks,
    /// Takes away what has the fewest neighbours left. Brought by the algorithm.
    Peel,
    /// Looks for neighbours that two neighbours have in common. Brought by the algorithm.
    Intersect,
}

/// Every engine: what users call it, and what it does.
pub const ALL: &[(Kind, &str, &str)] = &[
    (Kind::Push, "push", "a worklist inside each host, few rounds between hosts"),
    (Kind::Frontier, "frontier", "level by level, pushing or pulling, whichever is less work"),
    (Kind::Pull, "pull", "every vertex collects along its in-edges in every round"),
    (Kind::Delta, "delta", "nearest labels first, in buckets"),
    (Kind::Union, "union", "joins what edges join, then labels whole components"),
    (
        Kind::Blocks,
        "blocks",
        "edge by edge, in blocks of sources and destinations that threads share out",
    ),
    (Kind::Peel, "peel", "takes away what has the fewest neighbours left; hosts exchange bounds"),
    (Kind::Intersect, "intersect", "looks for neighbours in common; hosts exchange lists of them"),
];

impl Kind {
    /// What users call it.
    pub fn name(self) -> &'static str {
        let (_, name, _) = ALL.iter().find(|(kind, ..)| *kind == self).expect("all are listed");
        name
    }

    /// The engine of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        ALL.iter().find(|(_, known, _)| *known == name).map(|(kind, ..)| *kind)
    }

    /// Whether it runs any program, not only relaxations.
    pub fn is_general(self) -> bool {
        match self {
            Kind::Push | Kind::Frontier | Kind::Pull => true,
            Kind::Delta | Kind::Union | Kind::Blocks | Kind::Peel | Kind::Intersect => false,
        }
    }

    /// This engine for a relaxation.
    ///
    /// # Panics
    /// When the engine needs [`Relaxation::passes_unchanged`] and the program does not, or runs no
    /// relaxations.
    pub fn relaxation<'a, P: Relaxation>(
        self,
        program: &'a P,
        partition: &'a Partition,
    ) -> Box<dyn Relaxer<P> + 'a> {
        match self {
            Kind::Push => Box::new(RelaxingEngine::<P, push::Push>::new(program, partition)),
            Kind::Frontier => {
                Box::new(RelaxingEngine::<P, frontier::Frontier>::new(program, partition))
            }
            Kind::Pull => Box::new(RelaxingEngine::<P, pull::Pull>::new(program, partition)),
            Kind::Delta => Box::new(RelaxingEngine::<P, delta::Delta>::new(program, partition)),
            Kind::Union => {
                assert!(program.passes_unchanged(), "labels that edges do not change");
                Box::new(union::Union::new(program, partition))
            }
            Kind::Blocks | Kind::Peel | Kind::Intersect => {
                panic!("{} runs no relaxations", self.name())
            }
        }
    }

    /// This engine for any program.
    ///
    /// # Panics
    /// When the engine does not run [any program](Kind::is_general).
    pub fn program<'a, P: VertexProgram + 'a>(
        self,
        program: P,
        partition: &'a Partition,
    ) -> Box<dyn Stepper<P> + 'a> {
        match self {
            Kind::Push => Box::new(SteppingEngine::<P, push::Push>::new(program, partition)),
            Kind::Frontier => {
                Box::new(SteppingEngine::<P, frontier::Frontier>::new(program, partition))
            }
            Kind::Pull => Box::new(SteppingEngine::<P, pull::Pull>::new(program, partition)),
            Kind::Delta | Kind::Union => panic!("{} runs relaxations only", self.name()),
            Kind::Blocks | Kind::Peel | Kind::Intersect => {
                panic!("{} runs no programs of vertices", self.name())
            }
        }
    }
}

/// An engine that runs a relaxation.
pub trait Relaxer<P: Relaxation>: Engine {
    /// The label of a proxy. Those of masters are final when the run is over.
    fn label(&self, proxy: LocalId) -> P::Label;
}

/// An engine that runs a general program.
pub trait Stepper<P: VertexProgram>: Engine {
    /// The states of masters.
    fn states(&self) -> &[P::State];

    /// The program, with what it has learnt.
    fn program(&self) -> &P;
}
