//! Values that another host reads where they are: hosts of one process that share a device copy nothing.

use std::sync::Arc;

use parton_sync::ValueKind;

use crate::driver::{Address, Driver};
use crate::error::Result;
use crate::memory::Buffer;

/// Memories of a field that others may read at the same time. A host that is a round ahead needs the second.
pub(crate) const MAX_LOANS: usize = 2;

/// Whether values of this kind always travel as they are. Whole numbers may travel in fewer bytes; how many,
/// only their values tell, and these would have to be copied for that.
pub(crate) fn is_lendable(kind: ValueKind) -> bool {
    matches!(kind, ValueKind::Plain(_))
}

/// Values of one route in the memory of the host that sends them.
pub(super) struct LentValues {
    pub(super) memory: Arc<Buffer<u8>>,
    /// The first byte.
    pub(super) start: usize,
    pub(super) bytes: usize,
}

impl LentValues {
    /// Where kernels find them.
    pub(super) fn address(&self) -> Address {
        self.memory.address_of(self.start)
    }
}

/// Memory for values that are lent.
#[derive(Default)]
pub(super) struct Loans(Vec<Arc<Buffer<u8>>>);

impl Loans {
    /// Memory of this size that nobody reads. `None` if all is lent.
    pub(super) fn free(
        &mut self,
        driver: &Arc<dyn Driver>,
        bytes: usize,
    ) -> Result<Option<Arc<Buffer<u8>>>> {
        for memory in &mut self.0 {
            if let Some(buffer) = Arc::get_mut(memory) {
                buffer.resize(bytes)?;
                return Ok(Some(memory.clone()));
            }
        }
        if self.0.len() == MAX_LOANS {
            return Ok(None);
        }
        let memory = Arc::new(Buffer::new(driver, bytes)?);
        self.0.push(memory.clone());
        Ok(Some(memory))
    }
}
