//! Programs of several phases: each begins with what the one before it found.

use super::Run;
use super::host::{HostOutcome, Settings, run_program};
use crate::engine::VertexProgram;
use crate::engine::device::Device;
use crate::sync::Substrate;

impl<'p, V: Copy + Send + Sync + 'p> Run<'p, V> {
    /// Runs another program after this one, on the same parts of the graph: each host makes it from the final
    /// values of its masters, in the order of their local ids. The outcome is that of the last program, with
    /// the rounds of all. Engine and pace are for all of them, and so is `max_rounds`, for each.
    ///
    /// ```
    /// use parton::prelude::*;
    /// use parton::Run;
    ///
    /// /// Counts out-edges: every vertex sends a one against its in-edges.
    /// #[derive(Clone)]
    /// struct Degree;
    ///
    /// impl VertexProgram for Degree {
    ///     type State = u64;
    ///     type Message = u64;
    ///     type Messages = Latest<u64>;
    ///     type Reduction = Sum<u64>;
    ///     type Weight = ();
    ///
    ///     fn init(&self, _: Vertex<'_>) -> u64 {
    ///         0
    ///     }
    ///
    ///     fn scatter(&self, _: Vertex<'_>, _: &u64) -> Option<u64> {
    ///         Some(1)
    ///     }
    ///
    ///     fn along(&self, one: u64, (): ()) -> u64 {
    ///         one
    ///     }
    ///
    ///     fn apply(&self, _: Vertex<'_>, degree: &mut u64, edges: u64, _: &mut Tally) -> bool {
    ///         *degree = edges;
    ///         false
    ///     }
    ///
    ///     fn properties(&self) -> Properties {
    ///         Properties { edges: Edges::In, ..Properties::default() }
    ///     }
    /// }
    ///
    /// /// Ranks after some rounds, without what vertices without out-edges lose.
    /// struct Ranks {
    ///     degrees: Vec<u64>,
    ///     rounds: u32,
    /// }
    ///
    /// impl VertexProgram for Ranks {
    ///     type State = f64;
    ///     type Message = f64;
    ///     type Messages = Latest<f64>;
    ///     type Reduction = Sum<f64>;
    ///     type Weight = ();
    ///
    ///     fn init(&self, _: Vertex<'_>) -> f64 {
    ///         1.0
    ///     }
    ///
    ///     fn scatter(&self, vertex: Vertex<'_>, rank: &f64) -> Option<f64> {
    ///         Some(rank / self.degrees[vertex.local.index()].max(1) as f64)
    ///     }
    ///
    ///     fn along(&self, share: f64, (): ()) -> f64 {
    ///         share
    ///     }
    ///
    ///     fn apply(&self, _: Vertex<'_>, rank: &mut f64, shares: f64, _: &mut Tally) -> bool {
    ///         *rank = 0.15 + 0.85 * shares;
    ///         true
    ///     }
    ///
    ///     fn properties(&self) -> Properties {
    ///         let (stationary, last_message_wins, is_local) = (true, true, true);
    ///         Properties { stationary, last_message_wins, is_local, ..Properties::default() }
    ///     }
    ///
    ///     fn conclude(&mut self, _: &Tally) -> bool {
    ///         self.rounds -= 1;
    ///         self.rounds == 0
    ///     }
    /// }
    ///
    /// let ranks = Run::new(Degree).then(|degrees| Ranks { degrees, rounds: 2 }).hosts(2);
    /// let outcome = ranks.engine("spmv").on("star:5")?;
    /// // Four leaves that all have a quarter of the hub's edges.
    /// assert_eq!(outcome.top(1, f64::total_cmp)[0].0.to_string(), "0");
    /// assert_eq!(outcome.report.rounds.len(), 3);
    /// # Ok::<(), parton::Error>(())
    /// ```
    pub fn then<P>(self, make: impl Fn(Vec<V>) -> P + Sync + 'p) -> Run<'p, P::State>
    where
        P: VertexProgram,
    {
        let Run { execute: first, settings, hosts, threads, policy, fit, devices } = self;
        let execute = move |substrate: &mut Substrate<'_>,
                            device: Option<&dyn Device>,
                            settings: &Settings| {
            let HostOutcome { values, mut report, .. } = first(substrate, device, settings)?;
            let last = run_program(make(values), substrate, device, settings)?;
            report.append(last.report);
            Ok(HostOutcome { report, ..last })
        };
        Run { execute: Box::new(execute), settings, hosts, threads, policy, fit, devices }
    }
}
