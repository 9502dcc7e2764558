//! `parton man`: manual pages, one for each command.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::algorithms::Algorithm;
use crate::cli::command_for;
use crate::cli::exit::Failure;

/// Write manual pages, one for each command.
#[derive(Args)]
pub(crate) struct Man {
    /// The folder to write to, such as ~/.local/share/man/man1; it is made if it is not there
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

impl Man {
    pub(crate) fn run(self, algorithms: &[&'static dyn Algorithm]) -> Result<String, Failure> {
        let failed = |error: io::Error| Failure::io(format!("{}: {error}", self.folder.display()));
        fs::create_dir_all(&self.folder).map_err(failed)?;
        let mut command = command_for(algorithms, algorithms).disable_help_subcommand(true);
        command.build();
        let mut count = 1;
        write(&self.folder, &command).map_err(failed)?;
        for subcommand in command.get_subcommands() {
            write(&self.folder, subcommand).map_err(failed)?;
            count += 1;
        }
        Ok(format!("{count} pages in {}\n", self.folder.display()))
    }
}

/// Writes the page of one command.
fn write(folder: &Path, command: &clap::Command) -> io::Result<()> {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone().name(name.clone())).render(&mut page)?;
    fs::write(folder.join(format!("{name}.1")), page)
}
