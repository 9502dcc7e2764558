//! Who plans with which memory: hosts of one process that share a device build their engines at the same time.
//!
//! Each asks how much is free before any of them has allocated what it was granted. The ledger remembers what was
//! granted until it is allocated, so that two hosts are not granted the same memory. Other processes have
//! ledgers of their own.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::driver::Driver;
use crate::error::Result;

/// The devices of a process, by [`Driver::pool`].
#[derive(Debug, Default)]
pub struct Ledger(Mutex<BTreeMap<u64, Account>>);

/// A device's memory.
#[derive(Debug, Default)]
struct Account {
    /// Hosts that compute there.
    hosts: u64,
    /// Engines that are being built,
    builders: u64,
    /// and the bytes that are left when they are.
    left: u64,
}

impl Ledger {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Account>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a host that shares a device.
    pub(crate) fn join(self: &Arc<Self>, driver: &dyn Driver) -> Membership {
        let pool = driver.pool();
        self.lock().entry(pool).or_default().hosts += 1;
        Membership { ledger: self.clone(), pool }
    }
}

/// One host's place in a ledger, until it is dropped.
#[derive(Debug)]
pub(crate) struct Membership {
    ledger: Arc<Ledger>,
    pool: u64,
}

impl Membership {
    /// A host's part of the bytes that are free: what it may plan with before anything is built.
    pub(crate) fn fair_part(&self, driver: &dyn Driver) -> Result<u64> {
        let mut accounts = self.ledger.lock();
        let account = accounts.entry(self.pool).or_default();
        Ok(account.free(driver)? / account.hosts.max(1))
    }

    /// Grants bytes to an engine that is about to be built, until what this returns is dropped: the engine has
    /// allocated them by then. The error inside is what is free.
    pub(crate) fn grant(
        &self,
        driver: &dyn Driver,
        limit: Option<u64>,
        bytes: u64,
    ) -> Result<Result<Grant<'_>, u64>> {
        let mut accounts = self.ledger.lock();
        let account = accounts.entry(self.pool).or_default();
        let free = account.free(driver)?;
        let usable = limit.map_or(free, |limit| limit.min(free));
        if bytes > usable {
            return Ok(Err(usable));
        }
        account.left = free - bytes;
        account.builders += 1;
        Ok(Ok(Grant { member: self }))
    }
}

impl Account {
    /// Bytes that nobody has, and that nobody was granted.
    fn free(&self, driver: &dyn Driver) -> Result<u64> {
        let free = driver.free_memory()?;
        Ok(if self.builders == 0 { free } else { free.min(self.left) })
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        if let Some(account) = self.ledger.lock().get_mut(&self.pool) {
            account.hosts -= 1;
        }
    }
}

/// Memory of a device for an engine that is being built.
pub(crate) struct Grant<'m> {
    member: &'m Membership,
}

impl Drop for Grant<'_> {
    fn drop(&mut self) {
        if let Some(account) = self.member.ledger.lock().get_mut(&self.member.pool) {
            account.builders -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emulated::{Emulated, Settings};

    #[test]
    fn memory_is_granted_once() {
        let driver = Emulated::new(Settings { memory: 100, ..Settings::default() });
        let ledger = Arc::new(Ledger::default());
        let hosts = [ledger.join(&driver), ledger.join(&driver)];
        assert_eq!(hosts[0].fair_part(&driver).expect("a device"), 50);
        let granted = |host: &Membership, limit, bytes| {
            host.grant(&driver, limit, bytes).expect("a device").map(drop)
        };
        let first = hosts[0].grant(&driver, None, 60).expect("a device").expect("memory");
        // Nothing of it is allocated yet.
        assert_eq!(granted(&hosts[1], None, 60), Err(40));
        assert_eq!(granted(&hosts[1], Some(30), 35), Err(30));
        let address = driver.allocate(60).expect("memory");
        drop(first);
        // It counts as allocated now, and not twice.
        assert_eq!(granted(&hosts[1], None, 40), Ok(()));
        driver.free(address);
        assert_eq!(granted(&hosts[1], None, 100), Ok(()));
        drop(hosts);
        let alone = ledger.join(&driver);
        assert_eq!(alone.fair_part(&driver).expect("a device"), 100);
        // Another device has memory of its own.
        let other = Emulated::new(Settings { memory: 70, ..Settings::default() });
        let _first = alone.grant(&driver, None, 90).expect("a device").expect("memory");
        assert_eq!(granted(&ledger.join(&other), None, 70).map_err(drop), Ok(()));
    }
}
