//! A partition made elsewhere (METIS, for example): line `v` of a text file is the host of vertex
//! `v`. Edges live with their source.
//!
//! Every host goes through the file but keeps only the lines of the rows it reads.

use std::fs::File;
use std::io::{BufRead, BufReader};

use parton_graph::{Error as GraphError, Place};
use parton_net::HostId;

use super::oec::WithSource;
use crate::Result;
use crate::directory::Directory;
use crate::policy::{Masters, Policy, PolicyKind, Reads, Setup};

pub(super) const KIND: PolicyKind = PolicyKind {
    name: "file",
    help: "a host per line of a file, as METIS writes it; edges live with their source",
    argument: Some("PATH"),
    reads: Reads::OutEdges,
    build,
};

fn build(setup: &mut Setup<'_>) -> Result<Box<dyn Policy>> {
    let path = setup.argument.expect("a policy with an argument");
    let block = read(path, setup)?;
    let targets = setup.rows.adjacency.all_targets().iter().map(|target| target.0);
    let directory = Directory::new(setup.net, setup.readers, block, targets)?;
    Ok(Box::new(WithSource(Masters::Listed(directory))))
}

fn read(path: &str, setup: &Setup<'_>) -> Result<Vec<HostId>> {
    let (vertices, hosts) = (u64::from(setup.num_vertices()), setup.shares.len());
    let mine = setup.rows.vertices();
    let file = File::open(path).map_err(|e| GraphError::io(path, "read", e))?;
    let mut reader = BufReader::with_capacity(1 << 20, file);
    let mut block = Vec::with_capacity((mine.end - mine.start) as usize);
    let (mut line, mut vertex, mut number) = (Vec::new(), 0, 0);
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line);
        if read.map_err(|e| GraphError::io(path, "read", e))? == 0 {
            break;
        }
        number += 1;
        let text = line.trim_ascii();
        if text.is_empty() || text.starts_with(b"#") || text.starts_with(b"%") {
            continue;
        }
        let bad = |problem: String| GraphError::data(path, Place::line(number, 1, text), problem);
        if vertex == vertices {
            return Err(bad(format!("more lines than the {vertices} vertices of the graph")).into());
        }
        let part = std::str::from_utf8(text).ok().and_then(|t| t.parse::<usize>().ok());
        match part {
            Some(part) if part < hosts => {
                if mine.contains(&vertex) {
                    block.push(HostId(part as u16));
                }
            }
            Some(part) => {
                return Err(bad(format!("part {part}, but there are {hosts} hosts")).into());
            }
            None => return Err(bad("expected the number of a part".into()).into()),
        }
        vertex += 1;
    }
    if vertex < vertices {
        let problem = format!("parts of {vertex} vertices, but the graph has {vertices}");
        return Err(GraphError::data(path, Place::File, problem).into());
    }
    Ok(block)
}
