//! Writing a file so that its final name never holds half of it: write to a temporary beside it,
//! flush to the disk, rename, flush the folder.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::source::Compression;
use crate::{Error, Result};

/// A file being written. Dropped without [`Output::commit`], it leaves nothing behind; only what
/// went to standard output cannot be taken back.
pub struct Output {
    path: PathBuf,
    writer: Writer,
}

enum Writer {
    Plain(BufWriter<NamedTempFile>),
    Gzip(flate2::write::GzEncoder<BufWriter<NamedTempFile>>),
    Zstd(zstd::Encoder<'static, BufWriter<NamedTempFile>>),
    Standard(BufWriter<io::Stdout>),
}

/// The path that stands for standard output.
const STANDARD: &str = "-";
/// Large writes bypass the buffer; this serves the small ones.
const BUFFER_BYTES: usize = 1 << 20;
/// Level 1 is the fastest and, on edge lists, no larger than level 3.
const ZSTD_LEVEL: i32 = 1;

impl Output {
    /// Starts a file that will be called `path`; an ending `.gz` or `.zst` packs it, and `-` is
    /// standard output.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        if path == Path::new(STANDARD) {
            let writer = Writer::Standard(BufWriter::with_capacity(BUFFER_BYTES, io::stdout()));
            return Ok(Output { path: path.into(), writer });
        }
        let folder = folder_of(path);
        let failed = |e| Error::Io { path: path.into(), action: "write", source: e };
        let temporary = tempfile::Builder::new()
            .prefix(".parton-")
            .suffix(".tmp")
            .tempfile_in(folder)
            .map_err(failed)?;
        let buffered = BufWriter::with_capacity(BUFFER_BYTES, temporary);
        let name = path.to_string_lossy();
        let writer = match Compression::strip(&name).1 {
            None => Writer::Plain(buffered),
            Some(Compression::Gzip) => {
                Writer::Gzip(flate2::write::GzEncoder::new(buffered, flate2::Compression::fast()))
            }
            Some(Compression::Zstd) => {
                Writer::Zstd(zstd::Encoder::new(buffered, ZSTD_LEVEL).map_err(failed)?)
            }
        };
        Ok(Output { path: path.into(), writer })
    }

    /// Whether this is standard output, beside which no other file can lie.
    pub fn is_standard(&self) -> bool {
        matches!(self.writer, Writer::Standard(_))
    }

    /// The final name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.write_all(bytes).map_err(|e| self.failed(e))
    }

    /// The error for a failed write to this file.
    pub fn failed(&self, source: io::Error) -> Error {
        Error::Io { path: self.path.clone(), action: "write", source }
    }

    /// Gives the finished file its name.
    pub fn commit(self) -> Result<()> {
        let Output { path, writer } = self;
        let failed = |e: io::Error| Error::Io { path: path.clone(), action: "write", source: e };
        let buffered = match writer {
            Writer::Plain(writer) => writer,
            Writer::Gzip(encoder) => encoder.finish().map_err(failed)?,
            Writer::Zstd(encoder) => encoder.finish().map_err(failed)?,
            Writer::Standard(mut writer) => return writer.flush().map_err(failed),
        };
        let temporary = buffered.into_inner().map_err(|e| failed(e.into_error()))?;
        set_ordinary_permissions(temporary.as_file()).map_err(failed)?;
        temporary.as_file().sync_all().map_err(failed)?;
        temporary.persist(&path).map_err(|e| failed(e.error))?;
        // The rename itself must survive a crash too; some file systems cannot flush a folder.
        if let Ok(folder) = File::open(folder_of(&path)) {
            let _ = folder.sync_all();
        }
        Ok(())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.writer {
            Writer::Plain(writer) => writer.write(bytes),
            Writer::Gzip(writer) => writer.write(bytes),
            Writer::Zstd(writer) => writer.write(bytes),
            Writer::Standard(writer) => writer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.writer {
            Writer::Plain(writer) => writer.flush(),
            Writer::Gzip(writer) => writer.flush(),
            Writer::Zstd(writer) => writer.flush(),
            Writer::Standard(writer) => writer.flush(),
        }
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Temporaries are private to their owner; results are as readable as any new file (0666 less
/// the usual mask, which cannot be asked for without changing it).
fn set_ordinary_permissions(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}
