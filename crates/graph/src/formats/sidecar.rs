//! Original ids beside a file whose format numbers its vertices itself: `FILE.ids`, one id per
//! line, in order. Written when they would be lost otherwise, read back when it is there.

use std::path::{Path, PathBuf};

use crate::id_map::{Ids, Names, OriginalId};
use crate::save::Output;
use crate::source::Source;
use crate::text::number::parse_id;
use crate::text::scanner::Scanner;
use crate::{Error, Graph, Place, Result};

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
    for v in 0..ids.len() {
        match ids.get(v) {
            OriginalId::Integer(id) => super::edge_list::push_integer(&mut lines, id),
            OriginalId::Name(name) if !name.contains(&b'\n') => lines.extend_from_slice(name),
            OriginalId::Name(name) => {
                let name = crate::error::printable(name);
                let problem = format!("the vertex name '{name}' does not fit on one line");
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
    let source = Source::find(&beside.to_string_lossy())?;
    let mut scanner = Scanner::new(&source)?;
    let (mut integers, mut names) = (Some(Vec::new()), Vec::<Vec<u8>>::new());
    while let Some(line) = scanner.next_line()? {
        names.push(line.text.to_vec());
        integers = integers.zip(parse_id(line.text).ok()).map(|(mut ids, id)| {
            ids.push(id);
            ids
        });
    }
    let expected = graph.num_vertices();
    if names.len() != expected {
        let problem = format!("{} ids for {expected} vertices", names.len());
        return Err(source.error(Place::File, problem));
    }
    let ascending = match &integers {
        Some(integers) => integers.is_sorted_by(|a, b| a < b),
        None => names.is_sorted_by(|a, b| a < b),
    };
    if !ascending {
        return Err(source.error(Place::File, "ids must ascend and differ"));
    }
    graph.ids = match integers {
        Some(integers) => Ids::from_sorted(integers),
        None => Ids::Names(names.iter().map(Vec::as_slice).collect::<Names>()),
    };
    graph.read_as += &format!(", original ids from {}", beside.display());
    Ok(())
}
