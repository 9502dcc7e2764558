//! `parton completions`: what a shell needs to complete commands and options.

use clap::Args;
use clap_complete::Shell;

use crate::algorithms::Algorithm;
use crate::cli::command_for;

/// Print what a shell needs to complete commands, options and names of algorithms.
#[derive(Args)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self, algorithms: &[&'static dyn Algorithm]) -> String {
        let mut command = command_for(algorithms, algorithms);
        let mut script = Vec::new();
        let name = command.get_name().to_owned();
        clap_complete::generate(self.shell, &mut command, name, &mut script);
        String::from_utf8_lossy(&script).into_owned()
    }
}
