//! A partitioned graph on disk: one file per host and a manifest, from which a run can start.
//!
//! ```text
//! manifest.json    version, policy, hosts, sizes; name, bytes and CRC-32 of every host's file
//! host-00000.part  header, routes, then the arrays: globals, offsets, targets, weights, masters,
//!                  original ids of the masters; all in-edges of the masters, if they are kept:
//!                  their number, offsets, sources, weights
//! ```
//!
//! All numbers in host files are little-endian. A new folder appears when all of it is written, and a failed
//! save leaves nothing. In a folder that is replaced the manifest is written last; a file that is not the one the manifest names fails its checksum.

use std::path::{Path, PathBuf};

use parton_graph::csr::MAX_VERTICES;
use parton_graph::id_map::Names;
use parton_graph::save::{NewFolder, Output};
use parton_graph::source::{ByteSource, Source};
use parton_graph::{
    Adjacency, Csr, Error as GraphError, LocalId, Place, Weight, WeightKind, with_csr,
};
use parton_net::{HostId, Net};
use serde_json::{Value, json};

use crate::edge_set::{EdgeSet, InEdgesOfMasters};
use crate::layout::MasterParts;
use crate::routes::{Parts, Routes};
use crate::{Error, Originals, Partition, Result};

mod found;

const MAGIC: u64 = u64::from_le_bytes(*b"\x89PARPART");
const VERSION: u64 = 1;
/// The file that says what is in a folder.
pub const MANIFEST: &str = "manifest.json";
/// Kinds of original ids.
const OFFSET: u64 = 0;
const INTEGERS: u64 = 1;
const NAMES: u64 = 2;
/// Beside the kind of weights: every edge is there in both directions.
const SYMMETRIC: u64 = 1 << 8;
/// The same: there are no self-loops and no parallel edges.
const SIMPLE: u64 = 1 << 9;
/// The same: all in-edges of masters are kept, at the end of the file unless they are the out-edges.
const WHOLE: u64 = 1 << 10;
/// Edges are those by destination.
const TURNED: u64 = 1 << 11;
/// Numbers in a host file's header, and for each peer after it.
const HEADER_WORDS: usize = 12;
const ROUTE_WORDS: usize = 8;

fn host_file(host: HostId) -> String {
    format!("host-{:05}.part", host.0)
}

/// A file being written, with its checksum.
struct Summed {
    out: Output,
    crc: crc32fast::Hasher,
    bytes: u64,
}

impl Summed {
    fn write<T: bytemuck::Pod>(&mut self, array: &[T]) -> Result<()> {
        // An array of nothings has no bytes.
        let bytes: &[u8] = if size_of::<T>() == 0 { &[] } else { bytemuck::cast_slice(array) };
        self.crc.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(self.out.write(bytes)?)
    }

    fn write_edges(&mut self, adjacency: &Adjacency) -> Result<()> {
        self.write(adjacency.offsets())?;
        self.write(adjacency.all_targets())?;
        with_csr!(adjacency, csr => self.write(csr.all_weights()))
    }
}

impl Partition {
    /// Writes this partition into `folder`, which is made if need be. Every host must call this.
    pub fn save(&self, net: &mut Net, folder: &Path, policy: &str) -> Result<()> {
        let is_root = net.host() == HostId(0);
        // A new folder gets its name when it is complete. Files of an old partition are replaced one by one.
        let replaces = found::replaces_partition(net, folder)?;
        let claimed = (is_root && !replaces).then(|| NewFolder::claim(folder)).transpose()?;
        if is_root && replaces {
            // An old manifest must not vouch for files that are being replaced.
            let manifest = folder.join(MANIFEST);
            if manifest.exists() {
                std::fs::remove_file(&manifest)
                    .map_err(|e| GraphError::io(&manifest, "write", e))?;
            }
        }
        net.barrier()?;
        let joined = (!is_root && !replaces).then(|| NewFolder::join(folder)).transpose()?;
        let new = claimed.or(joined);
        let place =
            |name: &str| new.as_ref().map_or_else(|| folder.join(name), |new| new.file(name));
        let named = |error: Error| match (error, &new) {
            (Error::Graph(error), Some(new)) => Error::Graph(new.under_final_name(error)),
            (error, _) => error,
        };
        let written = self.write_file(&place(&host_file(self.host))).map_err(named);
        // A host that fails ends when no other writes any more, so that its owner can remove the folder.
        net.barrier()?;
        let sums = written?;
        let all = net.gather(HostId(0), bytemuck::cast_slice(&sums).to_vec())?;
        let Some(all) = all else {
            // The root names the folder when all have written.
            net.barrier()?;
            return new.map_or(Ok(()), |new| Ok(new.commit()?));
        };
        let files: Vec<Value> = HostId::all(all.len())
            .zip(&all)
            .map(|(host, sums)| {
                let sums: Vec<u64> = bytemuck::pod_collect_to_vec(sums);
                json!({ "name": host_file(host), "bytes": sums[0], "crc32": sums[1] })
            })
            .collect();
        let manifest = json!({
            "parton_partition": VERSION,
            "policy": policy,
            "hosts": self.num_hosts(),
            "vertices": self.num_vertices,
            "edges": self.num_edges,
            "files": files,
        });
        let mut out = Output::create(place(MANIFEST))?;
        out.write(format!("{manifest:#}\n").as_bytes())?;
        out.commit()?;
        new.map_or(Ok(()), NewFolder::commit)?;
        Ok(net.barrier()?)
    }

    /// Bytes and checksum of the file written.
    fn write_file(&self, path: &Path) -> Result<[u64; 2]> {
        let mut file =
            Summed { out: Output::create(path)?, crc: crc32fast::Hasher::new(), bytes: 0 };
        let MasterParts { both, read, written, all } = self.masters;
        file.write(&[
            MAGIC,
            VERSION,
            u64::from(self.host.0),
            self.num_hosts() as u64,
            self.num_vertices,
            self.num_edges,
            self.edges().weight_kind() as u64
                | if self.out_edges_at_hand().is_none() { TURNED } else { 0 }
                | if self.is_symmetric() { SYMMETRIC } else { 0 }
                | if self.simple { SIMPLE } else { 0 }
                | if self.in_edges_of_masters().is_some() { WHOLE } else { 0 },
            u64::from(both) << 32 | u64::from(read),
            u64::from(written) << 32 | u64::from(all),
            self.globals.len() as u64,
            self.edges().num_edges(),
            match &self.originals {
                Originals::Offset(_) => OFFSET,
                Originals::Integers(_) => INTEGERS,
                Originals::Names(_) => NAMES,
            },
        ])?;
        for routes in &self.routes {
            let Routes { first_mirror, mirror_parts: m, master_parts: o, masters, .. } = routes;
            file.write(&[
                *first_mirror,
                m.written,
                m.both,
                m.read,
                o.written,
                o.both,
                o.read,
                masters.len() as u32,
            ])?;
        }
        file.write(&self.globals)?;
        file.write_edges(self.edges())?;
        for routes in &self.routes {
            file.write(&routes.masters)?;
        }
        match &self.originals {
            Originals::Offset(offset) => file.write(&[*offset])?,
            Originals::Integers(ids) => file.write(ids)?,
            Originals::Names(names) => {
                file.write(names.ends())?;
                file.write(names.bytes())?;
            }
        }
        if let Some(in_edges) = self.edges.stored_in_edges_of_masters() {
            file.write(&[in_edges.num_edges()])?;
            file.write_edges(in_edges)?;
        }
        let sums = [file.bytes, u64::from(file.crc.finalize())];
        file.out.commit()?;
        Ok(sums)
    }

    /// Reads the part of this host from a folder. Every host must call this.
    pub fn load(net: &mut Net, folder: &Path) -> Result<Self> {
        let manifest = Manifest::read(folder)?;
        if manifest.files.len() != net.num_hosts() {
            return Err(Error::request(format!(
                "{}: saved for {} hosts, but this run has {}",
                folder.display(),
                manifest.files.len(),
                net.num_hosts()
            )));
        }
        let file = &manifest.files[net.host().index()];
        let partition = file.load(net.host(), net.num_hosts())?;
        // Either all hosts go on or none does.
        match partition.fits_the_others(net)? {
            true => Ok(partition),
            false => {
                let problem = "the hosts' files do not fit together: save the partition again";
                let name = folder.display().to_string();
                Err(GraphError::data(name, Place::File, problem).into())
            }
        }
    }

    /// Whether hosts share what each says that it shares with the others, and have all vertices and
    /// edges between them. Hosts that disagree would wait for messages that never come. The same on
    /// all hosts, each of which must call this.
    fn fits_the_others(&self, net: &mut Net) -> Result<bool> {
        let mut own: Vec<u64> = vec![
            self.num_vertices,
            self.num_edges,
            self.masters.all.into(),
            self.edges().num_edges(),
        ];
        for routes in &self.routes {
            own.push(routes.checksum_of_mirrors(&self.globals));
        }
        for routes in &self.routes {
            own.push(routes.checksum_of_masters(&self.globals));
        }
        let all = net.all_gather(bytemuck::cast_slice(&own).to_vec())?;
        let all: Vec<Vec<u64>> = all.iter().map(|own| bytemuck::pod_collect_to_vec(own)).collect();
        let hosts = all.len();
        let sum = |at: usize| all.iter().map(|own| u128::from(own[at])).sum::<u128>();
        let agree = |a: usize, b: usize| a == b || all[a][4 + b] == all[b][4 + hosts + a];
        Ok(all.iter().all(|own| own.len() == 4 + 2 * hosts && own[..2] == all[0][..2])
            && sum(2) == u128::from(self.num_vertices)
            && sum(3) == u128::from(self.num_edges)
            && (0..hosts).all(|a| (0..hosts).all(|b| agree(a, b))))
    }
}

/// What a folder with a saved partition says about itself.
pub struct Manifest {
    policy: String,
    files: Vec<HostFile>,
}

struct HostFile {
    path: PathBuf,
    bytes: u64,
    crc: u64,
}

impl Manifest {
    /// The manifest in a folder, if there is one.
    pub fn find(folder: &Path) -> Result<Option<Self>> {
        folder.join(MANIFEST).is_file().then(|| Self::read(folder)).transpose()
    }

    /// The policy it was made by.
    pub fn policy(&self) -> &str {
        &self.policy
    }

    /// Number of hosts it was made for.
    pub fn hosts(&self) -> usize {
        self.files.len()
    }

    fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(MANIFEST);
        let text = std::fs::read(&path).map_err(|e| GraphError::io(&path, "read", e))?;
        let bad =
            |problem: &str| GraphError::data(path.display().to_string(), Place::File, problem);
        let json: Value =
            serde_json::from_slice(&text).map_err(|e| bad(&format!("not a manifest: {e}")))?;
        if json["parton_partition"] != VERSION {
            return Err(bad("not the manifest of a partition this version can read").into());
        }
        let file = |entry: &Value| {
            let name = entry["name"].as_str().filter(|name| !name.contains(['/', '\\']))?;
            Some(HostFile {
                path: folder.join(name),
                bytes: entry["bytes"].as_u64()?,
                crc: entry["crc32"].as_u64()?,
            })
        };
        let files = json["files"].as_array().and_then(|files| files.iter().map(file).collect());
        let files: Vec<HostFile> = files.ok_or_else(|| bad("expected a list of files"))?;
        if json["hosts"] != files.len() {
            return Err(bad("as many files as hosts are expected").into());
        }
        let policy = json["policy"].as_str().ok_or_else(|| bad("expected a policy"))?.into();
        Ok(Manifest { policy, files })
    }
}

impl HostFile {
    fn load(&self, host: HostId, num_hosts: usize) -> Result<Partition> {
        let source = Source::file(&self.path)?;
        let bytes = source.bytes()?;
        self.check(&bytes)?;
        let header: Vec<u64> = bytes.read_array(0, HEADER_WORDS as u64)?;
        if header[0] != MAGIC || header[1] != VERSION || header[2] != u64::from(host.0) {
            return Err(bytes.error(0, format!("not the file of host {host}")).into());
        }
        let (hosts, proxies, edges) = (header[3], header[9], header[10]);
        if hosts != num_hosts as u64 || proxies > MAX_VERTICES {
            return Err(bytes.error(24, "another number of hosts, or too many vertices").into());
        }
        let halves = |word: u64| ((word >> 32) as u32, word as u32);
        let ((both, read), (written, all)) = (halves(header[7]), halves(header[8]));
        let mut reader = Arrays { bytes: &bytes, at: 8 * HEADER_WORDS as u64 };
        let route_words: Vec<u32> = reader.next(hosts * ROUTE_WORDS as u64)?;
        let globals: Vec<u32> = reader.next(proxies)?;
        if globals.iter().any(|&global| u64::from(global) >= header[4]) {
            return Err(reader.bad("vertex"));
        }
        if !([both, read, written, all].is_sorted() && u64::from(all) <= proxies) {
            return Err(reader.bad("masters"));
        }
        let [symmetric, simple, whole, turned] =
            [SYMMETRIC, SIMPLE, WHOLE, TURNED].map(|flag| header[6] & flag != 0);
        let kind = (header[6] & !(SYMMETRIC | SIMPLE | WHOLE | TURNED)) as usize;
        let kind = WeightKind::ALL.get(kind).ok_or_else(|| reader.bad("kind of weights"))?;
        let adjacency = reader.edges(*kind, proxies, edges)?;
        let routes = route_words
            .chunks_exact(ROUTE_WORDS)
            .map(|words| reader.route(words, proxies, all))
            .collect::<Result<Vec<_>>>()?;
        let originals = match header[11] {
            OFFSET => Originals::Offset(reader.next(1)?[0]),
            INTEGERS => Originals::Integers(reader.next(u64::from(all))?),
            NAMES => {
                let ends: Vec<u64> = reader.next(u64::from(all))?;
                let bytes = reader.next(ends.last().copied().unwrap_or(0))?;
                let names = Names::from_parts(ends.into(), bytes.into());
                Originals::Names(names.filter(Names::is_sound).ok_or_else(|| reader.bad("names"))?)
            }
            _ => return Err(reader.bad("kind of ids")),
        };
        let of_masters = match (whole, symmetric) {
            (false, _) => InEdgesOfMasters::NotKept,
            (true, true) => InEdgesOfMasters::OutEdges,
            (true, false) => {
                let count = reader.next(1)?[0];
                InEdgesOfMasters::Rows(reader.edges(*kind, proxies, count)?)
            }
        };
        let own = EdgeSet::by_source(adjacency, routes.len()).with_in_edges_of_masters(of_masters);
        let mut edges = if turned { own.turned() } else { own };
        edges.is_symmetric = symmetric;
        let masters = MasterParts { both, read, written, all };
        let sizes = (header[4], header[5]);
        let mut part =
            Partition::from_parts(host, sizes, masters, globals, edges, routes, originals);
        part.simple = simple;
        Ok(part)
    }

    /// Length and checksum must be those of the manifest.
    fn check(&self, bytes: &ByteSource<'_>) -> Result<()> {
        const BUFFER_BYTES: u64 = 4 << 20;
        if bytes.len() != self.bytes {
            let problem = format!("{} bytes, but the manifest says {}", bytes.len(), self.bytes);
            return Err(bytes.error(0, problem).into());
        }
        let mut crc = crc32fast::Hasher::new();
        let mut buffer = vec![0; BUFFER_BYTES.min(self.bytes) as usize];
        for at in (0..self.bytes).step_by(BUFFER_BYTES as usize) {
            let piece = &mut buffer[..(self.bytes - at).min(BUFFER_BYTES) as usize];
            bytes.read_at(at, piece)?;
            crc.update(piece);
        }
        match u64::from(crc.finalize()) == self.crc {
            true => Ok(()),
            false => Err(bytes.error(0, "damaged, or of another partition: wrong checksum").into()),
        }
    }
}

/// Arrays one after the other.
struct Arrays<'a> {
    bytes: &'a ByteSource<'a>,
    at: u64,
}

impl Arrays<'_> {
    fn bad(&self, what: &str) -> Error {
        self.bytes.error(self.at, format!("unexpected {what}")).into()
    }

    fn next<T: bytemuck::Pod + Send>(&mut self, count: u64) -> Result<Vec<T>> {
        let array = self.bytes.read_array(self.at, count)?;
        self.at += count * size_of::<T>() as u64;
        Ok(array)
    }

    /// What a host of this many proxies and masters shares with a peer.
    fn route(&mut self, words: &[u32], proxies: u64, all_masters: u32) -> Result<Routes> {
        let parts = |w: &[u32]| Parts { written: w[0], both: w[1], read: w[2] };
        let sum = |w: &[u32]| w.iter().map(|&count| u64::from(count)).sum::<u64>();
        let masters: Vec<LocalId> = self.next(u64::from(words[7]))?;
        let is_sound = sum(&words[..4]) <= proxies
            && sum(&words[4..7]) == u64::from(words[7])
            && masters.iter().all(|master| master.0 < all_masters);
        if !is_sound {
            return Err(self.bad("route"));
        }
        Ok(Routes {
            first_mirror: words[0],
            mirror_parts: parts(&words[1..]),
            master_parts: parts(&words[4..]),
            masters,
            ..Routes::default()
        })
    }

    fn edges(&mut self, kind: WeightKind, vertices: u64, edges: u64) -> Result<Adjacency> {
        Ok(match kind {
            WeightKind::None => self.csr::<()>(vertices, edges)?.into(),
            WeightKind::U32 => self.csr::<u32>(vertices, edges)?.into(),
            WeightKind::F32 => self.csr::<f32>(vertices, edges)?.into(),
            WeightKind::F64 => self.csr::<f64>(vertices, edges)?.into(),
        })
    }

    fn csr<W: Weight>(&mut self, vertices: u64, edges: u64) -> Result<Csr<W>> {
        let offsets: Vec<u64> = self.next(vertices + 1)?;
        let targets: Vec<LocalId> = self.next(edges)?;
        let weights: Vec<W> = match W::KIND {
            WeightKind::None => vec![W::default(); edges as usize],
            _ => self.next(edges)?,
        };
        if offsets.last() != Some(&edges) {
            return Err(self.bytes.error(self.at, "offsets do not end at the edges").into());
        }
        let csr = Csr::from_parts(offsets.into(), targets.into(), weights.into());
        csr.check().map_err(|problem| self.bytes.error(self.at, problem))?;
        Ok(csr)
    }
}
