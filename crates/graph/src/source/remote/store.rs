//! Remote objects by the crate `object_store`. Its calls are asynchronous; threads that read wait for them.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{
    Error as StoreError, ObjectMeta, ObjectStore, ObjectStoreExt, WriteMultipart, parse_url_opts,
};
use tokio::runtime::{Builder, Runtime};
use url::Url;

use super::{RemoteObject, RemoteUpload};
use crate::{Error, Result};

/// Threads that serve the calls of all readers; the readers' own threads wait.
const SERVING_THREADS: usize = 2;
/// Bytes of a part of an upload: with at most 10,000 parts an object has up to 80 GB.
const PART_BYTES: usize = 8 << 20;
/// Parts under way at a time.
const PARTS_AT_ONCE: usize = 8;

/// A store, and the threads that serve it.
struct Store {
    runtime: Runtime,
    store: Box<dyn ObjectStore>,
}

/// One object of a store.
struct Object {
    store: Arc<Store>,
    path: Path,
    url: String,
    len: u64,
}

impl Store {
    /// The store of a URL, and the place in it.
    fn open(url: &str) -> Result<(Store, Path)> {
        let request = |problem: String| Error::Request(format!("{url}: {problem}"));
        let parsed = Url::parse(url).map_err(|e| request(format!("not a URL: {e}")))?;
        // Variables that are no settings of a store are not looked at.
        let given = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        let plain = (parsed.scheme() == "http").then(|| ("allow_http".into(), "true".into()));
        let (store, path) = parse_url_opts(&parsed, given.filter(is_setting).chain(plain))
            .map_err(|e| request(words(&e)))?;
        let runtime =
            Builder::new_multi_thread().worker_threads(SERVING_THREADS).enable_all().build();
        let runtime = runtime.map_err(|e| Error::io(url, "read", e))?;
        Ok((Store { runtime, store }, path))
    }
}

/// Whether a variable is meant for a store.
fn is_setting((name, _): &(String, String)) -> bool {
    ["AWS_", "AZURE_", "GOOGLE_"].iter().any(|prefix| name.starts_with(prefix))
}

pub(super) fn find(url: &str) -> Result<Vec<Arc<dyn RemoteObject>>> {
    let (store, path) = Store::open(url)?;
    let failed = |error| missing_or(url, error);
    let found = match url.ends_with('/') {
        false => vec![store.runtime.block_on(store.store.head(&path)).map_err(failed)?],
        true => store.below(&path).map_err(failed)?,
    };
    // What stands before the path, by which other objects of the store are called, too.
    let stem = url.strip_suffix('/').unwrap_or(url);
    let base = stem.strip_suffix(path.as_ref()).unwrap_or(stem).to_owned();
    let store = Arc::new(store);
    let object = |meta: ObjectMeta| -> Arc<dyn RemoteObject> {
        let name =
            if meta.location == path { url.into() } else { format!("{base}{}", meta.location) };
        Arc::new(Object { store: store.clone(), url: name, path: meta.location, len: meta.size })
    };
    Ok(found.into_iter().map(object).collect())
}

impl Store {
    /// All objects below a path that belong to its data.
    fn below(&self, path: &Path) -> Result<Vec<ObjectMeta>, StoreError> {
        let mut found = Vec::new();
        let mut folders = vec![path.clone()];
        while let Some(folder) = folders.pop() {
            let listed = self.store.list_with_delimiter(Some(&folder));
            let listed = self.runtime.block_on(listed)?;
            folders.extend(listed.common_prefixes);
            found.extend(listed.objects);
        }
        let is_data = |object: &Path| {
            let parts = object.prefix_match(path);
            parts.is_some_and(|mut parts| parts.all(|part| !part.as_ref().starts_with(['.', '_'])))
        };
        found.retain(|meta| meta.size > 0 && is_data(&meta.location));
        found.sort_by(|a, b| a.location.cmp(&b.location));
        Ok(found)
    }
}

impl RemoteObject for Object {
    fn url(&self) -> &str {
        &self.url
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn get(&self, range: Range<u64>) -> io::Result<Bytes> {
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        let wanted = range.end - range.start;
        let got = self.store.runtime.block_on(self.store.store.get_range(&self.path, range));
        let bytes = got.map_err(|error| io::Error::other(words(&error)))?;
        match bytes.len() as u64 == wanted {
            true => Ok(bytes),
            false => Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!(
                    "asked for {wanted} bytes, got {}: does the server know ranges?",
                    bytes.len()
                ),
            )),
        }
    }
}

/// An object that is being written, part by part.
struct Upload {
    store: Store,
    path: Path,
    /// Bytes that are no part yet.
    buffer: Vec<u8>,
    /// `None` until there is a whole part: what is smaller is sent in one request.
    parts: Option<WriteMultipart>,
}

pub(super) fn upload(url: &str) -> Result<Box<dyn RemoteUpload>> {
    let (store, path) = Store::open(url)?;
    Ok(Box::new(Upload { store, path, buffer: Vec::new(), parts: None }))
}

impl RemoteUpload for Upload {
    fn finish(mut self: Box<Self>) -> io::Result<()> {
        let bytes = Bytes::from(std::mem::take(&mut self.buffer));
        let sent = match self.parts.take() {
            Some(mut parts) => self.store.runtime.block_on(async {
                parts.put(bytes);
                parts.finish().await.map(drop)
            }),
            None => {
                let put = self.store.store.put(&self.path, bytes.into());
                self.store.runtime.block_on(put).map(drop)
            }
        };
        sent.map_err(|error| io::Error::other(words(&error)))
    }
}

impl Upload {
    /// Sends the buffer as a part.
    fn send(&mut self) -> io::Result<()> {
        let bytes = Bytes::from(std::mem::take(&mut self.buffer));
        let Upload { store: Store { runtime, store }, path, parts, .. } = self;
        let sent = runtime.block_on(async {
            if parts.is_none() {
                let begun = store.put_multipart(path).await?;
                *parts = Some(WriteMultipart::new_with_chunk_size(begun, PART_BYTES));
            }
            if let Some(parts) = parts {
                parts.wait_for_capacity(PARTS_AT_ONCE).await?;
                parts.put(bytes);
            }
            Ok::<_, StoreError>(())
        });
        sent.map_err(|error| io::Error::other(words(&error)))
    }
}

impl Write for Upload {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(PART_BYTES - self.buffer.len());
        self.buffer.extend_from_slice(&bytes[..taken]);
        if self.buffer.len() == PART_BYTES {
            self.send()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if let Some(parts) = self.parts.take() {
            // If even that fails, the store's own rules remove the parts some day.
            let _ = self.store.runtime.block_on(parts.abort());
        }
    }
}

/// The error of a store, with what it is caused by, in one line.
fn words(error: &StoreError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text += &format!(": {more}");
        }
        cause = error.source();
    }
    text.replace(['\n', '\r'], " ")
}

fn missing_or(url: &str, error: StoreError) -> Error {
    match error {
        StoreError::NotFound { .. } => {
            Error::NoInput { path: url.into(), reason: "there is no such object".into() }
        }
        other => Error::io(url, "read", io::Error::other(words(&other))),
    }
}
