//! What a new partition would replace.

use std::path::Path;

use parton_net::{HostId, Net};

use super::MANIFEST;
use crate::{Error, Result};

/// What is under the name of a partition before it is written.
#[derive(Clone, Copy)]
enum Found {
    /// At most an empty folder.
    Nothing,
    /// A partition, perhaps with files of fewer or more hosts, or one that lost its manifest when it was
    /// being replaced.
    Partition,
    /// Files that are none of a partition's.
    OtherFiles,
}

/// Whether there is a partition in `folder`; an error if there are other files. Every host must call this.
pub(super) fn replaces_partition(net: &mut Net, folder: &Path) -> Result<bool> {
    let found = if net.host() == HostId(0) { look(folder) } else { Found::Nothing };
    let found = net.all_reduce(found as u64, std::cmp::max)?;
    if found == Found::OtherFiles as u64 {
        return Err(Error::request(format!(
            "{}: there are files in this folder that are no partition; give a new name",
            folder.display()
        )));
    }
    Ok(found == Found::Partition as u64)
}

fn look(folder: &Path) -> Found {
    let Ok(entries) = std::fs::read_dir(folder) else { return Found::Nothing };
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let names: Vec<String> = names.collect();
    let is_part = |name: &String| {
        let number = name.strip_prefix("host-").and_then(|rest| rest.strip_suffix(".part"));
        number.is_some_and(|number| number.parse::<u16>().is_ok())
    };
    match names.is_empty() {
        true => Found::Nothing,
        false if names.iter().any(|name| name == MANIFEST) => Found::Partition,
        false if names.iter().all(is_part) => Found::Partition,
        false => Found::OtherFiles,
    }
}
