//! Original ids beside a file whose format numbers its vertices itself: `FILE.ids`, one id per
//! line, in order. Written when they would be lost otherwise, read back when it is there.
//!
//! Before names stands a line that says what they are: they may all look like integers, or the
//! first like the beginning of a packed file.

use std::path::{Path, PathBuf};

use crate::id_map::{Ids, Names, OriginalId};
use crate::ingest::NameList;
use crate::save::Output;
use crate::source::Source;
use crate::text::number::parse_id;
use crate::text::scanner::Scanner;
use crate::{Error, Graph, Place, Result};

/// What stands before names; where it is missing, only what is no integer is a name.
const NAMES_FOLLOW: &[u8] = b"# names";

/// Whether a name comes back as it is from a line of its own.
fn is_line(name: &[u8]) -> bool {
    !name.contains(&b'\n') && !name.ends_with(b"\r")
}

/// The name of the file beside `path`.
pub(super) fn path_for(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".ids");
    name.into()
}

/// Starts the file beside `path` and fills it; it still has to be committed.
pub(super) fn write(ids: &Ids, path: &Path) -> Result<Output> {
    let mut out = Output::create(path_for(path))?;
    let mut lines = Vec::new();
    if let Ids::Names(_) = ids {
        lines.extend_from_slice(NAMES_FOLLOW);
        lines.push(b'\n');
    }
    for v in 0..ids.len() {
        match ids.get(v) {
            OriginalId::Integer(id) => crate::print::push_integer(&mut lines, id),
            OriginalId::Name(name) if is_line(name) => lines.extend_from_slice(name),
            OriginalId::Name(name) => {
                let name = crate::error::printable(name);
                let problem = format!("the vertex name '{name}' cannot stand on a line of its own");
                return Err(Error::Request(format!("{}: {problem}", out.path().display())));
            }
        }
        lines.push(b'\n');
        if lines.len() > 1 << 20 {
            out.write(&lines)?;
            lines.clear();
        }
    }
    out.write(&lines)?;
    Ok(out)
}

/// Gives `graph`, read from `path`, the ids kept beside it, if there are any.
pub(super) fn restore(graph: &mut Graph, path: &Path) -> Result<()> {
    let beside = path_for(path);
    if !beside.is_file() {
        return Ok(());
    }
    let source = Source::file(&beside)?;
    let mut scanner = Scanner::new(&source)?;
    let mut lines = NameList::default();
    let expected = graph.num_vertices();
    // One more than expected may be the line before names; more are too many, however many.
    while lines.len() < expected + 2
        && let Some(line) = scanner.next_line()?
    {
        lines.push(line.text);
    }
    let told = lines.len() == expected + 1 && lines.iter().next() == Some(NAMES_FOLLOW);
    let names = || lines.iter().skip(usize::from(told));
    if names().len() != expected {
        let found = if names().len() > expected { "more" } else { "fewer" };
        let problem = format!("expected an id for each of {expected} vertices, found {found}");
        return Err(source.error(Place::File, problem));
    }
    let integers: Option<Vec<u64>> = match told {
        true => None,
        false => names().map(|name| parse_id(name).ok()).collect(),
    };
    let ascending = match &integers {
        Some(integers) => integers.is_sorted_by(|a, b| a < b),
        None => names().is_sorted_by(|a, b| a < b),
    };
    if !ascending {
        return Err(source.error(Place::File, "ids must ascend and differ"));
    }
    graph.ids = match integers {
        Some(integers) => Ids::from_sorted(integers),
        None => Ids::Names(names().collect::<Names>()),
    };
    graph.read_as += &format!(", original ids from {}", beside.display());
    Ok(())
}
