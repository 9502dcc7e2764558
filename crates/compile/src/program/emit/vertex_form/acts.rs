//! Statements at vertices, over the columns that a state holds.

use std::collections::BTreeSet;

use parton_plan::Folding;
use proc_macro2::TokenStream;
use quote::quote;

use super::super::{absorbed, column, local, rust};
use super::Emitting;
use crate::program::gather::Slot;
use crate::program::ir::{Act, ActKind, Expr, ExprKind, FieldId, Fold, ScalarId, each_expression};
use crate::program::lower::accumulator;
use crate::program::vertex_form::FormKind;

impl Emitting<'_> {
    /// Columns that statements mention, as locals with what the state knows of them.
    pub(super) fn loaded(&self, acts: &[&Act], also: &[FieldId]) -> TokenStream {
        let mut used: BTreeSet<FieldId> = also.iter().copied().collect();
        for act in acts {
            each_expression(std::slice::from_ref(*act), &mut |part| {
                if let ExprKind::Read(id, _) = part.kind {
                    used.insert(id);
                }
            });
            act.walk(&mut |act| match act.kind {
                ActKind::Write(id, ..) => _ = used.insert(id),
                ActKind::Absorb(into, from, ..) => used.extend([into, from]),
                _ => {}
            });
        }
        let loaded = used.into_iter().map(|id| {
            let (name, ty) = (column(id), self.ty(id));
            let value = if id == self.form.edge.accumulator {
                quote!(accumulated)
            } else if !self.form.state.contains(&id) {
                match self.is_bool(id) {
                    true => quote!(false),
                    false => quote!((0 as #ty)),
                }
            } else if self.is_bool(id) {
                quote!(state.#name != 0)
            } else {
                quote!(state.#name)
            };
            quote!(let mut #name: #ty = #value;)
        });
        loaded.collect()
    }

    pub(super) fn acts(&self, acts: &[Act], ahead: Option<usize>, tells: bool) -> TokenStream {
        acts.iter().map(|act| self.act(act, ahead, tells)).collect()
    }

    fn act(&self, act: &Act, ahead: Option<usize>, tells: bool) -> TokenStream {
        match &act.kind {
            ActKind::Let(id, value) => {
                let (name, ty, value) = (local(*id), rust(value.ty), self.emitter.expr(value));
                quote!(let mut #name: #ty = #value;)
            }
            ActKind::Set(id, value) => {
                let (name, value) = (local(*id), self.emitter.expr(value));
                quote!(#name = #value;)
            }
            ActKind::Write(id, _, value) => {
                let (name, value) = (column(*id), self.emitter.expr(value));
                quote!(#name = #value;)
            }
            ActKind::Absorb(into, from, fold, then) => {
                let (name, given) = (column(*into), column(*from));
                let (new, check) = self.absorbed(*into, *fold);
                let then = self.acts(then, ahead, tells);
                quote! {
                    let old = #name;
                    let given = #given;
                    #check
                    let new = #new;
                    if new != old {
                        #name = new;
                        #then
                    }
                }
            }
            ActKind::Tally(..) if !tells => TokenStream::new(),
            ActKind::Tally(id, fold, value) => self.tally(*id, *fold, value, ahead),
            ActKind::If(condition, then, otherwise) => {
                let (condition, then) =
                    (self.emitter.expr(condition), self.acts(then, ahead, tells));
                let otherwise = (!otherwise.is_empty()).then(|| {
                    let acts = self.acts(otherwise, ahead, tells);
                    quote!(else { #acts })
                });
                quote!(if #condition { #then } #otherwise)
            }
            ActKind::Push(..) => quote!(is_pushed = true;),
            ActKind::Activate => quote!(is_active = true;),
            ActKind::Fold(..) | ActKind::Gather(..) | ActKind::Edges(..) => TokenStream::new(),
        }
    }

    /// What a field becomes that something is folded into, and what is noted before if it cannot be.
    fn absorbed(&self, into: FieldId, fold: Fold) -> (TokenStream, TokenStream) {
        let ty = self.lowered.program.fields[into.0].ty;
        let is_checked = fold == Fold::Less && ty.is_unsigned();
        match &self.form.kind {
            FormKind::Rotated(_) if is_checked => (
                quote!(old.wrapping_sub(given)),
                quote!(if given > old {
                    has_underflow = 1u32;
                }),
            ),
            _ => (absorbed(fold, ty, &quote!(self.control.underflow())), TokenStream::new()),
        }
    }

    fn tally(&self, id: ScalarId, fold: Fold, value: &Expr, ahead: Option<usize>) -> TokenStream {
        let FormKind::Gather(gather) = &self.form.kind else { return TokenStream::new() };
        let slot = gather.slots.iter().find(|slot| slot.scalar == id && slot.ahead == ahead);
        let Slot { is_real, place, .. } = slot.expect("a place for every sum");
        let emitted = self.emitter.expr(value);
        match (is_real, accumulator(fold)) {
            (true, _) => quote!(tally.sums[#place] += (#emitted) as f64;),
            (false, Folding::Or) => quote!(if #emitted { tally.counts[#place] += 1; }),
            _ => {
                quote!(tally.counts[#place] = tally.counts[#place].wrapping_add((#emitted) as i64);)
            }
        }
    }
}
