//! Which devices there are, and the way to one by its name.

use std::sync::Arc;

use crate::cuda::nvrtc::Nvrtc;
use crate::cuda::{Cuda, devices};
use crate::driver::{DeviceInfo, Driver};
use crate::emulated::{Emulated, Settings};
use crate::error::{Error, Result};

/// All GPUs of this machine that Parton can use. The error is a sentence that says why there is none.
pub fn list() -> Result<Vec<DeviceInfo>> {
    let gpus: Vec<_> = (0..devices::count()?).map(devices::info).collect();
    // One that cannot be used does not hide the others.
    if gpus.iter().any(Result::is_ok) {
        Nvrtc::get()?;
        return Ok(gpus.into_iter().flatten().collect());
    }
    gpus.into_iter().collect()
}

/// A connection of one host to a device: `gpu` or `gpu:0` for the first GPU, `gpu:N` for another,
/// `emulated` for none at all.
pub fn open(name: &str) -> Result<Arc<dyn Driver>> {
    let number = match name {
        "emulated" | "emulated:0" => return Ok(Arc::new(Emulated::new(Settings::default()))),
        "gpu" => Some(0),
        _ => name.strip_prefix("gpu:").and_then(|number| number.parse().ok()),
    };
    let unknown = || {
        Error::Missing(format!("there is no device `{name}`: gpu, gpu:0, gpu:1 … and emulated are"))
    };
    Ok(Arc::new(Cuda::new(number.ok_or_else(unknown)?)?))
}
