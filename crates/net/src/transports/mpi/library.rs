//! The site's MPI, found in a shared library at run time: all `unsafe` of this transport.
//!
//! Parton is built without MPI. What it needs are fifteen functions of the standard, whose C
//! signatures are the same in every MPI; only handles and constants differ, in three ways:
//!
//! | library | handles | known by |
//! |---|---|---|
//! | Open MPI | addresses of exported structs | the symbol `ompi_mpi_comm_world` |
//! | the ABI of MPI 5 | small constants, as wide as an address | the name `libmpi_abi` |
//! | MPICH and its relatives | constants of 32 bits | else |
//!
//! One set of signatures serves all three. A handle is passed as a whole register, of which MPICH reads the lower
//! half. A handle that MPI writes goes into a zeroed word, of which MPICH fills the lower half. That holds on 64-bit
//! little-endian machines, the only ones this is built for.
//!
//! # Contract
//!
//! What MPI asks of its callers, and how it is kept:
//!
//! - *Calls do not overlap in time* (`MPI_THREAD_SERIALIZED`): every method takes `&mut self`.
//! - *Nothing is called before the start or after the end*: [`Mpi`] exists only between the two.
//! - *A buffer stays in place, alive and untouched until its request is complete*: [`Sending`] shares
//!   ownership of bytes that nothing can change, [`Receiving`] shows its bytes only when they are
//!   complete, and either leaks its buffer when dropped before.
//! - *A request is waited for once*: complete requests are forgotten by the methods that find them so.
//! - *The library stays loaded*: it is never unloaded, as it may have started threads.

#[cfg(not(all(target_pointer_width = "64", target_endian = "little")))]
compile_error!("MPI handles are passed as 64-bit little-endian words");

use std::collections::VecDeque;
use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

/// A communicator, datatype, request or message, in any ABI.
type Handle = usize;

/// Room for a status: the largest has 40 bytes.
type Status = [u64; 8];

/// What went wrong inside MPI, in its own words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{call}: {problem}")]
pub struct CallError {
    /// The function.
    pub call: &'static str,
    /// What it said.
    pub problem: String,
}

type Result<T, E = CallError> = std::result::Result<T, E>;

/// What differs between ABIs.
struct Abi {
    world: Handle,
    byte: Handle,
    errors_return: Handle,
    any_source: c_int,
    serialized: c_int,
    /// Where a status says who sent, in units of `c_int`.
    source_at: usize,
}

const MPICH: Abi = Abi {
    world: 0x4400_0000,
    byte: 0x4c00_010d,
    errors_return: 0x5400_0001,
    any_source: -2,
    serialized: 2,
    source_at: 2,
};

const STANDARD: Abi = Abi {
    world: 0x101,
    byte: 0x247,
    errors_return: 0x143,
    any_source: -1,
    serialized: 2048,
    source_at: 0,
};

/// Declares the functions and looks all of them up.
macro_rules! functions {
    ($($field:ident = $name:literal: fn($($argument:ty),*);)*) => {
        struct Functions { $($field: unsafe extern "C" fn($($argument),*) -> c_int,)* }

        impl Functions {
            fn find(library: &Library) -> std::result::Result<Self, libloading::Error> {
                // SAFETY: these are the signatures that the MPI standard gives to these names; how
                // handles fit in is said at the top.
                unsafe { Ok(Functions { $($field: *library.get($name)?,)* }) }
            }
        }
    };
}

functions! {
    initialized = b"MPI_Initialized": fn(*mut c_int);
    init_thread = b"MPI_Init_thread": fn(*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int);
    finalize = b"MPI_Finalize": fn();
    abort = b"MPI_Abort": fn(Handle, c_int);
    comm_rank = b"MPI_Comm_rank": fn(Handle, *mut c_int);
    comm_size = b"MPI_Comm_size": fn(Handle, *mut c_int);
    set_errhandler = b"MPI_Comm_set_errhandler": fn(Handle, Handle);
    error_string = b"MPI_Error_string": fn(c_int, *mut c_char, *mut c_int);
    library_version = b"MPI_Get_library_version": fn(*mut c_char, *mut c_int);
    get_count = b"MPI_Get_count": fn(*const Status, Handle, *mut c_int);
    isend = b"MPI_Isend": fn(*const c_void, c_int, Handle, c_int, c_int, Handle, *mut Handle);
    irecv = b"MPI_Irecv": fn(*mut c_void, c_int, Handle, c_int, c_int, Handle, *mut Handle);
    improbe = b"MPI_Improbe": fn(c_int, c_int, Handle, *mut c_int, *mut Handle, *mut Status);
    imrecv = b"MPI_Imrecv": fn(*mut c_void, c_int, Handle, *mut Handle, *mut Handle);
    test = b"MPI_Test": fn(*mut Handle, *mut c_int, *mut Status);
}

/// An MPI library that has been loaded but not started.
pub(super) struct Loaded {
    functions: Functions,
    abi: Abi,
}

impl Loaded {
    /// Loads the library of that name or path.
    pub(super) fn open(name: &OsStr) -> std::result::Result<Self, libloading::Error> {
        // SAFETY: loading runs the library's own initialisation. An MPI library is what the user
        // names or what goes by the name of one. Open MPI's plug-ins need its symbols to be global.
        let library = unsafe { Library::open(Some(name), RTLD_NOW | RTLD_GLOBAL)? };
        let functions = Functions::find(&library)?;
        let file = Path::new(name).canonicalize().unwrap_or(name.into());
        let standard = file.file_name().is_some_and(|n| n.to_string_lossy().contains("libmpi_abi"));
        let address = |name: &[u8]| -> std::result::Result<Handle, libloading::Error> {
            // SAFETY: only the address is used: it is the handle.
            let symbol = unsafe { library.get::<*mut c_void>(name)? };
            Ok(symbol.as_raw_ptr().expose_provenance())
        };
        let abi = match address(b"ompi_mpi_comm_world") {
            Ok(world) => Abi {
                world,
                byte: address(b"ompi_mpi_byte")?,
                errors_return: address(b"ompi_mpi_errors_return")?,
                any_source: -1,
                serialized: 2,
                source_at: 0,
            },
            Err(_) if standard => STANDARD,
            Err(_) => MPICH,
        };
        // It stays loaded: see the contract.
        std::mem::forget(library);
        Ok(Loaded { functions, abi })
    }

    /// Starts MPI, which a process can do once.
    pub(super) fn start(self) -> Result<Mpi> {
        let Loaded { functions, abi } = self;
        let (mut started, mut level) = (0, 0);
        // SAFETY: allowed at any time; writes one number.
        let code = unsafe { (functions.initialized)(&mut started) };
        let problem = |text: &str| CallError { call: "MPI_Init_thread", problem: text.into() };
        if code != 0 || started != 0 {
            return Err(problem("MPI has been started in this process before"));
        }
        let (no_count, no_arguments) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: not started before; no arguments are passed on; writes one number.
        let code =
            unsafe { (functions.init_thread)(no_count, no_arguments, abi.serialized, &mut level) };
        let mut mpi = Mpi { functions, abi, rank: 0, size: 1 };
        mpi.check("MPI_Init_thread", code)?;
        if level < mpi.abi.serialized {
            return Err(problem("this MPI allows calls by one thread only"));
        }
        let (mut rank, mut size) = (0, 0);
        let Mpi { functions, abi, .. } = &mpi;
        // SAFETY: MPI runs, the handles are its own, each call writes at most one number.
        let codes = unsafe {
            [
                (functions.set_errhandler)(abi.world, abi.errors_return),
                (functions.comm_rank)(abi.world, &mut rank),
                (functions.comm_size)(abi.world, &mut size),
            ]
        };
        let calls = ["MPI_Comm_set_errhandler", "MPI_Comm_rank", "MPI_Comm_size"];
        calls.into_iter().zip(codes).try_for_each(|(call, code)| mpi.check(call, code))?;
        (mpi.rank, mpi.size) = (rank as usize, size as usize);
        Ok(mpi)
    }
}

/// MPI, running. One rank among all that the launcher started.
pub(super) struct Mpi {
    functions: Functions,
    abi: Abi,
    rank: usize,
    size: usize,
}

/// Bytes on their way out.
#[must_use]
pub(super) struct Sending {
    request: Handle,
    bytes: Arc<Vec<u8>>,
    done: bool,
}

/// A buffer that is being filled, from its beginning to its end, by one request or several.
pub(super) struct Receiving {
    bytes: Vec<u8>,
    requests: VecDeque<Handle>,
    /// Bytes for which there is, or was, a request.
    asked: usize,
}

impl Receiving {
    /// Room for that many bytes, none of them asked for.
    pub(super) fn new(length: usize) -> Self {
        Receiving { bytes: vec![0; length], requests: VecDeque::new(), asked: 0 }
    }

    /// Whether every byte has been asked for.
    pub(super) fn is_all_asked(&self) -> bool {
        self.asked == self.bytes.len()
    }

    /// Requests that are not known to be complete.
    pub(super) fn open_requests(&self) -> usize {
        self.requests.len()
    }

    /// Whether all bytes are there.
    pub(super) fn is_complete(&self) -> bool {
        self.requests.is_empty() && self.is_all_asked()
    }

    /// The bytes; none before they are complete.
    pub(super) fn take(&mut self) -> Option<Vec<u8>> {
        self.is_complete().then(|| {
            self.asked = 0;
            std::mem::take(&mut self.bytes)
        })
    }
}

impl Drop for Receiving {
    fn drop(&mut self) {
        if !self.requests.is_empty() {
            // MPI may still write into it.
            std::mem::forget(std::mem::take(&mut self.bytes));
        }
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        if !self.done {
            // MPI may still read from it.
            std::mem::forget(self.bytes.clone());
        }
    }
}

impl Mpi {
    /// This process among the launcher's ranks.
    pub(super) fn rank(&self) -> usize {
        self.rank
    }

    /// Number of processes that the launcher started.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// The first line of what the library calls itself.
    pub(super) fn version(&mut self) -> String {
        // The longest of any ABI.
        let (mut text, mut length) = (vec![0; 8192], 0);
        // SAFETY: the buffer has the size that the standard asks for.
        unsafe { (self.functions.library_version)(text.as_mut_ptr(), &mut length) };
        first_line(&text)
    }

    /// Begins to send a part of some bytes.
    pub(super) fn send(
        &mut self,
        bytes: &Arc<Vec<u8>>,
        part: Range<usize>,
        to: usize,
        tag: c_int,
    ) -> Result<Sending> {
        let slice = &bytes[part];
        let mut request = 0;
        // SAFETY: the bytes cannot move or change while `Sending` holds on to them.
        let code = unsafe {
            (self.functions.isend)(
                slice.as_ptr().cast(),
                count(slice.len()),
                self.abi.byte,
                to as c_int,
                tag,
                self.abi.world,
                &mut request,
            )
        };
        self.check("MPI_Isend", code)?;
        Ok(Sending { request, bytes: bytes.clone(), done: false })
    }

    /// Whether all of it has left.
    pub(super) fn is_sent(&mut self, sending: &mut Sending) -> Result<bool> {
        if !sending.done {
            sending.done = self.test(&mut sending.request)?;
        }
        Ok(sending.done)
    }

    /// The next message with that tag from anyone, if there is one: its sender, and its bytes on
    /// their way in.
    pub(super) fn next(&mut self, tag: c_int) -> Result<Option<(usize, Receiving)>> {
        let (mut found, mut message, mut status) = (0, 0, Status::default());
        // SAFETY: MPI writes a flag, a handle and a status, each into enough room.
        let code = unsafe {
            (self.functions.improbe)(
                self.abi.any_source,
                tag,
                self.abi.world,
                &mut found,
                &mut message,
                &mut status,
            )
        };
        self.check("MPI_Improbe", code)?;
        if found == 0 {
            return Ok(None);
        }
        let mut length = 0;
        // SAFETY: the status is that of a message just found.
        let code = unsafe { (self.functions.get_count)(&status, self.abi.byte, &mut length) };
        self.check("MPI_Get_count", code)?;
        let numbers: &[c_int] = bytemuck::cast_slice(&status);
        let source = numbers[self.abi.source_at] as usize;
        let mut receiving = Receiving::new(length as usize);
        let mut request = 0;
        // SAFETY: the buffer has the length of the message and is not touched before the request
        // is complete; no other call receives this message.
        let code = unsafe {
            (self.functions.imrecv)(
                receiving.bytes.as_mut_ptr().cast(),
                length,
                self.abi.byte,
                &mut message,
                &mut request,
            )
        };
        self.check("MPI_Imrecv", code)?;
        receiving.asked = receiving.bytes.len();
        receiving.requests.push_back(request);
        Ok(Some((source, receiving)))
    }

    /// Asks for the next `length` bytes of a buffer, as one message.
    pub(super) fn receive(
        &mut self,
        receiving: &mut Receiving,
        length: usize,
        from: usize,
        tag: c_int,
    ) -> Result<()> {
        let length = length.min(receiving.bytes.len() - receiving.asked);
        let mut request = 0;
        // SAFETY: the part lies inside the buffer, no other request has it, and it is not touched
        // before the request is complete.
        let code = unsafe {
            (self.functions.irecv)(
                receiving.bytes.as_mut_ptr().add(receiving.asked).cast(),
                count(length),
                self.abi.byte,
                from as c_int,
                tag,
                self.abi.world,
                &mut request,
            )
        };
        self.check("MPI_Irecv", code)?;
        receiving.asked += length;
        receiving.requests.push_back(request);
        Ok(())
    }

    /// Looks which requests of a buffer are complete, in their order; whether any was.
    pub(super) fn advance(&mut self, receiving: &mut Receiving) -> Result<bool> {
        let mut advanced = false;
        while let Some(request) = receiving.requests.front_mut() {
            if !self.test(request)? {
                break;
            }
            receiving.requests.pop_front();
            advanced = true;
        }
        Ok(advanced)
    }

    /// Whether a request is complete; it is then gone.
    fn test(&mut self, request: &mut Handle) -> Result<bool> {
        let (mut done, mut status) = (0, Status::default());
        // SAFETY: the request is one that MPI gave and that has not been found complete.
        let code = unsafe { (self.functions.test)(request, &mut done, &mut status) };
        self.check("MPI_Test", code)?;
        Ok(done != 0)
    }

    /// Ends every process of the launch, with that exit code.
    pub(super) fn abort(&mut self, code: u8) {
        // SAFETY: allowed at any time between start and end.
        unsafe { (self.functions.abort)(self.abi.world, c_int::from(code)) };
    }

    /// Ends MPI; waits for all other ranks to do so.
    pub(super) fn finish(self) -> Result<()> {
        // SAFETY: consumes the only way to call MPI. Buffers of unfinished requests are never freed.
        let code = unsafe { (self.functions.finalize)() };
        match code {
            0 => Ok(()),
            // MPI cannot be asked for words any more.
            code => Err(CallError { call: "MPI_Finalize", problem: format!("error {code}") }),
        }
    }

    fn check(&self, call: &'static str, code: c_int) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        // The longest of any ABI.
        let (mut text, mut length) = (vec![0; 512], 0);
        // SAFETY: the buffer has the size that the standard asks for.
        let known = unsafe { (self.functions.error_string)(code, text.as_mut_ptr(), &mut length) };
        let problem = if known == 0 { first_line(&text) } else { format!("error {code}") };
        Err(CallError { call, problem })
    }
}

/// A length as MPI counts it. Parts are cut far below the limit.
fn count(length: usize) -> c_int {
    c_int::try_from(length).expect("a part of a message is at most a few megabytes")
}

/// The first line of a text that C wrote.
fn first_line(text: &[c_char]) -> String {
    let text = CStr::from_bytes_until_nul(bytemuck::cast_slice(text)).unwrap_or_default();
    text.to_string_lossy().lines().next().unwrap_or_default().trim().to_owned()
}
