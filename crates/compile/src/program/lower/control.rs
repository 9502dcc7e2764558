//! The code outside operators as a flat list of instructions with jumps, so that a host can stop at an operator and
//! go on after it.

use parton_plan::Instruction;
use syn::Result;

use super::Lowering;
use crate::program::ir::{Expr, ExprKind, ListMembers, Step};

#[derive(Default)]
pub(super) struct Control {
    pub(super) instructions: Vec<Instruction>,
    pub(super) values: Vec<Expr>,
    /// Jumps out of the innermost loop, which wait for its end.
    breaks: Vec<usize>,
}

impl Control {
    fn value(&mut self, expr: &Expr) -> usize {
        self.values.push(expr.clone());
        self.values.len() - 1
    }

    pub(super) fn steps(&mut self, steps: &[Step], lowering: &mut Lowering) -> Result<()> {
        steps.iter().try_for_each(|step| self.step(step, lowering))
    }

    fn step(&mut self, step: &Step, lowering: &mut Lowering) -> Result<()> {
        match step {
            Step::Start(field, expr) => {
                let everywhere = is_known_everywhere(expr);
                let (value, reads) = (self.value(expr), scalars(expr));
                self.instructions.push(Instruction::Start {
                    column: field.0,
                    value,
                    everywhere,
                    reads,
                });
            }
            Step::List(list, members) => {
                let all = matches!(members, ListMembers::All);
                self.instructions.push(Instruction::Fill { list: list.0, all });
                if let ListMembers::These(these) = members {
                    these.iter().for_each(|vertex| self.join(list.0, vertex));
                }
            }
            Step::Join(list, vertex) => self.join(list.0, vertex),
            Step::Point(field, at, expr) => {
                let (vertex, value) = (self.value(at), self.value(expr));
                let mut reads = scalars(expr);
                reads.extend(scalars(at));
                self.instructions.push(Instruction::Point {
                    column: field.0,
                    vertex,
                    value,
                    reads,
                });
            }
            Step::Assign(scalar, expr) => {
                let (value, reads) = (self.value(expr), scalars(expr));
                self.instructions.push(Instruction::Assign { scalar: scalar.0, value, reads });
            }
            Step::Swap(a, b) => self.instructions.push(Instruction::Swap(a.0, b.0)),
            Step::Loop(body) => self.repeat(body, lowering)?,
            Step::Break => {
                self.breaks.push(self.instructions.len());
                self.instructions.push(Instruction::Jump(usize::MAX));
            }
            Step::If(condition, then, otherwise) => {
                let (value, reads) = (self.value(condition), scalars(condition));
                let branch = self.instructions.len();
                self.instructions.push(Instruction::Jump(usize::MAX));
                let otherwise = self.branches(then, otherwise, lowering)?;
                self.instructions[branch] =
                    Instruction::Branch { condition: value, otherwise, reads };
            }
            Step::Operator(operator) => {
                let number = lowering.operator(operator, &mut |expr| self.value(expr))?;
                self.instructions.push(Instruction::Run(number));
            }
        }
        Ok(())
    }

    fn join(&mut self, list: usize, vertex: &Expr) {
        let (value, reads) = (self.value(vertex), scalars(vertex));
        self.instructions.push(Instruction::Join { list, vertex: value, reads });
    }

    fn repeat(&mut self, body: &[Step], lowering: &mut Lowering) -> Result<()> {
        let (start, outside) = (self.instructions.len(), std::mem::take(&mut self.breaks));
        self.steps(body, lowering)?;
        self.instructions.push(Instruction::Jump(start));
        let end = self.instructions.len();
        for at in std::mem::replace(&mut self.breaks, outside) {
            self.instructions[at] = Instruction::Jump(end);
        }
        Ok(())
    }

    /// Both branches; returns where the second starts.
    fn branches(
        &mut self,
        then: &[Step],
        otherwise: &[Step],
        lowering: &mut Lowering,
    ) -> Result<usize> {
        self.steps(then, lowering)?;
        if otherwise.is_empty() {
            return Ok(self.instructions.len());
        }
        let skip = self.instructions.len();
        self.instructions.push(Instruction::Jump(usize::MAX));
        self.steps(otherwise, lowering)?;
        self.instructions[skip] = Instruction::Jump(self.instructions.len());
        Ok(skip + 1)
    }
}

fn scalars(expr: &Expr) -> Vec<usize> {
    let mut found = Vec::new();
    expr.walk(&mut |part| {
        if let ExprKind::Scalar(id) = part.kind
            && !found.contains(&id.0)
        {
            found.push(id.0);
        }
    });
    found
}

/// Whether every proxy can compute a value by itself.
fn is_known_everywhere(expr: &Expr) -> bool {
    !expr.any(&|part| matches!(part.kind, ExprKind::Read(..) | ExprKind::Degree(..)))
}
