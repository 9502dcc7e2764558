//! Programs on simulated hosts, under every policy.

use std::sync::Arc;

use parton_engine::device::Device;
use parton_engine::{Limits, Pace, Pacing};
use parton_gpu::cuda::nvrtc::Nvrtc;
use parton_gpu::emulated::{Emulated, Settings};
use parton_gpu::{GpuHost, discover};
use parton_graph::{Csr, Graph};
use parton_net::Cluster;
use parton_partition::{Input, Partition, Plan};
use parton_program::{Communication, Delta, Field, FieldValues, HostShare, Program, Venue};
use parton_sync::{Error, Optimize, Substrate};

/// Source, destination, weight.
type WeightedEdge = (u32, u32, u32);

/// Graphs by name: vertices and edges.
pub(crate) const GRAPHS: &[(&str, usize, &[WeightedEdge])] = &[
    ("empty", 0, &[]),
    ("one vertex", 1, &[]),
    ("a loop", 1, &[(0, 0, 3)]),
    ("two apart", 2, &[]),
    ("a path", 5, &[(0, 1, 1), (1, 2, 9), (2, 3, 2), (3, 4, 4)]),
    (
        "a star with loops",
        6,
        &[(3, 0, 1), (3, 1, 2), (3, 2, 3), (3, 3, 1), (3, 4, 5), (3, 5, 6), (0, 3, 7)],
    ),
    ("parallel edges", 4, &[(2, 1, 5), (2, 1, 3), (1, 2, 2), (1, 2, 2), (1, 3, 8), (3, 3, 1)]),
    (
        "mixed",
        9,
        &[
            (4, 0, 3),
            (0, 1, 2),
            (1, 4, 8),
            (4, 5, 1),
            (5, 6, 2),
            (6, 4, 9),
            (1, 5, 4),
            (6, 7, 1),
            (7, 6, 1),
            (2, 3, 7),
            (3, 2, 7),
            (5, 0, 6),
            (0, 5, 1),
            (6, 1, 3),
            (7, 1, 2),
            (4, 1, 1),
        ],
    ),
];

pub(crate) fn graph(vertices: usize, edges: &[(u32, u32, u32)]) -> Graph {
    Graph::dense(Csr::from_edges(vertices, edges), "a test")
}

/// Simulated hosts.
pub(crate) struct Hosts<'g> {
    pub(crate) input: &'g Input,
    pub(crate) hosts: usize,
    pub(crate) policy: &'static str,
    pub(crate) engine: Option<&'static str>,
    pub(crate) communication: Communication,
    pub(crate) pacing: Pacing,
    pub(crate) optimize: Optimize,
    /// Hosts that compute on a device, by a bit each.
    pub(crate) devices: u32,
    /// Bytes of values and of all else of the last run.
    pub(crate) bytes: [u64; 2],
}

impl<'g> Hosts<'g> {
    /// One host with this graph.
    pub(crate) fn new(input: &'g Input) -> Self {
        Hosts {
            input,
            hosts: 1,
            policy: "cvc",
            engine: None,
            communication: Communication::default(),
            pacing: Pacing::default(),
            optimize: Optimize::ALL,
            devices: 0,
            bytes: [0; 2],
        }
    }
}

impl Venue for Hosts<'_> {
    type Error = String;
    type Outcome<O> = O;

    fn run<P: Program>(&mut self, program: &P) -> Result<P::Output, String> {
        let plan = Plan::new(self.policy);
        let devices: Vec<Option<GpuHost>> =
            (0..self.hosts).map(|host| (self.devices >> host & 1 == 1).then(device)).collect();
        let hosts = Cluster::sim(self.hosts, 7).launch(|net| {
            let mut partition = Partition::build(net, self.input, &plan).expect("a partition");
            if self.devices != 0 {
                partition = partition.beside_devices();
            }
            let device = devices[net.host().index()].as_ref();
            let share = HostShare {
                engine: self.engine,
                communication: self.communication,
                pacing: self.pacing,
                limits: Limits { max_rounds: (self.pacing.pace == Pace::Bsp).then_some(10_000) },
                delta: Delta::new(2.0),
                sums_fit: false,
                device: device.map(|device| device as &dyn Device),
            };
            let mut substrate = Substrate::new(&partition, net, self.optimize);
            let answered = share.run(program, &mut substrate, &mut ())?;
            assert!(answered.report.converged, "the program ends");
            let ids = partition.globals()[..partition.num_masters()].to_vec();
            Ok::<_, Error>((ids, answered, partition.num_vertices() as usize))
        });
        let hosts = hosts.map_err(|error| error.to_string())?;
        let sent = hosts[0].1.report.sent();
        self.bytes = [sent.values(), sent.total() - sent.values()];
        let num_columns = hosts[0].1.columns.len();
        let columns = (0..num_columns).map(|column| {
            let of_hosts = hosts
                .iter()
                .map(|(ids, answered, _)| (ids.clone(), answered.columns[column].clone()));
            FieldValues::gathered(hosts[0].2, of_hosts.collect())
        });
        Ok(P::output(columns.collect()))
    }
}

/// A device whose kernels run on the processor; where NVIDIA's compiler is there, it compiles them, too. A variable
/// `PARTON_TEST_GPU` of 1 asks for the GPU.
fn device() -> GpuHost {
    if std::env::var("PARTON_TEST_GPU").as_deref() == Ok("1") {
        return GpuHost::new(discover::open("gpu").expect("a GPU"));
    }
    let architectures: &[&str] = if Nvrtc::get().is_ok() { &["sm_90"] } else { &[] };
    GpuHost::new(Arc::new(Emulated::new(Settings { architectures, ..Settings::default() })))
}

/// Calls `check` for policies, numbers of hosts, and ways to communicate.
pub(crate) fn on_all(graph: &Graph, check: impl Fn(&mut Hosts<'_>)) {
    let input = &graph.clone().into();
    for (number, policy) in ["oec", "iec", "cvc", "hvc", "random"].into_iter().enumerate() {
        for hosts in [1, 2, 3, 4, 7] {
            let (_, communication) = Communication::NAMES[(hosts + number) % 3];
            let engine = (hosts % 2 == 0).then_some("steps");
            let devices = match (number, hosts) {
                (0, 1) => 0b1,
                (1, 2) => 0b01,
                (2, 4) => 0b0110,
                (3, 2) => 0b11,
                (4, 7) => 0b101_0101,
                _ => 0,
            };
            let venue = Hosts { hosts, policy, engine, communication, ..Hosts::new(input) };
            check(&mut Hosts { devices, ..venue });
        }
    }
}

pub(crate) fn agree<T: PartialEq + std::fmt::Debug>(
    name: &str,
    found: Result<T, String>,
    expected: T,
) {
    assert_eq!(found.unwrap(), expected, "{name}");
}

pub(crate) fn close<const N: usize>(
    name: &str,
    found: [Field<f64>; N],
    expected: [Field<f64>; N],
    by: f64,
) {
    for (found, expected) in found.iter().zip(&expected) {
        for (found, expected) in found.values().iter().zip(expected.values()) {
            let is_close = found == expected
                || (found - expected).abs() <= by * expected.abs().max(1.0)
                || (found.is_nan() && expected.is_nan());
            assert!(is_close, "{name}: {found} instead of {expected}");
        }
    }
}

/// Whether answers are equal; with fractions, whether they differ by no more than this, relative to numbers greater
/// than 1.
pub(crate) fn are_close(found: &[FieldValues], expected: &[FieldValues], by: f64) -> bool {
    fn reals(values: &FieldValues) -> Option<Vec<f64>> {
        match values {
            FieldValues::F32(values) => {
                Some(values.iter().map(|value| f64::from(*value)).collect())
            }
            FieldValues::F64(values) => Some(values.clone()),
            _ => None,
        }
    }
    let is_close = |(found, expected): (&f64, &f64)| {
        let is_same = found == expected || (found.is_nan() && expected.is_nan());
        is_same || (found - expected).abs() <= by * expected.abs().max(1.0)
    };
    found.len() == expected.len()
        && found.iter().zip(expected).all(|(found, expected)| {
            match (reals(found), reals(expected)) {
                (Some(found), Some(expected)) => {
                    found.len() == expected.len() && found.iter().zip(&expected).all(is_close)
                }
                _ => found == expected,
            }
        })
}
