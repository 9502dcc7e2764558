//! `parton new`: a crate with a program of one's own.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::cli::exit::Failure;

/// Write a new crate with a program to start from, which has the whole command line of `parton run`.
#[derive(Args)]
pub(crate) struct New {
    /// The folder to make; its name is the crate's
    name: PathBuf,

    /// Where the crate `parton` is [default: where this command was built from, if that is still there; else
    /// the registry]
    #[arg(long, value_name = "FOLDER")]
    parton: Option<PathBuf>,
}

/// The program to start from.
const MAIN: &str = include_str!("new/main.rs.txt");

/// What users must know where no checkout was found.
const FROM_REGISTRY: &str = concat!(
    "its Cargo.toml asks the registry for parton ",
    env!("CARGO_PKG_VERSION"),
    ": if cargo does not find that there, get a checkout of Parton and write where it is, parton = { path = \
     \"CHECKOUT/crates/parton\" }, or begin again with `parton new NAME --parton CHECKOUT/crates/parton`\n"
);

impl New {
    pub(crate) fn run(self) -> Result<String, Failure> {
        let folder = &self.name;
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_fine = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
        if name.is_empty()
            || !name.chars().all(is_fine)
            || name.starts_with(|first: char| !first.is_ascii_alphabetic())
        {
            return Err(Failure::usage(format!(
                "'{}' is no name of a crate: letters, digits, - and _, a letter first",
                folder.display()
            )));
        }
        let built_from = Path::new(env!("CARGO_MANIFEST_DIR"));
        let here = built_from.join("Cargo.toml").exists().then(|| built_from.to_owned());
        let (source, advice) = match self.parton.clone().or(here) {
            Some(path) => {
                let path = fs::canonicalize(&path).map_err(|error| failed(&path, &error))?;
                (format!("{{ path = {:?} }}", path.display().to_string()), "")
            }
            None => (format!("{:?}", env!("CARGO_PKG_VERSION")), FROM_REGISTRY),
        };
        fs::create_dir(folder).map_err(|error| failed(folder, &error))?;
        let sources = folder.join("src");
        fs::create_dir(&sources).map_err(|error| failed(&sources, &error))?;
        let manifest = format!(
            "[package]\nname = {name:?}\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\nparton = {source}\n\n\
             # The crate stands by itself, wherever its folder is.\n[workspace]\n"
        );
        for (path, text) in
            [(folder.join("Cargo.toml"), &manifest[..]), (sources.join("main.rs"), MAIN)]
        {
            fs::write(&path, text).map_err(|error| failed(&path, &error))?;
        }
        Ok(format!(
            "{name} is ready: cd {}; cargo run --release -- run reach rmat:16 --hosts 4 --verify\n{advice}",
            folder.display()
        ))
    }
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::io(format!("{}: {error}", path.display()))
}
