//! Running algorithms over any cluster.

#![allow(dead_code, reason = "each file of tests uses some of it")]

pub(crate) mod compare;
pub(crate) mod compiled_ranks;
pub(crate) mod nasty;
pub(crate) mod pairs;

use std::sync::Arc;

use parton_algorithms::{Algorithm, Answer, Column, Error, Fact, Job, Options, Values};
use parton_engine::RunReport;
use parton_engine::device::Device;
use parton_gpu::GpuHost;
use parton_gpu::cuda::nvrtc::Nvrtc;
use parton_gpu::emulated::{Emulated, Settings};
use parton_graph::LocalId;
use parton_net::{Cluster, LaunchError, Net};
use parton_partition::{Input, Order, Partition, Plan, policies};
use parton_sync::{Optimize, Schedule, Substrate};

/// Every policy that needs no file.
pub(crate) fn all_policies() -> Vec<&'static str> {
    policies::ALL.iter().filter(|kind| kind.argument.is_none()).map(|kind| kind.name).collect()
}

/// Whether everything is tried that can be: `cargo xtask test --long`.
pub(crate) fn is_long() -> bool {
    std::env::var_os("PARTON_LONG").is_some()
}

/// Whether a setting of a product is tried, given the number of each choice: all settings in a long
/// run, else one in `one_in`, and among these any two choices meet.
pub(crate) fn is_tried(choices: &[usize], one_in: usize) -> bool {
    is_long() || is_sampled(choices, one_in)
}

/// Diagonals of the product: whichever two choices are fixed, the others reach every remainder.
fn is_sampled(choices: &[usize], one_in: usize) -> bool {
    choices.iter().sum::<usize>().is_multiple_of(one_in)
}

/// Numbers of choices, and whether some are tried together.
type Sampled = (&'static [usize], fn(&[usize]) -> bool);

#[test]
fn any_two_choices_meet_in_a_sample() {
    // The products that are sampled, and how. The last choice is the run, where some of all runs are tried.
    let products: [Sampled; 5] = [
        (&[5, 16, 11, 4, 60], |c| is_sampled(&c[..4], 6) && is_sampled(&[c[0] + c[1], c[4]], 3)),
        (&[5, 16, 11, 40], |c| is_sampled(&c[..3], 3) && is_sampled(&[c[0] + c[1], c[3]], 2)),
        (&[16, 4, 4], |c| is_sampled(c, 2)),
        (&[6, 18, 3, 15], |c| is_sampled(c, 3)),
        (&[16, 3, 60], |c| is_sampled(c, 3)),
    ];
    for (counts, is_tried) in products {
        let mut met = std::collections::HashSet::new();
        for number in 0..counts.iter().product() {
            let mut rest = number;
            let digits = counts.iter().map(|count| {
                let digit = rest % count;
                rest /= count;
                digit
            });
            let choices: Vec<usize> = digits.collect();
            if is_tried(&choices) {
                let pairs = (0..choices.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
                met.extend(pairs.map(|(a, b)| (a, b, choices[a], choices[b])));
            }
        }
        let pairs = (0..counts.len()).flat_map(|a| (0..a).map(move |b| counts[a] * counts[b]));
        assert_eq!(met.len(), pairs.sum::<usize>(), "{counts:?}");
    }
}

/// What all hosts found.
pub(crate) struct Outcome {
    pub(crate) columns: Vec<Column>,
    pub(crate) result: Vec<(&'static str, Fact)>,
    pub(crate) report: RunReport,
    pub(crate) notes: Vec<String>,
    /// What is wrong with it.
    pub(crate) complaint: Option<String>,
}

impl Outcome {
    /// What is worth knowing under this name.
    pub(crate) fn fact(&self, name: &str) -> &Fact {
        let found = self.result.iter().find(|(known, _)| *known == name);
        &found.unwrap_or_else(|| panic!("no {name} in {:?}", self.result)).1
    }
}

/// How to run.
#[derive(Clone, Copy)]
pub(crate) struct How<'a> {
    pub(crate) policy: &'a str,
    pub(crate) optimize: Optimize,
    pub(crate) places_per_message: usize,
    pub(crate) order: Order,
    pub(crate) devices: Devices,
    pub(crate) schedule: Schedule,
}

/// The device of a host, by its number.
pub(crate) type DeviceOf = dyn Fn(usize) -> Option<GpuHost> + Sync;

impl<'a> How<'a> {
    pub(crate) fn new(policy: &'a str) -> Self {
        How {
            policy,
            optimize: Optimize::ALL,
            places_per_message: 1 << 20,
            order: Order::Original,
            devices: Devices::None,
            schedule: Schedule::default(),
        }
    }
}

/// Which hosts compute on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Devices {
    None,
    /// No host has one, but all behave as if another had.
    Elsewhere,
    All,
    /// Every other host.
    Odd,
    /// The others.
    Even,
    /// All, with offsets of 64 bits.
    Wide,
}

impl Devices {
    /// The device of a host: the GPU if `PARTON_TEST_GPU` is 1, else an emulated one.
    fn of(self, host: usize) -> Option<GpuHost> {
        let has_device = match self {
            Devices::None | Devices::Elsewhere => false,
            Devices::All | Devices::Wide => true,
            Devices::Odd => host % 2 == 1,
            Devices::Even => host.is_multiple_of(2),
        };
        let is_gpu = || std::env::var("PARTON_TEST_GPU").as_deref() == Ok("1");
        let opened = has_device.then(|| match is_gpu() {
            true => GpuHost::new(parton_gpu::discover::open("gpu").expect("a GPU")),
            false => {
                // What NVRTC compiles for a GPU, where it is installed, is what the emulator runs.
                let architectures: &[&str] = match Nvrtc::get() {
                    Ok(_) if is_long() => &["sm_70", "sm_75", "sm_80", "sm_86", "sm_90"],
                    // Of those that are known, this one can do least. Compiled programs are compiled for others.
                    Ok(_) => &["sm_70"],
                    Err(_) => &[],
                };
                let seed = host as u64;
                let settings = Settings { seed, architectures, ..Settings::default() };
                GpuHost::new(Arc::new(Emulated::new(settings)))
            }
        });
        match self {
            Devices::Wide => opened.map(|host| host.max_narrow_edges(0)),
            _ => opened,
        }
    }
}

/// Partitions a graph once, then runs each algorithm on it and checks its certificate.
pub(crate) fn run(
    cluster: &mut Cluster,
    input: &Input,
    runs: &[(&dyn Algorithm, Options)],
    how: How<'_>,
) -> Vec<Outcome> {
    try_run(cluster, input, runs, how).unwrap_or_else(|e| panic!("{}: {e}", how.policy))
}

/// One host's part of a graph. Every host must call this.
pub(crate) fn partition(net: &mut Net, input: &Input, how: How<'_>) -> Result<Partition, Error> {
    // A low threshold, so that small graphs have large vertices.
    let plan = Plan { threshold: 4, order: how.order, ..Plan::new(how.policy) };
    Partition::build(net, input, &plan).map_err(|e| Error::Data(e.to_string()))
}

/// The same, where it may fail.
pub(crate) fn try_run(
    cluster: &mut Cluster,
    input: &Input,
    runs: &[(&dyn Algorithm, Options)],
    how: How<'_>,
) -> Result<Vec<Outcome>, LaunchError<Error>> {
    let launched = cluster.launch(|net| -> Result<_, Error> {
        let partition = partition(net, input, how)?;
        let partition = match how.devices {
            Devices::None => partition,
            _ => partition.beside_devices(),
        };
        let masters = 0..partition.num_masters() as u32;
        let globals: Vec<u64> = masters.map(|local| partition.global(LocalId(local)).0).collect();
        let mut answers = Vec::new();
        let device = how.devices.of(partition.host().index());
        let device = device.as_ref().map(|device| device as &dyn Device);
        for (algorithm, options) in runs {
            let mut substrate = Substrate::new(&partition, net, how.optimize)
                .with_schedule(how.schedule)
                .with_places_per_message(how.places_per_message);
            let mut job = Job { substrate: &mut substrate, options, watch: &mut (), device };
            let answer = algorithm.run(&mut job)?;
            job.device = None;
            let complaint = algorithm.check(&mut job, &answer)?;
            answers.push((answer, complaint));
        }
        Ok((globals, answers, partition.num_vertices()))
    });
    let mut hosts = launched?;
    if cluster.placement().is_some() {
        let (globals, answers, vertices) = hosts.swap_remove(0);
        hosts = of_all_processes(cluster, globals, answers, vertices)?;
    }
    let vertices = hosts[0].2 as usize;
    let outcome = |which: usize| {
        let (first, complaint) = &hosts[0].1[which];
        for (_, answers, _) in &hosts {
            let (other, other_complaint) = &answers[which];
            assert_eq!((&other.result, other_complaint), (&first.result, complaint), "one verdict");
        }
        let column = |column: usize| {
            let parts = hosts
                .iter()
                .map(|(globals, answers, _)| (globals, &answers[which].0.columns[column]));
            merge(vertices, parts)
        };
        Outcome {
            columns: (0..first.columns.len()).map(column).collect(),
            result: first.result.clone(),
            report: first.report.clone(),
            notes: first.notes.clone(),
            complaint: complaint.clone(),
        }
    };
    Ok((0..runs.len()).map(outcome).collect())
}

/// A host's masters, its answers and what is wrong with them, and the number of all vertices.
type OfHost = (Vec<u64>, Vec<(Answer, Option<String>)>, u64);

/// What the hosts of all processes found, in every process.
fn of_all_processes(
    cluster: &mut Cluster,
    globals: Vec<u64>,
    answers: Vec<(Answer, Option<String>)>,
    vertices: u64,
) -> Result<Vec<OfHost>, LaunchError<Error>> {
    let told = cluster.launch(|net| -> Result<_, Error> {
        let mut told = vec![all_of(net, &globals)?];
        for (answer, complaint) in &answers {
            // Beside the columns everything is the same on all hosts.
            let verdict = format!("{:?} {complaint:?}", answer.result).into_bytes();
            let verdicts = all_of(net, &verdict)?;
            assert!(verdicts.iter().all(|other| *other == verdict), "one verdict");
            for column in &answer.columns {
                told.push(match &column.values {
                    Values::U32(values) | Values::Vertices(values) => all_of(net, values)?,
                    Values::U64(values) => all_of(net, values)?,
                    Values::F64(values) => all_of(net, values)?,
                    Values::Vectors { elements, .. } => all_of(net, elements)?,
                });
            }
        }
        Ok(told)
    });
    let told = told?.swap_remove(0);
    let host = |host: usize| {
        let mut told = told.iter().map(|all| &all[host]);
        let mut next = || told.next().expect("something told");
        let globals = bytemuck::pod_collect_to_vec(next());
        let mut theirs = answers.clone();
        for (answer, _) in &mut theirs {
            for column in &mut answer.columns {
                match &mut column.values {
                    Values::U32(values) | Values::Vertices(values) => {
                        *values = bytemuck::pod_collect_to_vec(next());
                    }
                    Values::U64(values) => *values = bytemuck::pod_collect_to_vec(next()),
                    Values::F64(values) => *values = bytemuck::pod_collect_to_vec(next()),
                    Values::Vectors { elements, .. } => {
                        *elements = bytemuck::pod_collect_to_vec(next());
                    }
                }
            }
        }
        (globals, theirs, vertices)
    };
    Ok((0..cluster.num_hosts()).map(host).collect())
}

/// An array of every host, as bytes.
fn all_of<T: bytemuck::Pod>(net: &mut Net, array: &[T]) -> Result<Vec<Vec<u8>>, Error> {
    let all = net.all_gather(bytemuck::cast_slice(array).to_vec());
    all.map_err(|e| Error::Data(e.to_string()))
}

fn merge<'a>(vertices: usize, parts: impl Iterator<Item = (&'a Vec<u64>, &'a Column)>) -> Column {
    let mut all: Option<Column> = None;
    for (globals, column) in parts {
        assert_eq!(globals.len(), column.values.len(), "a value for every master");
        let whole = all.get_or_insert_with(|| {
            let values = match column.values {
                Values::U32(_) => Values::U32(vec![0; vertices]),
                Values::U64(_) => Values::U64(vec![0; vertices]),
                Values::F64(_) => Values::F64(vec![0.0; vertices]),
                Values::Vertices(_) => Values::Vertices(vec![0; vertices]),
                Values::Vectors { width, .. } => {
                    Values::Vectors { width, elements: vec![0.0; width * vertices] }
                }
            };
            Column { name: column.name, values }
        });
        for (place, &vertex) in globals.iter().enumerate() {
            let vertex = vertex as usize;
            match (&mut whole.values, &column.values) {
                (Values::U32(all), Values::U32(part))
                | (Values::Vertices(all), Values::Vertices(part)) => all[vertex] = part[place],
                (Values::U64(all), Values::U64(part)) => all[vertex] = part[place],
                (Values::F64(all), Values::F64(part)) => all[vertex] = part[place],
                (
                    Values::Vectors { width, elements: all },
                    Values::Vectors { elements: part, .. },
                ) => {
                    let from = &part[place * *width..][..*width];
                    all[vertex * *width..][..*width].copy_from_slice(from);
                }
                _ => panic!("hosts disagree about types"),
            }
        }
    }
    all.expect("at least one host")
}

/// Whether columns are the same, real numbers up to rounding.
pub(crate) fn same(found: &[Column], expected: &[Column]) -> bool {
    same_within(found, expected, 1e-9)
}

/// The same, where real numbers may differ by so much, relative to them.
pub(crate) fn same_within(found: &[Column], expected: &[Column], relative: f64) -> bool {
    let close = |(a, b): (&f64, &f64)| a == b || (a - b).abs() <= 1e-12 + relative * b.abs();
    found.len() == expected.len()
        && found.iter().zip(expected).all(|(found, expected)| {
            match (&found.values, &expected.values) {
                (Values::F64(a), Values::F64(b)) => {
                    a.len() == b.len() && a.iter().zip(b).all(close)
                }
                // Elements have single precision.
                (
                    Values::Vectors { width: a, elements },
                    Values::Vectors { width: b, elements: others },
                ) => {
                    let close = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-4 + 1e-4 * b.abs();
                    (a, elements.len()) == (b, others.len())
                        && elements.iter().zip(others).all(close)
                }
                _ => found == expected,
            }
        })
}
