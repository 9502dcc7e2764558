//! Options of the engine `spmv`: what it leaves out and what it overlaps, to measure each.

use clap::{Args, ValueEnum};

use crate::sync::{Optimize, Schedule};

/// How the engine `spmv` works.
#[derive(Args, Clone, Copy)]
pub(crate) struct ScheduleArguments {
    /// What the engine spmv leaves out: vertices whose work is done once, values that no host reads
    #[arg(long, value_name = "WHAT", value_enum, default_value_t)]
    filter: FilterArgument,

    /// Whether the engine spmv computes while messages are under way
    #[arg(long, value_name = "on|off", value_enum, default_value_t)]
    overlap: Switch,

    /// In which order the engine spmv adds what hosts contribute: in that of hosts, so that sums are the same
    /// to the last bit in every run, or as messages arrive
    #[arg(long, value_name = "ORDER", value_enum, default_value_t)]
    sums: SumOrder,
}

/// What the engine `spmv` leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum FilterArgument {
    #[default]
    All,
    Computation,
    Communication,
    None,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Switch {
    #[default]
    On,
    Off,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum SumOrder {
    #[default]
    Fixed,
    AnyOrder,
}

impl ScheduleArguments {
    /// The schedule of engines that overlap.
    pub(super) fn schedule(self) -> Schedule {
        let filter = matches!(self.filter, FilterArgument::All | FilterArgument::Computation);
        let (overlap, any_order) = (self.overlap == Switch::On, self.sums == SumOrder::AnyOrder);
        Schedule { overlap, any_order, filter, ..Schedule::default() }
    }

    /// Communication filtering is the structural optimisation of messages.
    pub(super) fn optimize(self, optimize: Optimize) -> Optimize {
        let filters = matches!(self.filter, FilterArgument::All | FilterArgument::Communication);
        Optimize { structural: optimize.structural && filters, ..optimize }
    }
}
