//! Writing files, reading them whole, and printing partitions so that any difference shows.

use std::io::Write as _;
use std::path::Path;

use parton_graph::source::Source;
use parton_graph::{Graph, LocalId, formats, with_csr};
use parton_net::{Cluster, LaunchError};
use parton_partition::{Error, Input, Partition, Plan};

/// Clusters of some sizes, kept, because there are thousands of launches.
pub(crate) struct Clusters(Vec<Cluster>);

impl Clusters {
    pub(crate) fn new(sizes: &[usize]) -> Self {
        Clusters(sizes.iter().map(|&hosts| Cluster::local(hosts).threads_per_host(1)).collect())
    }

    pub(crate) fn all(&mut self) -> impl Iterator<Item = &mut Cluster> {
        self.0.iter_mut()
    }
}

/// The parts that an input makes.
pub(crate) fn build(
    cluster: &mut Cluster,
    input: &Input,
    policy: &str,
) -> Result<Vec<Partition>, LaunchError<Error>> {
    cluster.launch(|net| Partition::build(net, input, &Plan::new(policy)))
}

pub(crate) fn write(folder: &Path, files: &[(String, Vec<u8>)]) {
    for (name, bytes) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

/// Bytes as a file whose name has this ending holds them.
pub(crate) fn pack(ending: &str, bytes: &[u8]) -> Vec<u8> {
    match ending {
        ".gz" => {
            let mut packed = flate2::write::GzEncoder::new(Vec::new(), Default::default());
            packed.write_all(bytes).unwrap();
            packed.finish().unwrap()
        }
        ".zst" => zstd::encode_all(bytes, 1).unwrap(),
        _ => bytes.to_vec(),
    }
}

pub(crate) fn read_whole(spec: &str) -> parton_graph::Result<Graph> {
    formats::read(&Source::find(spec)?, None, &Default::default())
}

/// What every host masters, under which original ids, and its edges, with their weights' type.
/// Where an edge of the input is `mirrored`, which of the two comes first is nobody's promise.
pub(crate) fn print(parts: &[Partition], mirrored: bool) -> Vec<String> {
    let text = |part: &Partition| {
        let masters: Vec<_> = (0..part.num_masters() as u32)
            .map(|l| (part.original(LocalId(l)).to_string(), part.global(LocalId(l))))
            .collect();
        let globals: Vec<_> =
            (0..part.num_proxies() as u32).map(|l| part.global(LocalId(l))).collect();
        let kind = part.out_edges().weight_kind();
        let mut edges: Vec<_> = with_csr!(part.out_edges(), csr => csr
            .vertices()
            .flat_map(|v| csr.edges(v).map(move |(t, w)| format!("{v} {t} {w:?}")).collect::<Vec<_>>())
            .collect());
        if mirrored {
            edges.sort();
        }
        format!("{masters:?} {globals:?} {kind:?} {edges:?}")
    };
    parts.iter().map(text).collect()
}
