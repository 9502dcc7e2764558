//! Original ids beside a file whose format numbers its vertices itself: `FILE.ids`, one id per
//! line, in order. Written when they would be lost otherwise, read back when it is there.
//!
//! Before names stands a line that says what they are: they may all look like integers, or the
//! first like the beginning of a packed file.

use std::path::{Path, PathBuf};

use crate::id_list::NameList;
use crate::id_map::{Ids, Names, OriginalId};
use crate::save::Output;
use crate::source::{Slice, Source};
use crate::text::number::parse_id;
use crate::text::scanner::Scanner;
use crate::text::{skip_mark, trim_line_end};
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

/// Gives `graph` the ids that the file `beside` it keeps.
pub(super) fn restore(graph: &mut Graph, beside: &Path) -> Result<()> {
    let file = IdFile::open(beside)?;
    let mut scanner = Scanner::new(&file.source)?;
    let mut lines = NameList::default();
    let expected = graph.num_vertices();
    // One more than expected may be the line before names; more are too many, however many.
    while lines.len() < expected + 2
        && let Some(line) = scanner.next_line()?
    {
        lines.push(line.text);
    }
    let has_heading = file.has_heading_line(lines.len() as u64, expected as u64)?;
    let names = || lines.iter().skip(usize::from(has_heading));
    let integers: Option<Vec<u64>> = match has_heading {
        true => None,
        false => names().map(|name| parse_id(name).ok()).collect(),
    };
    let ascending = match &integers {
        Some(integers) => integers.is_sorted_by(|a, b| a < b),
        None => names().is_sorted_by(|a, b| a < b),
    };
    if !ascending {
        return Err(file.disorder());
    }
    graph.ids = match integers {
        Some(integers) => Ids::from_sorted(integers),
        None => Ids::Names(names().collect::<Names>()),
    };
    graph.read_as += &format!(", original ids from {}", beside.display());
    Ok(())
}

/// The file of original ids beside another, open for reading slices of its lines.
pub struct IdFile {
    source: Source,
}

impl IdFile {
    pub(super) fn open(beside: &Path) -> Result<Self> {
        Ok(IdFile { source: Source::file(beside)?.on_disk(true)? })
    }

    /// Whether the first line is a heading, which says that the others are names: then there must be
    /// one line more than vertices. Another number of lines is an error.
    pub fn has_heading_line(&self, lines: u64, vertices: u64) -> Result<bool> {
        let first = self.source.head().split_inclusive(|&b| b == b'\n').next();
        let has_heading = first.is_some_and(|line| skip_mark(trim_line_end(line)) == NAMES_FOLLOW);
        let expected = vertices + u64::from(has_heading);
        if lines != expected {
            let found = if lines > expected { "more" } else { "fewer" };
            let problem = format!("expected an id for each of {vertices} vertices, found {found}");
            return Err(self.source.error(Place::File, problem));
        }
        Ok(has_heading)
    }

    /// The error for ids that are not in order.
    pub fn disorder(&self) -> Error {
        self.source.error(Place::File, "ids must ascend and differ")
    }

    /// The lines of a slice.
    pub fn lines(&self, slice: Slice) -> Result<NameList> {
        let mut scanner = Scanner::new(&self.source.slice(slice, 0)?)?;
        let mut lines = NameList::default();
        while let Some(line) = scanner.next_line()? {
            lines.push(line.text);
        }
        Ok(lines)
    }

    /// A line as an integer, if it is one.
    pub fn integer(line: &[u8]) -> Option<u64> {
        parse_id(line).ok()
    }
}
