//! What the user calls an input, and whether there is something in it, the same on all ranks.

use std::ffi::OsString;
use std::fmt;
use std::ops::Deref;
use std::path::PathBuf;

use crate::graph::generate::Spec;
use crate::graph::source::{Fingerprint, Source};
use crate::partition::saved::MANIFEST;

use crate::cli::exit::Failure;
use crate::cli::team::Team;
use crate::cli::watch::Watch;

/// What the user calls an input. Names of files are bytes: not all of them are text.
#[derive(Clone)]
pub(crate) struct InputName {
    /// For people, and for generators.
    text: String,
    pub(crate) path: PathBuf,
}

impl From<OsString> for InputName {
    fn from(name: OsString) -> Self {
        InputName { text: name.to_string_lossy().into_owned(), path: name.into() }
    }
}

impl Deref for InputName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for InputName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

impl InputName {
    /// Refuses ranks that see different files under one name. Every rank must call this.
    pub(crate) fn check_alike(&self, team: &mut Team) -> Result<(), Failure> {
        if !team.is_distributed() || Spec::is_spec(self) {
            return Ok(());
        }
        let saved = self.path.join(MANIFEST);
        let path = if saved.is_file() { saved } else { self.path.clone() };
        team.check_input(self, |of_all| {
            let print = Source::find(&path)?.fingerprint(of_all)?;
            Ok(print.map_or_else(
                Default::default,
                |Fingerprint { files, bytes, digest, changed }| {
                    let files =
                        if files == 1 { String::new() } else { format!(" in {files} files") };
                    (
                        format!("{bytes} bytes{files} (digest {digest:016x})"),
                        format!("changed at {changed}"),
                    )
                },
            ))
        })
    }
}

/// Says that there is nothing in an input: an empty graph is rarely meant.
pub(crate) fn note_emptiness(source: &Source, watch: &Watch) {
    if source.is_empty() {
        watch.note(&format!("{}: nothing is in it, so the graph is empty", source.name()));
    }
}
