//! What computes for each host, and how much of its memory may be used.

use clap::Args;

use crate::algorithms::{self, Algorithm, Options};
use crate::cli::exit::Failure;
use crate::cli::options::spelled;
use crate::cli::team::Team;
use crate::devices::{DeviceList, HostDevices};
use crate::host_weights::HostWeights;

/// What computes for each host.
#[derive(Args, Clone)]
pub(crate) struct DeviceArguments {
    /// What computes for each host: cpu, gpu, gpu:N; one for all, or one per host as in 2*gpu,cpu.
    /// auto: hosts of a machine take a GPU each while there are any
    #[arg(long, value_name = "LIST", default_value_t)]
    devices: DeviceList,

    /// How much of its device's memory each host may use, such as 4GB [default: all that is free]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    device_memory: Option<u64>,

    /// How much of the graph each host gets: equal, numbers as in 4,1, or auto, as fast as hosts are in
    /// a short trial and as much as their devices hold [default: equal, auto for hosts with different
    /// devices]
    #[arg(long, value_name = "equal|auto|W,W,…")]
    host_weights: Option<HostWeights>,
}

impl DeviceArguments {
    /// True if threads of the processor compute for all hosts.
    pub(crate) fn are_threads(&self) -> bool {
        self.devices == DeviceList::default()
    }

    /// How much each host gets, if the user says.
    pub(crate) fn host_weights(&self) -> Option<&HostWeights> {
        self.host_weights.as_ref()
    }

    /// The weights that the user gives as numbers.
    pub(crate) fn given_weights(&self) -> Option<Vec<f64>> {
        match &self.host_weights {
            Some(HostWeights::Given(weights)) => Some(weights.clone()),
            _ => None,
        }
    }

    /// What was asked, by the names that users write.
    pub(crate) fn given(&self) -> Vec<(String, String)> {
        let devices = Some(&self.devices).filter(|list| **list != DeviceList::default());
        let devices = devices.map(|list| ("devices".into(), list.to_string()));
        let memory = self.device_memory.map(|bytes| ("device-memory".into(), bytes.to_string()));
        devices.into_iter().chain(memory).collect()
    }

    /// Fails unless there is an entry for each host.
    pub(crate) fn check(&self, hosts: usize) -> Result<(), Failure> {
        self.devices.check(hosts).map_err(|message| Failure::usage(spelled(&message)))
    }

    /// Fails if a device is asked for that cannot run this.
    pub(crate) fn check_algorithm(
        &self,
        algorithm: &dyn Algorithm,
        options: &Options,
    ) -> Result<(), Failure> {
        match self.devices.needs_device() {
            true => Ok(algorithms::check_devices(algorithm, options)?),
            false => Ok(()),
        }
    }

    /// Opens the devices of this process's hosts.
    pub(crate) fn open(
        &self,
        algorithm: &dyn Algorithm,
        options: &Options,
        hosts: usize,
        team: &Team,
    ) -> Result<HostDevices, Failure> {
        self.check_algorithm(algorithm, options)?;
        // `auto` takes no device for what no device runs.
        if algorithms::check_devices(algorithm, options).is_err() {
            return Ok(HostDevices::default());
        }
        let (machine, here) = team.neighbours(hosts);
        let opened = self.devices.open(&machine, &here, self.device_memory)?;
        Ok(opened.single_steps(options.max_rounds.is_some()))
    }

    /// The same for some of the hosts of a process that works alone: the first ones of the list.
    pub(crate) fn open_first(
        &self,
        hosts: usize,
        takes_single_steps: bool,
    ) -> Result<HostDevices, Failure> {
        let all: Vec<usize> = (0..hosts).collect();
        let opened = self.devices.first(hosts).open(&all, &all, self.device_memory)?;
        Ok(opened.single_steps(takes_single_steps))
    }
}

/// Units of sizes, as people write them.
const UNITS: [(&str, f64); 9] = [
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
];

/// Reads a size such as `4GB`, `1.5GiB` or `1000000`.
fn parse_size(text: &str) -> Result<u64, String> {
    let expected = || "expected a size such as 4GB, 512MB or 1.5GiB".to_owned();
    let digits = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
    let factor = match unit {
        "" => 1.0,
        unit => UNITS.iter().find(|known| known.0 == unit).ok_or_else(expected)?.1,
    };
    let bytes = number.parse::<f64>().map_err(|_| expected())? * factor;
    if (1.0..1e18).contains(&bytes) { Ok(bytes as u64) } else { Err(expected()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        let read = ["1", "4GB", "1.5KiB", "64B", "2TB"].map(parse_size);
        let expected = [1, 4_000_000_000, 1536, 64, 2_000_000_000_000];
        assert_eq!(read, expected.map(Ok));
        for bad in ["", "GB", "0", "-1", "4gb", "1e3", "4 GB", "99999999999TB", "1.2.3"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }
}
