//! `parton explain`: what the compiler found out about a program.

use clap::Args;

use crate::cli::Context;
use crate::cli::exit::Failure;
use crate::program::plan;

/// Explain the compiled programs of an algorithm: their fields, operators, splits, and where which values travel.
#[derive(Args)]
pub(crate) struct Explain {
    /// The program: the name of an algorithm that is compiled from a plain function
    program: String,

    /// As JSON: a list with an object for each program
    #[arg(long)]
    json: bool,
}

impl Explain {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<String, Failure> {
        let algorithm = context.algorithm(&self.program)?;
        let plans = algorithm.plans();
        if plans.is_empty() {
            let compiled = context.algorithms.iter().filter(|known| !known.plans().is_empty());
            let compiled: Vec<_> = compiled.map(|known| known.name()).collect();
            return Err(Failure::usage(format!(
                "{} is not compiled from a plain function; compiled are {}",
                self.program,
                compiled.join(", ")
            )));
        }
        Ok(match self.json {
            true => {
                let forms: Vec<_> = plans.into_iter().map(plan::json).collect();
                format!("[{}]\n", forms.join(",\n"))
            }
            false => {
                let forms: Vec<_> = plans.into_iter().map(plan::text).collect();
                forms.join("\n")
            }
        })
    }
}
