//! `parton explain`: what the compiler found out about a program.

use clap::Args;

use crate::cli::Context;
use crate::cli::exit::Failure;

/// Explain a compiled program: its fields, operators, splits, and where which values travel.
#[derive(Args)]
pub(crate) struct Explain {
    /// The program: the name of an algorithm that is compiled from a plain function
    program: String,

    /// As JSON
    #[arg(long)]
    json: bool,
}

impl Explain {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<String, Failure> {
        let algorithm = context.algorithm(&self.program)?;
        let Some(plan) = algorithm.plan() else {
            let compiled = context.algorithms.iter().filter(|known| known.plan().is_some());
            let compiled: Vec<_> = compiled.map(|known| known.name()).collect();
            return Err(Failure::usage(format!(
                "{} is not compiled from a plain function; compiled are {}",
                self.program,
                compiled.join(", ")
            )));
        };
        Ok(match self.json {
            true => crate::program::plan::json(plan) + "\n",
            false => crate::program::plan::text(plan),
        })
    }
}
