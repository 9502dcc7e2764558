//! Who may run: one thread at a time, the others parked.

use std::sync::{Condvar, Mutex, PoisonError};

use crate::host::HostId;

/// A right to run that is handed from host to host.
pub(super) struct Baton {
    turns: Vec<Turn>,
}

/// Where one host waits. Each has a lock of its own: the one who wakes another does not meet it at
/// a common lock.
#[derive(Default)]
struct Turn {
    mine: Mutex<bool>,
    changed: Condvar,
}

impl Baton {
    pub(super) fn new(hosts: usize) -> Self {
        Baton { turns: (0..hosts).map(|_| Turn::default()).collect() }
    }

    /// Hands the baton over. The giver must not run on, other than to [`Baton::wait`].
    pub(super) fn pass(&self, to: HostId) {
        let turn = &self.turns[to.index()];
        *turn.mine.lock().unwrap_or_else(PoisonError::into_inner) = true;
        turn.changed.notify_one();
    }

    /// Parks until the baton comes, which may have happened already.
    pub(super) fn wait(&self, host: HostId) {
        let turn = &self.turns[host.index()];
        let mine = turn.mine.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = turn.changed.wait_while(mine, |mine| !*mine);
        *waited.unwrap_or_else(PoisonError::into_inner) = false;
    }
}
