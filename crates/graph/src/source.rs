//! Where bytes come from: a file, standard input, a folder or glob of parts, a URL, or memory; plain or
//! compressed. Formats see a stream of decompressed bytes, or bytes at a position.

use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use crate::error::Place;
use crate::generate::Spec;
use crate::{Error, Result};

mod bytes;
mod compression;
mod digest;
mod fingerprint;
mod part;
mod remote;
mod slice;

pub use bytes::ByteSource;
pub use compression::Compression;
pub use fingerprint::Fingerprint;
use part::Content;
pub use part::Part;
pub(crate) use remote::is_remote;
pub(crate) use remote::{RemoteUpload, upload};
pub use slice::Slice;

/// How much of the beginning formats may look at to recognise themselves.
pub(crate) const HEAD_BYTES: usize = 64 << 10;

/// An input that has been found but not read.
#[derive(Clone)]
pub struct Source {
    name: String,
    parts: Vec<Part>,
    head: Vec<u8>,
    /// Whether the parts are a slice of the input, which may lack what the head shows.
    sliced: bool,
}

impl Source {
    /// Finds an input: a path, a folder of parts and of further folders, a glob, or `-` for standard
    /// input.
    pub fn find(spec: impl AsRef<Path>) -> Result<Self> {
        let path = spec.as_ref();
        let spec = &*path.to_string_lossy();
        let parts = if spec == "-" {
            vec![Part::stream("standard input", io::stdin())]
        } else if is_remote(spec) {
            Part::remote(spec)?
        } else if path.is_dir() {
            Part::all(spec, files_in(path)?)?
        } else if path.exists() || !spec.contains(['*', '?', '[']) {
            vec![Part::file(path).map_err(|error| or_generator(spec, error))?]
        } else {
            let bad = |reason| Error::NoInput { path: path.into(), reason };
            let paths = glob::glob(spec).map_err(|e| bad(format!("not a glob: {e}")))?;
            let unreadable = |e: glob::GlobError| {
                let folder = e.path().to_path_buf();
                Error::io(folder, "read", e.into())
            };
            let paths = paths.collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
            Part::all(spec, paths.into_iter().filter(|path| is_part(path)).collect())?
        };
        let name = if spec == "-" { "standard input" } else { spec };
        Self::new(name.into(), parts)
    }

    /// An input that is one file, whatever characters its name has.
    pub fn file(path: &Path) -> Result<Self> {
        Self::new(path.display().to_string(), vec![Part::file(path)?])
    }

    /// An input in memory.
    pub fn memory(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Result<Self> {
        let (name, bytes) = (name.into(), bytes.into());
        let compression = Compression::of(&bytes);
        let content = Content::Memory(bytes.into());
        let part = Part { name: name.clone(), content, compression, window: None };
        Self::new(name, vec![part])
    }

    fn new(name: String, mut parts: Vec<Part>) -> Result<Self> {
        let part = &mut parts[0];
        let mut head = Vec::new();
        if let Content::Stream(_) = part.content {
            // What is looked at is put back in front: first the packed bytes, then the unpacked.
            let mut packed = part.reader()?;
            let mut start = Vec::new();
            let read = packed.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut start);
            read.map_err(|e| Error::io(&name, "read", e))?;
            part.compression = Compression::of(&start);
            let packed = Cursor::new(start).chain(packed);
            let mut plain: Box<dyn Read + Send> = match part.compression {
                Some(compression) => {
                    compression.decoder(packed).map_err(|e| Error::io(&name, "read", e))?
                }
                None => Box::new(packed),
            };
            let read = plain.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head);
            part.content = Content::stream(Cursor::new(head.clone()).chain(plain));
            read.map_err(|e| part.read_error(e))?;
        } else {
            let read = part.reader()?.take(HEAD_BYTES as u64).read_to_end(&mut head);
            read.map_err(|e| part.read_error(e))?;
        }
        Ok(Source { name, parts, head, sliced: false })
    }

    /// What the user called this input.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The first bytes, decompressed: up to 64 KiB.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Whether there is nothing in it, or nothing was packed.
    pub fn is_empty(&self) -> bool {
        self.head_is_all() && self.head.is_empty()
    }

    /// Whether [`Source::head`] is everything there is.
    pub(crate) fn head_is_all(&self) -> bool {
        !self.sliced && self.parts.len() == 1 && self.head.len() < HEAD_BYTES
    }

    /// The pieces, in order.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The path, when this is one file on disk.
    pub fn path(&self) -> Option<&Path> {
        match &self.parts[..] {
            [Part { content: Content::File(path), .. }] => Some(path),
            _ => None,
        }
    }

    /// Bytes as stored, where that is known beforehand.
    pub fn stored_bytes(&self) -> Option<u64> {
        self.parts.iter().map(Part::stored_bytes).sum()
    }

    /// An error about the contents of this input.
    pub fn error(&self, place: Place, problem: impl Into<String>) -> Error {
        Error::data(&self.name, place, problem)
    }

    /// The input ended too early.
    pub fn ended(&self, expected: &str) -> Error {
        self.error(Place::File, format!("expected {expected}, but the file ends"))
    }

    /// The bytes of a single-part input by position; a packed one is unpacked into memory.
    pub fn bytes(&self) -> Result<ByteSource<'_>> {
        self.single()?.bytes()
    }

    /// The only piece, for formats that are one file.
    pub fn single(&self) -> Result<&Part> {
        match &self.parts[..] {
            [part] => Ok(part),
            parts => Err(Error::Request(format!(
                "{}: {} parts, but this format is read from a single file",
                self.name,
                parts.len()
            ))),
        }
    }
}

/// The error for a file that is not there, with the generator that its name may stand for.
fn or_generator(spec: &str, error: Error) -> Error {
    match error {
        Error::NoInput { path, reason } if !path.exists() => {
            let reason = reason + &Spec::meant(spec).replace("mean '", "mean the generator '");
            Error::NoInput { path, reason }
        }
        other => other,
    }
}

/// The files in a folder and the folders in it, such as `year=2024/month=01/part-0.parquet`.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|e| Error::io(&folder, "read", e))?;
        for entry in entries {
            let path = entry.map_err(|e| Error::io(&folder, "read", e))?.path();
            let name = path.file_name().map(|n| n.to_string_lossy().into_owned());
            // `_SUCCESS` and hidden files are bookkeeping of the programs that write folders of
            // parts.
            match name.unwrap_or_default().starts_with(['.', '_']) {
                true => {}
                false if path.is_dir() => folders.push(path),
                false if is_part(&path) => files.push(path),
                false => {}
            }
        }
    }
    Ok(files)
}

/// Whether a path found in a folder or by a glob is a part. A broken link is: it will be an
/// error, where leaving it out would silently read less.
fn is_part(path: &Path) -> bool {
    path.is_file() || !path.exists()
}
