//! The subcommands, one per file.

pub(crate) mod bench;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod explain;
pub(crate) mod generate;
pub(crate) mod graphalytics;
pub(crate) mod inspect;
pub(crate) mod list;
pub(crate) mod man;
pub(crate) mod new;
pub(crate) mod partition;
pub(crate) mod plan;
pub(crate) mod run;
