//! The policies, one per file; [`ALL`] is the list that the command and the tests go through.

mod by_file;
mod cvc;
mod dual;
mod fennel;
mod ginger;
mod hvc;
pub(crate) mod iec;
mod oec;
mod random;
mod scored;
mod staggered;
mod sugar;

use crate::policy::PolicyKind;

/// Every policy.
pub const ALL: &[PolicyKind] = &[
    oec::KIND,
    iec::KIND,
    dual::KIND,
    cvc::KIND,
    hvc::KIND,
    staggered::KIND,
    fennel::KIND,
    ginger::KIND,
    sugar::KIND,
    random::KIND,
    by_file::KIND,
];
