//! What each operator of a program took in a run.

use std::fmt;

use parton_engine::RunReport;
use parton_plan::PlannedOperator;

use super::Steps;

/// What an operator of a program took in a run, all its rounds together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OperatorReport {
    /// The program's name and the line.
    pub name: String,
    /// How often it ran.
    pub rounds: u64,
    /// Time of its rounds.
    pub seconds: f64,
    /// Edges that it visited.
    pub edges: u64,
    /// What all hosts sent for it.
    pub bytes: u64,
}

impl fmt::Display for OperatorReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OperatorReport { name, rounds, seconds, edges, bytes } = self;
        write!(
            f,
            "operator {name}: {rounds} rounds, {seconds:.6} s, {edges} edges, {bytes} bytes sent"
        )
    }
}

impl Steps<'_> {
    /// What each operator that visits edges took, of the report of a run.
    pub fn operators(&self, report: &RunReport) -> Vec<OperatorReport> {
        let plan = self.code.plan();
        let new = |operator: &PlannedOperator| OperatorReport {
            name: operator.name.clone(),
            ..OperatorReport::default()
        };
        let mut all: Vec<_> = plan.operators.iter().map(new).collect();
        for (number, round) in self.ran.iter().zip(&report.rounds) {
            let operator = &mut all[*number];
            operator.rounds += 1;
            operator.seconds += round.seconds;
            operator.edges += round.edges;
            operator.bytes += round.sent.total();
        }
        all.retain(|operator| operator.rounds > 0);
        all
    }
}
