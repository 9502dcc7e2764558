//! What stands for remote stores where Parton is built without them: an error that says what to do.

use std::sync::Arc;

use super::{RemoteObject, RemoteUpload};
use crate::{Error, Result};

pub(super) fn find(url: &str) -> Result<Vec<Arc<dyn RemoteObject>>> {
    Err(refused(url))
}

pub(super) fn upload(url: &str) -> Result<Box<dyn RemoteUpload>> {
    Err(refused(url))
}

fn refused(url: &str) -> Error {
    Error::Request(format!(
        "{url}: this Parton was built without remote stores; build it with them (cargo install parton \
         --features remote), or copy the file here first"
    ))
}
