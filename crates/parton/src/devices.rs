//! Which device computes for which host: the list that users write, and opening what it names.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use parton_engine::device::Device;
use parton_gpu::memory::Ledger;
use parton_gpu::{GpuHost, discover};
use parton_net::{HostId, Net};
use parton_partition::Partition;

/// Devices for hosts, as users list them: one entry per host, or one for all.
///
/// | text | means |
/// |---|---|
/// | `cpu` | threads of this process compute for every host |
/// | `gpu` | a GPU computes for every host; hosts of one machine take its GPUs in turn |
/// | `gpu:1` | the GPU of this number, counted on each machine |
/// | `2*gpu,cpu` | the first two hosts take GPUs, the third none |
/// | `auto` | hosts of a machine take a GPU each while there are any |
/// | `emulated` | a device for tests, which runs kernels of GPUs on the processor |
///
/// ```
/// use parton::DeviceList;
///
/// assert!("2*gpu,cpu".parse::<DeviceList>().is_ok());
/// assert!("2*tpu".parse::<DeviceList>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceList {
    text: String,
    entries: Entries,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Entries {
    Auto,
    ForAll(Entry),
    Each(Vec<Entry>),
}

/// What an entry of a list asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    Cpu,
    /// A number, or whichever comes next.
    Gpu(Option<u32>),
    Emulated,
}

/// What computes for a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeviceName {
    Cpu,
    Gpu(u32),
    Emulated,
}

/// Most hosts that a list can name.
const MAX_ENTRIES: usize = u16::MAX as usize;

impl Default for DeviceList {
    /// Threads of this process for every host.
    fn default() -> Self {
        DeviceList { text: "cpu".into(), entries: Entries::ForAll(Entry::Cpu) }
    }
}

impl fmt::Display for DeviceList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for DeviceList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let entries = match text {
            "auto" => Entries::Auto,
            _ if !text.contains([',', '*']) => Entries::ForAll(parse_entry(text)?),
            _ => {
                let mut entries = Vec::new();
                for part in text.split(',') {
                    let (count, entry) = parse_part(part)?;
                    if entries.len() + count > MAX_ENTRIES {
                        return Err(format!("'{part}': more than {MAX_ENTRIES} hosts"));
                    }
                    entries.extend(std::iter::repeat_n(entry, count));
                }
                Entries::Each(entries)
            }
        };
        Ok(DeviceList { text: text.into(), entries })
    }
}

/// Reads `gpu:1` or `2*gpu`.
fn parse_part(part: &str) -> Result<(usize, Entry), String> {
    let Some((count, entry)) = part.split_once('*') else { return Ok((1, parse_entry(part)?)) };
    match count.parse() {
        Ok(count @ 1..=MAX_ENTRIES) => Ok((count, parse_entry(entry)?)),
        _ => Err(format!("'{part}': expected a number of hosts before the *")),
    }
}

fn parse_entry(text: &str) -> Result<Entry, String> {
    let number = text.strip_prefix("gpu:").and_then(|number| number.parse().ok());
    match (text, number) {
        ("cpu", _) => Ok(Entry::Cpu),
        ("gpu", _) => Ok(Entry::Gpu(None)),
        (_, Some(number)) => Ok(Entry::Gpu(Some(number))),
        ("emulated", _) => Ok(Entry::Emulated),
        ("auto", _) => Err("'auto' stands alone: it chooses for all hosts".into()),
        _ => Err(format!("'{text}': expected cpu, gpu, gpu:NUMBER, emulated or auto")),
    }
}

impl DeviceList {
    /// Fails unless there is an entry for each of `hosts` hosts.
    pub(crate) fn check(&self, hosts: usize) -> Result<(), String> {
        match &self.entries {
            Entries::Each(entries) if entries.len() != hosts => {
                let named = entries.len();
                let plural = if named == 1 { "" } else { "s" };
                Err(format!(
                    "`devices` {self} is for {named} host{plural}, and there are {hosts}: name one \
                     for each, or one for all"
                ))
            }
            _ => Ok(()),
        }
    }

    /// Whether a host computes with anything but its processor, as far as is known before devices are
    /// looked for.
    pub(crate) fn needs_device(&self) -> bool {
        match &self.entries {
            Entries::Auto => false,
            Entries::ForAll(entry) => *entry != Entry::Cpu,
            Entries::Each(entries) => entries.iter().any(|entry| *entry != Entry::Cpu),
        }
    }

    /// The same list for the first hosts only.
    pub(crate) fn first(&self, hosts: usize) -> DeviceList {
        match &self.entries {
            Entries::Each(entries) => DeviceList {
                entries: Entries::Each(entries[..hosts.min(entries.len())].to_vec()),
                ..self.clone()
            },
            _ => self.clone(),
        }
    }

    /// The devices of hosts that share one machine, which are given in ascending order. `num_gpus` says
    /// how many GPUs the machine has, and is called only if that matters.
    fn assign(
        &self,
        machine: &[usize],
        num_gpus: impl FnOnce() -> parton_gpu::Result<usize>,
    ) -> parton_gpu::Result<Vec<DeviceName>> {
        let asked: Vec<Entry> = match &self.entries {
            Entries::Auto => {
                let gpus = num_gpus().unwrap_or(0).min(machine.len());
                let take = (0..gpus).map(|number| DeviceName::Gpu(number as u32));
                let rest = std::iter::repeat_n(DeviceName::Cpu, machine.len() - gpus);
                return Ok(take.chain(rest).collect());
            }
            Entries::ForAll(entry) => vec![*entry; machine.len()],
            Entries::Each(entries) => machine.iter().map(|host| entries[*host]).collect(),
        };
        let gpus = if asked.contains(&Entry::Gpu(None)) { num_gpus()? } else { 0 };
        let mut turns = (0..gpus as u32).cycle();
        let name = |entry: Entry| match entry {
            Entry::Cpu => DeviceName::Cpu,
            Entry::Emulated => DeviceName::Emulated,
            Entry::Gpu(Some(number)) => DeviceName::Gpu(number),
            Entry::Gpu(None) => DeviceName::Gpu(turns.next().unwrap_or(0)),
        };
        Ok(asked.into_iter().map(name).collect())
    }

    /// Opens the devices of the hosts `here`, a range, which are on a machine with the hosts `machine`.
    pub(crate) fn open(
        &self,
        machine: &[usize],
        here: &[usize],
        memory_limit: Option<u64>,
    ) -> parton_gpu::Result<HostDevices> {
        let names = self.assign(machine, || Ok(discover::list()?.len()))?;
        let mine = machine.iter().zip(names).filter(|(host, _)| here.contains(host));
        let ledger = Arc::default();
        let opened = mine.map(|(_, name)| name.open(memory_limit, &ledger));
        let hosts = opened.collect::<parton_gpu::Result<_>>()?;
        Ok(HostDevices { first: here.first().copied().unwrap_or(0), hosts })
    }
}

impl DeviceName {
    fn open(
        self,
        memory_limit: Option<u64>,
        ledger: &Arc<Ledger>,
    ) -> parton_gpu::Result<Option<GpuHost>> {
        let driver = match self {
            DeviceName::Cpu => return Ok(None),
            DeviceName::Gpu(number) => discover::open(&format!("gpu:{number}"))?,
            DeviceName::Emulated => discover::open("emulated")?,
        };
        Ok(Some(GpuHost::new(driver).memory_limit(memory_limit).ledger(ledger)))
    }
}

/// The devices of the hosts of this process.
#[derive(Default)]
pub(crate) struct HostDevices {
    /// The first of these hosts.
    first: usize,
    hosts: Vec<Option<GpuHost>>,
}

/// What computes for one host.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HostDevice {
    /// What users call it.
    pub(crate) name: String,
    /// Edges per second in a trial, if there was one.
    pub(crate) speed: Option<f64>,
    /// Whether it would have more of the graph if its memory held that.
    pub(crate) is_memory_bound: bool,
}

impl HostDevice {
    /// The same for all devices that are equally fast, as far as names tell.
    pub(crate) fn kind(&self) -> &str {
        self.name.split(':').next().unwrap_or_default()
    }
}

/// What a host without a device of its own computes with.
pub(crate) const CPU: &str = "cpu";

/// A host's partition for a run of which these compute: all hosts have to know if any has a device.
pub(crate) fn partition_for(devices: &[HostDevice], partition: Partition) -> Partition {
    match devices.iter().any(|device| device.name != CPU) {
        true => partition.beside_devices(),
        false => partition,
    }
}

impl HostDevices {
    /// Among how many of `hosts` hosts the cores are shared out: hosts whose device computes leave them
    /// to the others.
    pub(crate) fn hosts_that_need_threads(&self, hosts: usize) -> usize {
        match self.hosts.iter().filter(|host| host.is_some()).count() {
            with_device if with_device < hosts => hosts - with_device,
            _ => hosts,
        }
    }

    /// Makes a round one step of a frontier, for users who count rounds.
    pub(crate) fn single_steps(self, takes_single_steps: bool) -> Self {
        let hosts = self.hosts.into_iter();
        let hosts = hosts.map(|host| host.map(|gpu| gpu.single_steps(takes_single_steps)));
        HostDevices { first: self.first, hosts: hosts.collect() }
    }

    /// The device of a host of this process.
    pub(crate) fn get(&self, host: HostId) -> Option<&GpuHost> {
        let place = host.index().checked_sub(self.first)?;
        self.hosts.get(place).and_then(Option::as_ref)
    }

    /// What users call the device of a host of this process.
    pub(crate) fn name(&self, host: HostId) -> String {
        self.get(host).map_or_else(|| CPU.into(), |gpu| gpu.name())
    }

    /// What computes for each host of all processes. Every host must call this.
    pub(crate) fn of_all_hosts(&self, net: &mut Net) -> parton_net::Result<Vec<HostDevice>> {
        let names = net.all_gather(self.name(net.host()).into_bytes())?;
        let device = |name: &Vec<u8>| HostDevice {
            name: String::from_utf8_lossy(name).into_owned(),
            ..HostDevice::default()
        };
        Ok(names.iter().map(device).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assigned(text: &str, machine: &[usize], gpus: usize) -> Vec<DeviceName> {
        let list: DeviceList = text.parse().expect("a list");
        list.assign(machine, || Ok(gpus)).expect("devices")
    }

    #[test]
    fn lists_are_understood() {
        use DeviceName::{Cpu, Emulated, Gpu};
        let cases = [
            ("cpu", 2, vec![Cpu, Cpu, Cpu]),
            ("gpu", 2, vec![Gpu(0), Gpu(1), Gpu(0)]),
            ("gpu:1", 2, vec![Gpu(1), Gpu(1), Gpu(1)]),
            ("gpu:0,gpu:7,cpu", 2, vec![Gpu(0), Gpu(7), Cpu]),
            ("2*gpu,cpu", 1, vec![Gpu(0), Gpu(0), Cpu]),
            ("gpu,cpu,gpu", 2, vec![Gpu(0), Cpu, Gpu(1)]),
            ("cpu,2*emulated", 0, vec![Cpu, Emulated, Emulated]),
            ("auto", 2, vec![Gpu(0), Gpu(1), Cpu]),
            ("auto", 0, vec![Cpu, Cpu, Cpu]),
            ("auto", 9, vec![Gpu(0), Gpu(1), Gpu(2)]),
        ];
        for (text, gpus, expected) in cases {
            assert_eq!(assigned(text, &[0, 1, 2], gpus), expected, "{text}");
            let list: DeviceList = text.parse().expect("a list");
            assert_eq!((list.check(3), list.to_string()), (Ok(()), text.to_owned()));
        }
    }

    #[test]
    fn hosts_of_a_machine_take_its_gpus_in_turn() {
        use DeviceName::{Cpu, Gpu};
        // Ranks 2, 4 and 5 are on one machine.
        assert_eq!(assigned("gpu,cpu,gpu,gpu,cpu,gpu", &[2, 4, 5], 2), [Gpu(0), Cpu, Gpu(1)]);
        assert_eq!(assigned("auto", &[2, 4, 5], 1), [Gpu(0), Cpu, Cpu]);
    }

    #[test]
    fn mistakes_are_told() {
        let cases = [
            ("", "'': expected cpu, gpu, gpu:NUMBER, emulated or auto"),
            ("tpu", "'tpu': expected cpu, gpu, gpu:NUMBER, emulated or auto"),
            ("gpu:", "'gpu:': expected cpu, gpu, gpu:NUMBER, emulated or auto"),
            ("gpu:-1", "'gpu:-1': expected cpu, gpu, gpu:NUMBER, emulated or auto"),
            ("gpu,,cpu", "'': expected cpu, gpu, gpu:NUMBER, emulated or auto"),
            ("0*gpu", "'0*gpu': expected a number of hosts before the *"),
            ("x*gpu", "'x*gpu': expected a number of hosts before the *"),
            ("70000*gpu", "'70000*gpu': expected a number of hosts before the *"),
            ("cpu,65535*gpu", "'65535*gpu': more than 65535 hosts"),
            ("auto,cpu", "'auto' stands alone: it chooses for all hosts"),
        ];
        for (text, expected) in cases {
            assert_eq!(text.parse::<DeviceList>(), Err(expected.to_owned()), "{text}");
        }
        let list: DeviceList = "gpu,cpu".parse().expect("a list");
        assert_eq!(
            list.check(3),
            Err(
                "`devices` gpu,cpu is for 2 hosts, and there are 3: name one for each, or one for \
                 all"
                .to_owned()
            )
        );
        assert_eq!(list.first(1).check(1), Ok(()));
    }
}
