//! What a program can run on.

use std::path::Path;

use crate::error::Result;
use crate::graph::Graph;
use crate::partition::Input;

/// Something that [`run()`](crate::run()) can run on.
pub trait IntoInput {
    /// Opens it.
    fn into_input(self) -> Result<Input>;
}

/// A file, a folder of parts, or a generator such as `rmat:18`.
impl IntoInput for &str {
    fn into_input(self) -> Result<Input> {
        Ok(Input::open(self)?)
    }
}

impl IntoInput for &Path {
    fn into_input(self) -> Result<Input> {
        Ok(Input::open(&self.to_string_lossy())?)
    }
}

impl IntoInput for Graph {
    fn into_input(self) -> Result<Input> {
        Ok(self.into())
    }
}

impl IntoInput for Input {
    fn into_input(self) -> Result<Input> {
        Ok(self)
    }
}
