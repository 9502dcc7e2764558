//! What travels between hosts for an operator, and when.

use parton_partition::End;
use parton_plan::{ColumnRole, PlannedOperator};
use parton_sync::{Result, Substrate};

use super::Steps;
use crate::communication::{Communication, end};

impl Steps<'_> {
    /// Tells mirrors at one end what masters have, if they may not know.
    pub(super) fn freshen(
        &mut self,
        column: usize,
        end: End,
        substrate: &mut Substrate<'_>,
    ) -> Result<()> {
        let [sources, destinations] = &mut self.stale[column];
        let is_stale = match end {
            End::Source => std::mem::take(sources),
            End::Destination => std::mem::take(destinations),
            End::Either => std::mem::take(sources) | std::mem::take(destinations),
        };
        if is_stale && substrate.net().num_hosts() > 1 {
            substrate.broadcast(self.operators.column(column), end)?;
        }
        Ok(())
    }

    /// Without communication on demand: all that may have been written is made known everywhere.
    pub(super) fn after_operator(
        &mut self,
        operator: &PlannedOperator,
        substrate: &mut Substrate<'_>,
    ) -> Result<()> {
        if self.communication == Communication::OnDemand {
            return Ok(());
        }
        for column in &operator.writes {
            if self.code.plan().columns[*column].role != ColumnRole::Field {
                continue;
            }
            if self.communication == Communication::Unoptimised {
                let masters = 0..self.num_masters() as u32;
                self.operators.mark(*column, masters, true)?;
            }
            self.freshen(*column, End::Either, substrate)?;
        }
        Ok(())
    }

    /// Contributions to masters from the mirrors at one end.
    pub(super) fn reduce(&mut self, substrate: &mut Substrate<'_>) -> Result<()> {
        let Some((_, operator)) = self.operator() else { return Ok(()) };
        let Some(direction) = operator.direction else { return Ok(()) };
        if substrate.net().num_hosts() == 1 {
            return Ok(());
        }
        for (column, side) in &operator.traffic.folds {
            let end = match self.communication {
                Communication::OnDemand => end(direction, *side),
                _ => End::Either,
            };
            if self.communication == Communication::Unoptimised && !operator.traffic.tells_by_folds
            {
                let masters = self.partition.num_masters() as u32;
                let mirrors = masters..self.partition.num_proxies() as u32;
                self.operators.mark(*column, mirrors, true)?;
            }
            substrate.reduce(self.operators.column(*column), end)?;
        }
        Ok(())
    }
}
