//! What the user calls an input, and whether there is something in it, the same on all ranks.

use std::ffi::OsString;
use std::fmt;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use crate::graph::formats::{self, Format, parton};
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
    /// Refuses ranks that see different files under one name, or different original ids beside them.
    /// `format` is found by looking when it is not given. Every rank must call this.
    pub(crate) fn check_alike(
        &self,
        format: Option<&dyn Format>,
        team: &mut Team,
    ) -> Result<(), Failure> {
        if !team.is_distributed() || Spec::is_spec(self) {
            return Ok(());
        }
        let saved = self.path.join(MANIFEST);
        if saved.is_file() {
            return team.check_input(self, |of_all| Ok(seen(&Source::find(&saved)?, of_all)?));
        }
        team.check_input(self, |of_all| Ok(seen(&Source::find(&self.path)?, of_all)?))?;
        team.check_input(&format!("{self}.ids"), |of_all| {
            match formats::id_source(&Source::find(&self.path)?, format)? {
                Some(ids) => Ok(seen(&ids, of_all)?),
                None => Ok(("no such file".into(), String::new())),
            }
        })
    }

    /// Checks this process's share of the checksums of a `.parton` file, those of what no host needs, too.
    pub(crate) fn check_blocks(&self, team: &Team) -> crate::graph::Result<()> {
        if Spec::is_spec(self) || !self.path.is_file() {
            return Ok(());
        }
        let source = Source::file(&self.path)?;
        let is_parton =
            source.is_plain() && formats::detect(&source).is_ok_and(|f| f.name() == "parton");
        if is_parton { parton::check_blocks(&source, team.share()) } else { Ok(()) }
    }
}

/// Refuses ranks that see different files under the name of a list, such as one of vertices. Every rank
/// must call this.
pub(crate) fn check_list_alike(name: &str, team: &mut Team) -> Result<(), Failure> {
    if !team.is_distributed() {
        return Ok(());
    }
    team.check_input(name, |of_all| match Path::new(name).is_file() {
        true => Ok(seen(&Source::file(Path::new(name))?, of_all)?),
        false => Ok(("no such file".into(), String::new())),
    })
}

/// What a rank sees of an input: what must be the same on all ranks, and when it was changed.
fn seen(source: &Source, of_all: bool) -> crate::graph::Result<(String, String)> {
    let Some(print) = source.fingerprint(of_all)? else { return Ok(Default::default()) };
    let Fingerprint { files, bytes, digest, changed } = print;
    let files = if files == 1 { String::new() } else { format!(" in {files} files") };
    Ok((format!("{bytes} bytes{files} (digest {digest:016x})"), format!("changed at {changed}")))
}

/// Says that there is nothing in an input: an empty graph is rarely meant.
pub(crate) fn note_emptiness(source: &Source, watch: &Watch) {
    if source.is_empty() {
        watch.note(&format!("{}: nothing is in it, so the graph is empty", source.name()));
    }
}
