//! A place in a device's queue that the host waits for, while the device goes on with what comes after it.

use std::sync::Arc;

use crate::driver::{Driver, Mark};
use crate::error::Result;

/// A mark, given back when dropped.
pub(crate) struct QueueMark {
    driver: Arc<dyn Driver>,
    mark: Mark,
}

impl QueueMark {
    /// A mark that is not set yet.
    pub(crate) fn new(driver: &Arc<dyn Driver>) -> Result<QueueMark> {
        Ok(QueueMark { driver: driver.clone(), mark: driver.new_mark()? })
    }

    /// Moves it to the end of the queue.
    pub(crate) fn set(&self) -> Result<()> {
        self.driver.set_mark(self.mark)
    }

    /// Waits until everything before it is done.
    pub(crate) fn wait(&self) -> Result<()> {
        self.driver.wait_for(self.mark)
    }
}

impl Drop for QueueMark {
    fn drop(&mut self) {
        self.driver.free_mark(self.mark);
    }
}
