//! How much of a graph each host should get next, by what its part costs it now.
//!
//! Hosts wait for each other in every round, so a cut is good if all take equally long. Memory goes before
//! that: no host gets more than fits its device. What a part costs, in time and in memory, follows its size with
//! a slope: packing, and starting kernels, cost about the same for a smaller part. The slope is first taken from
//! computing time, and from edges. Two cuts show it better: the secant through both.

/// The slowest host may take this many times as long as hosts do on average.
const MAX_IMBALANCE: f64 = 1.1;
/// A graph is cut at most this many times, and once more if the last cut does not fit but one before did.
const MAX_CUTS: usize = 6;
/// The part of a device's memory that a new cut fills: the cut itself is not exact.
const FILLED: f64 = 0.99;
/// A host with this part of what its memory would hold has no room worth another cut.
const FULL: f64 = 0.97;
/// Another cut that changes no host's part by more than this is not worth it.
const MIN_CHANGE: f64 = 0.02;
/// The next cut leaves a host at least this part of what it has, however little fits its device.
const MIN_ROOM: f64 = 0.1;
/// Cuts that differ by less than this in a host's part do not show a slope.
const MIN_SECANT: f64 = 0.05;
/// The flattest slope, relative to a time that is in proportion to the part.
const MIN_SLOPE: f64 = 0.2;
/// The next cut makes a host's part at most this many times smaller for balance.
const MAX_SHRINK: f64 = 4.0;
/// Steps in which the common time of hosts is found, each of which halves what is left.
const BISECTIONS: usize = 100;

/// What a host's part of the graph costs it. Hosts tell each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct Cost {
    /// Time of a round in which the host computes or packs,
    pub(super) seconds: f64,
    /// and of these the time that follows the size of the part.
    pub(super) compute_seconds: f64,
    /// Bytes of the device's memory that follow the number of edges,
    pub(super) edge_bytes: f64,
    /// and that do not.
    pub(super) other_bytes: f64,
    /// Bytes that the host may use; infinite for a processor.
    pub(super) free_bytes: f64,
}

impl Cost {
    pub(super) fn fits(&self) -> bool {
        self.bytes() <= self.free_bytes
    }

    fn bytes(&self) -> f64 {
        self.edge_bytes + self.other_bytes
    }
}

/// What to do after a cut.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum CutVerdict {
    /// Cut again with these weights.
    CutAgain(Vec<f64>),
    /// Take it. `is_memory_bound` are the hosts that would get more if their devices had the memory.
    Take { is_memory_bound: Vec<bool> },
}

/// The cuts of one graph.
#[derive(Default)]
pub(super) struct Balance {
    /// Number of cuts so far.
    cuts: usize,
    /// What each host showed in the last cut.
    last: Vec<Seen>,
    /// The last weights with which all parts fit.
    fitting: Option<Vec<f64>>,
}

/// What a part of the graph cost a host.
struct Seen {
    part: f64,
    bytes: f64,
    /// If they were measured.
    seconds: Option<f64>,
}

impl Balance {
    /// Judges a cut with these weights. `is_timed`: costs were measured on the parts, and not forecast.
    pub(super) fn judge(&mut self, weights: &[f64], costs: &[Cost], is_timed: bool) -> CutVerdict {
        self.cuts += 1;
        let sum: f64 = weights.iter().sum();
        let parts: Vec<f64> = weights.iter().map(|weight| weight / sum).collect();
        let hosts = self.hosts(&parts, costs);
        let is_known = is_known(costs);
        let seen = |(&part, cost): (&f64, &Cost)| Seen {
            part,
            bytes: cost.bytes(),
            seconds: (is_timed && is_known).then_some(cost.seconds),
        };
        self.last = parts.iter().zip(costs).map(seen).collect();

        let fits = costs.iter().all(Cost::fits);
        let mean = costs.iter().map(|cost| cost.seconds).sum::<f64>() / costs.len() as f64;
        let slowest = costs.iter().map(|cost| cost.seconds).fold(0.0, f64::max);
        let is_even = !is_known || slowest <= MAX_IMBALANCE * mean;
        let is_bound =
            |host: &Host| !is_even && host.most * FULL <= host.part && host.seconds < slowest;
        let take = || CutVerdict::Take { is_memory_bound: hosts.iter().map(is_bound).collect() };
        if fits {
            self.fitting = Some(parts.clone());
        }
        let better = match (fits, self.cuts >= MAX_CUTS) {
            (true, true) => None,
            (true, false) if is_even => None,
            (false, true) => self.fitting.take().filter(|_| self.cuts == MAX_CUTS),
            (_, false) => level(&hosts),
        };
        let Some(better) = better else { return take() };
        let changes = parts.iter().zip(&better).map(|(old, new)| (new - old).abs() / old);
        match fits && changes.fold(0.0, f64::max) < MIN_CHANGE {
            true => take(),
            false => CutVerdict::CutAgain(better),
        }
    }

    /// What is known of each host.
    fn hosts(&self, parts: &[f64], costs: &[Cost]) -> Vec<Host> {
        let is_known = is_known(costs);
        let host = |(number, (&part, cost)): (usize, (&f64, &Cost))| {
            let last = self.last.get(number);
            let last = last.filter(|last| (part - last.part).abs() > MIN_SECANT * part);
            // Without times all parts grow alike where others must shrink.
            let seconds = if is_known { cost.seconds } else { 1.0 };
            let steepest = seconds / part;
            let slope = match last.and_then(|last| Some((last.part, last.seconds?))) {
                _ if !is_known => steepest,
                Some((other, took)) => (seconds - took) / (part - other),
                None => cost.compute_seconds / part,
            };
            let most = room(part, cost, last);
            Host {
                part,
                seconds,
                slope: slope.clamp(MIN_SLOPE * steepest, steepest),
                least: (part / MAX_SHRINK).min(most),
                most,
            }
        };
        parts.iter().zip(costs).enumerate().map(host).collect()
    }
}

/// Whether there are times: a clock that does not move tells nothing.
fn is_known(costs: &[Cost]) -> bool {
    costs.iter().all(|cost| cost.seconds > 0.0)
}

/// The greatest part that fits a host, which has another one now and had one before.
fn room(part: f64, cost: &Cost, last: Option<&Seen>) -> f64 {
    if cost.free_bytes.is_infinite() {
        return f64::INFINITY;
    }
    // What does not follow the edges may follow the part, too: the secant shows that.
    let by_edges = cost.edge_bytes.max(1.0) / part;
    let by_secant = last.map_or(0.0, |last| (cost.bytes() - last.bytes) / (part - last.part));
    let most = part + (FILLED * cost.free_bytes - cost.bytes()) / by_secant.max(by_edges);
    most.max(part * MIN_ROOM)
}

/// A host's time as a line over its part of the graph, and the limits of that part.
struct Host {
    part: f64,
    seconds: f64,
    slope: f64,
    least: f64,
    most: f64,
}

impl Host {
    /// The part that takes this long.
    fn part_for(&self, seconds: f64) -> f64 {
        (self.part + (seconds - self.seconds) / self.slope).clamp(self.least, self.most)
    }
}

/// The parts with which all hosts take equally long, as far as their limits go. `None` if no host has room.
fn level(hosts: &[Host]) -> Option<Vec<f64>> {
    if hosts.iter().map(|host| host.most).sum::<f64>() < 1.0 {
        return None;
    }
    let parts_for = |seconds| hosts.iter().map(move |host| host.part_for(seconds));
    // A host that took the whole graph would take no longer than this.
    let latest = |host: &Host| host.seconds + host.slope;
    let (mut least, mut most) = (0.0, hosts.iter().map(latest).fold(0.0, f64::max));
    for _ in 0..BISECTIONS {
        let middle = (least + most) / 2.0;
        match parts_for(middle).sum::<f64>() < 1.0 {
            true => least = middle,
            false => most = middle,
        }
    }
    Some(parts_for(most).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A host as it would be: seconds of a round for a graph's edges, for its vertices, for packing; bytes for
    /// edges and for the rest; memory.
    #[derive(Clone, Copy)]
    struct Model {
        edges: f64,
        vertices: f64,
        packing: f64,
        edge_bytes: f64,
        other_bytes: f64,
        memory: f64,
    }

    const GPU: Model = Model {
        edges: 2.5e-3,
        vertices: 0.2e-3,
        packing: 1e-3,
        edge_bytes: 1.1e9,
        other_bytes: 0.8e9,
        memory: f64::INFINITY,
    };
    /// Twenty times as slow.
    const CPU: Model =
        Model { edges: 50e-3, vertices: 2e-3, packing: 1.5e-3, memory: f64::INFINITY, ..GPU };

    impl Model {
        /// What a part of the graph costs. Small parts are those of small degrees: they have more vertices.
        fn cost(&self, part: f64) -> Cost {
            let compute_seconds = self.edges * part + self.vertices * part.sqrt();
            Cost {
                seconds: compute_seconds + self.packing,
                compute_seconds,
                edge_bytes: self.edge_bytes * part,
                other_bytes: self.other_bytes * part.sqrt(),
                free_bytes: self.memory,
            }
        }
    }

    /// Cuts a graph until the balance is good. Returns costs, the number of cuts, and which hosts are bound by memory.
    fn cut(hosts: &[Model], first: &[f64]) -> (Vec<Cost>, usize, Vec<bool>) {
        let (mut balance, mut weights) = (Balance::default(), first.to_vec());
        for cuts in 1..=MAX_CUTS + 1 {
            let sum: f64 = weights.iter().sum();
            let parts = weights.iter().map(|weight| weight / sum);
            let costs: Vec<Cost> =
                hosts.iter().zip(parts).map(|(host, part)| host.cost(part)).collect();
            let is_timed = costs.iter().all(Cost::fits);
            match balance.judge(&weights, &costs, is_timed) {
                CutVerdict::CutAgain(better) => weights = better,
                CutVerdict::Take { is_memory_bound } => return (costs, cuts, is_memory_bound),
            }
        }
        panic!("no end of cuts: {weights:?}");
    }

    /// Time of the fastest host over that of the slowest.
    fn evenness(costs: &[Cost]) -> f64 {
        let seconds = || costs.iter().map(|cost| cost.seconds);
        seconds().fold(f64::INFINITY, f64::min) / seconds().fold(0.0, f64::max)
    }

    #[test]
    fn hosts_take_equally_long_after_few_cuts_wherever_these_begin() {
        for first in [[0.97, 0.03], [0.5, 0.5], [0.995, 0.005], [0.9, 0.1]] {
            let (costs, cuts, is_memory_bound) = cut(&[GPU, CPU], &first);
            assert!(evenness(&costs) > 0.8 && cuts <= 5, "{first:?}: {costs:?} in {cuts}");
            assert_eq!(is_memory_bound, [false, false]);
        }
        let (costs, ..) = cut(&[GPU, CPU, Model { edges: 5e-3, ..GPU }, CPU], &[1.0; 4]);
        assert!(evenness(&costs) > 0.7, "{costs:?}");
    }

    #[test]
    fn a_device_that_can_hold_its_part_of_a_balanced_cut_is_balanced() {
        let alone = GPU.cost(1.0);
        let needed = alone.edge_bytes + alone.other_bytes;
        let gpu = Model { memory: 0.98 * needed, ..GPU };
        assert!(!gpu.cost(1.0).fits());
        let (costs, _, is_memory_bound) = cut(&[gpu, CPU], &[0.995, 0.005]);
        assert!(costs[0].fits() && evenness(&costs) > 0.8, "{costs:?}");
        assert_eq!(is_memory_bound, [false, false]);
    }

    #[test]
    fn memory_goes_before_balance() {
        let alone = GPU.cost(1.0);
        for memory in [0.85, 0.5] {
            let needed = alone.edge_bytes + alone.other_bytes;
            let gpu = Model { memory: memory * needed, ..GPU };
            let (costs, _, is_memory_bound) = cut(&[gpu, CPU], &[0.97, 0.03]);
            assert!(costs[0].fits(), "{costs:?}");
            let used = (costs[0].edge_bytes + costs[0].other_bytes) / costs[0].free_bytes;
            assert!(used > 0.9 && costs[0].seconds < costs[1].seconds, "{used} {costs:?}");
            assert_eq!(is_memory_bound, [true, false]);
        }
        // No host has room: the run says so.
        let small = Model { memory: 1e9, ..GPU };
        let (costs, cuts, _) = cut(&[small, Model { memory: 1e8, ..small }], &[0.5, 0.5]);
        assert!(!costs[1].fits() && cuts < MAX_CUTS, "{costs:?}");
    }

    #[test]
    fn a_last_cut_that_does_not_fit_gives_way_to_one_that_did() {
        let [gpu, cpu] = [GPU.cost(0.5), CPU.cost(0.5)];
        let full = Cost { free_bytes: 1.0, ..gpu };
        let mut balance = Balance::default();
        for _ in 1..MAX_CUTS {
            assert!(matches!(
                balance.judge(&[0.5, 0.5], &[gpu, cpu], true),
                CutVerdict::CutAgain(_)
            ));
        }
        let again = balance.judge(&[0.9, 0.1], &[full, cpu], false);
        assert_eq!(again, CutVerdict::CutAgain(vec![0.5, 0.5]));
        let last = balance.judge(&[0.5, 0.5], &[full, cpu], false);
        assert!(matches!(last, CutVerdict::Take { .. }), "{last:?}");
    }

    #[test]
    fn parts_without_times_are_cut_for_memory_alone() {
        let cost = |edge_bytes, free_bytes| Cost { edge_bytes, free_bytes, ..Cost::default() };
        let mut balance = Balance::default();
        let [fits, endless] = [cost(50.0, 100.0), cost(0.0, f64::INFINITY)];
        let taken = CutVerdict::Take { is_memory_bound: vec![false; 2] };
        assert_eq!(balance.judge(&[0.9, 0.1], &[fits, endless], false), taken);
        let CutVerdict::CutAgain(better) =
            balance.judge(&[0.9, 0.1], &[cost(200.0, 100.0), endless], false)
        else {
            panic!("it does not fit");
        };
        assert!((better[0] - 0.9 * 0.495).abs() < 1e-6, "{better:?}");
    }
}
