//! Writing a file so that its final name never holds half of it: write to a temporary beside it,
//! flush to the disk, rename, flush the folder. Pipes and devices are written as they are.
//!
//! Several files that belong together go into a [`NewFolder`]. Temporaries are listed, so that a process that a signal ends can take them along ([`abandon`]).

mod folder;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

use crate::source::{Compression, RemoteUpload, is_remote, upload};
use crate::{Error, Result};

pub use folder::NewFolder;

/// A file being written. Dropped without [`Output::commit`], it leaves nothing behind.
pub struct Output {
    /// As the user gave it.
    path: PathBuf,
    /// The same without links: these stay, and what they lead to is replaced.
    place: PathBuf,
    writer: Writer,
}

enum Writer {
    Plain(BufWriter<Target>),
    Gzip(flate2::write::GzEncoder<BufWriter<Target>>),
    Zstd(zstd::Encoder<'static, BufWriter<Target>>),
}

enum Target {
    /// Will be renamed.
    Temporary(Temporary),
    /// A pipe, a device or a file that is already open (`/dev/stdout`, `/dev/null`): a rename
    /// would put a file in its place.
    Stream(File),
    Standard(io::Stdout),
    /// An object of a remote store.
    Remote(Box<dyn RemoteUpload>),
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
        let place = path.canonicalize().unwrap_or(path.into());
        let failed = |e| Error::Io { path: path.into(), action: "write", source: e };
        let target = match path.metadata() {
            _ if path == Path::new(STANDARD) => Target::Standard(io::stdout()),
            _ if is_remote(&path.to_string_lossy()) => {
                Target::Remote(upload(&path.to_string_lossy())?)
            }
            Ok(there) if there.is_dir() => {
                let problem = "a folder; give the name of a file in it";
                return Err(Error::Request(format!("{}: {problem}", path.display())));
            }
            Ok(there) if !there.is_file() || is_open(path) => {
                Target::Stream(File::options().append(true).open(path).map_err(failed)?)
            }
            _ => Target::Temporary(Temporary::in_folder(folder_of(&place)).map_err(failed)?),
        };
        let buffered = BufWriter::with_capacity(BUFFER_BYTES, target);
        let name = path.to_string_lossy();
        let writer = match Compression::strip(&name).1 {
            None => Writer::Plain(buffered),
            Some(Compression::Gzip) => {
                Writer::Gzip(flate2::write::GzEncoder::new(buffered, flate2::Compression::fast()))
            }
            Some(Compression::Zstd) => {
                let mut encoder = zstd::Encoder::new(buffered, ZSTD_LEVEL).map_err(failed)?;
                encoder.include_checksum(true).map_err(failed)?;
                Writer::Zstd(encoder)
            }
            Some(read_only) => {
                let (path, ending) = (path.display(), read_only.ending());
                return Err(Error::Request(format!(
                    "{path}: Parton reads {ending}, but does not write it; use .zst or .gz"
                )));
            }
        };
        Ok(Output { path: path.into(), place, writer })
    }

    /// Whether `path` can be written, found out before long work: a file is begun there and
    /// dropped. What is no file, such as a pipe, whose reader would notice, is left alone.
    pub fn check(path: impl AsRef<Path>) -> Result<()> {
        match path.as_ref().metadata() {
            Ok(there) if !there.is_file() && !there.is_dir() => Ok(()),
            _ => Self::create(path).map(drop),
        }
    }

    /// The final name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it will be a file, beside which there can be others.
    pub fn is_file(&self) -> bool {
        let target = match &self.writer {
            Writer::Plain(writer) => writer.get_ref(),
            Writer::Gzip(writer) => writer.get_ref().get_ref(),
            Writer::Zstd(writer) => writer.get_ref().get_ref(),
        };
        matches!(target, Target::Temporary(_))
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
        self.seal()?.commit()
    }

    /// Brings the finished file to the disk, but does not give it its name yet: for one of several
    /// that belong together.
    pub fn seal(self) -> Result<Sealed> {
        let Output { path, place, writer } = self;
        let failed = |e: io::Error| Error::Io { path: path.clone(), action: "write", source: e };
        let buffered = match writer {
            Writer::Plain(writer) => writer,
            Writer::Gzip(encoder) => encoder.finish().map_err(failed)?,
            Writer::Zstd(encoder) => encoder.finish().map_err(failed)?,
        };
        let unnamed = match buffered.into_inner().map_err(|e| failed(e.into_error()))? {
            Target::Temporary(temporary) => {
                temporary.file.as_file().sync_all().map_err(failed)?;
                Unnamed::Temporary(temporary)
            }
            Target::Remote(upload) => Unnamed::Remote(upload),
            Target::Stream(_) => Unnamed::Nothing,
            Target::Standard(mut stream) => {
                stream.flush().map_err(failed)?;
                Unnamed::Nothing
            }
        };
        Ok(Sealed { path, place, unnamed })
    }
}

/// A file that is complete and on the disk, under a temporary name. Dropped without
/// [`Sealed::commit`], it leaves nothing behind.
pub struct Sealed {
    path: PathBuf,
    place: PathBuf,
    unnamed: Unnamed,
}

/// What waits for its name.
enum Unnamed {
    Temporary(Temporary),
    Remote(Box<dyn RemoteUpload>),
    /// It was written as it came.
    Nothing,
}

impl Sealed {
    /// Gives the file its name.
    pub fn commit(self) -> Result<()> {
        let Sealed { path, place, unnamed } = self;
        let failed = |e: io::Error| Error::Io { path, action: "write", source: e };
        let temporary = match unnamed {
            Unnamed::Temporary(temporary) => temporary,
            Unnamed::Remote(upload) => return upload.finish().map_err(failed),
            Unnamed::Nothing => return Ok(()),
        };
        temporary.file.persist(&place).map(drop).map_err(|e| failed(e.error))?;
        // The rename itself must survive a crash too; some file systems cannot flush a folder.
        if let Ok(folder) = File::open(folder_of(&place)) {
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
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.writer {
            Writer::Plain(writer) => writer.flush(),
            Writer::Gzip(writer) => writer.flush(),
            Writer::Zstd(writer) => writer.flush(),
        }
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether an existing path leads through the list of files that a process has open, as
/// `/dev/stdout` and `/dev/fd/3` do.
fn is_open(path: &Path) -> bool {
    let folder = folder_of(path);
    let listed = folder.canonicalize().is_ok_and(|folder| folder.starts_with("/proc"));
    listed || path.read_link().is_ok_and(|next| is_open(&folder.join(next)))
}

/// A file under a name of its own, until it gets its final one.
struct Temporary {
    // Removed before it is taken off the list.
    file: NamedTempFile,
    _listed: Listed,
}

/// A path on the list of temporaries, until dropped.
struct Listed(PathBuf);

/// Where temporaries of this process lie.
static TEMPORARIES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn temporaries() -> MutexGuard<'static, Vec<PathBuf>> {
    TEMPORARIES.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Temporary {
    /// A temporary that is as readable as any new file of this user, as it will be one.
    fn in_folder(folder: &Path) -> io::Result<Self> {
        use std::os::unix::fs::PermissionsExt;
        let less_the_mask = std::fs::Permissions::from_mode(0o666);
        let mut builder = tempfile::Builder::new();
        builder.prefix(".parton-").suffix(".tmp").permissions(less_the_mask);
        // No other thread may look at the list between the two.
        let mut temporaries = temporaries();
        let file = builder.tempfile_in(folder)?;
        temporaries.push(file.path().into());
        let listed = Listed(file.path().into());
        Ok(Temporary { file, _listed: listed })
    }
}

impl Listed {
    fn new(path: PathBuf) -> Self {
        temporaries().push(path.clone());
        Listed(path)
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        temporaries().retain(|path| *path != self.0);
    }
}

/// Removes every file and folder that is being written and has not got its final name: for a process that is
/// about to end at once. While the result lives, no other can begin.
pub fn abandon() -> Abandoned {
    let mut temporaries = temporaries();
    for path in temporaries.drain(..) {
        // It may just have been renamed, and no caller is left to tell.
        let _ = match path.is_dir() {
            true => remove_unnamed(&path),
            false => std::fs::remove_file(path),
        };
    }
    Abandoned { _list: temporaries }
}

/// Removes a folder that another thread or process may be giving its final name just now. It is renamed first,
/// so that all of it gets that name or nothing does.
fn remove_unnamed(folder: &Path) -> io::Result<()> {
    let mut doomed = folder.as_os_str().to_owned();
    doomed.push(format!("-{}", std::process::id()));
    std::fs::rename(folder, &doomed)?;
    std::fs::remove_dir_all(doomed)
}

/// Nothing can be begun while this lives.
#[must_use]
pub struct Abandoned {
    _list: MutexGuard<'static, Vec<PathBuf>>,
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Target::Temporary(temporary) => temporary.file.write(bytes),
            Target::Stream(stream) => stream.write(bytes),
            Target::Standard(stream) => stream.write(bytes),
            Target::Remote(upload) => upload.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Target::Temporary(temporary) => temporary.file.flush(),
            Target::Stream(stream) => stream.flush(),
            Target::Standard(stream) => stream.flush(),
            Target::Remote(upload) => upload.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_as_readable_as_other_new_files() {
        let folder = tempfile::tempdir().unwrap();
        let [ours, other] = ["ours", "other"].map(|name| folder.path().join(name));
        let mut out = Output::create(&ours).unwrap();
        out.write(b"x").unwrap();
        assert!(!ours.exists(), "not there before it is whole");
        out.commit().unwrap();
        File::create(&other).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions();
        assert_eq!(mode(&ours), mode(&other));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing left behind");
        assert!(matches!(Output::create(folder.path()), Err(Error::Request(_))));
    }

    /// A frame of Zstandard says in its fifth byte whether a checksum follows it.
    #[test]
    fn packed_files_have_checksums() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.txt.zst");
        let mut out = Output::create(&path).unwrap();
        out.write(b"text").unwrap();
        out.commit().unwrap();
        assert_ne!(std::fs::read(&path).unwrap()[4] & 1 << 2, 0);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_is_no_file_is_written_and_stays() {
        use std::io::Read;
        use std::os::fd::AsRawFd;
        use std::os::unix::fs::symlink;
        let (mut from, to) = io::pipe().unwrap();
        let mut out = Output::create(format!("/dev/fd/{}", to.as_raw_fd())).unwrap();
        out.write(b"1 2\n").unwrap();
        out.commit().unwrap();
        drop(to);
        let mut text = String::new();
        from.read_to_string(&mut text).unwrap();
        assert_eq!(text, "1 2\n");
        Output::create("/dev/null").unwrap().commit().unwrap();
        assert!(!Path::new("/dev/null").is_file());

        // `parton convert … /dev/stdout >> file`
        let folder = tempfile::tempdir().unwrap();
        let [file, link, open] = ["file", "link", "open"].map(|name| folder.path().join(name));
        std::fs::write(&file, "before ").unwrap();
        let redirected = File::options().append(true).open(&file).unwrap();
        symlink(format!("/proc/self/fd/{}", redirected.as_raw_fd()), &open).unwrap();
        symlink(&file, &link).unwrap();
        for (name, expected) in [(&open, "before x"), (&link, "x"), (&file, "x")] {
            let mut out = Output::create(name).unwrap();
            out.write(b"x").unwrap();
            out.commit().unwrap();
            assert_eq!(std::fs::read_to_string(&file).unwrap(), expected);
        }
        assert!(link.is_symlink() && open.is_symlink(), "links stay links");
    }
}
