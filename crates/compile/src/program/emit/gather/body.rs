//! The functions of a gather: what vertices send, and what they make of what they get.

use std::collections::BTreeSet;

use parton_plan::Folding;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::super::{absorbed, column, local, rust};
use super::Emitting;
use crate::program::gather::{Slot, TailPart, writes};
use crate::program::ir::{
    Act, ActKind, Expr, ExprKind, FieldId, Fold, ScalarId, Ty, each_expression,
};
use crate::program::lower::accumulator;

impl Emitting<'_> {
    /// Columns that statements mention, as locals with what the state knows of them.
    fn loaded(&self, acts: &[&Act], also: &[FieldId]) -> TokenStream {
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
            let value = if id == self.gathered.accumulator {
                quote!(accumulated)
            } else if !self.gathered.state.contains(&id) {
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

    pub(super) fn scatter(&self) -> TokenStream {
        let code = &self.lowered.operators[self.gathered.operator];
        let acts =
            if writes(&code.before, self.gathered.message) { &code.before } else { &code.derive };
        let all: Vec<&Act> = acts.iter().collect();
        let loaded = self.loaded(&all, &[self.gathered.message]);
        let body = self.acts(acts, None, false);
        quote!(#loaded #body)
    }

    pub(super) fn apply(&self) -> TokenStream {
        let code = &self.lowered.operators[self.gathered.operator];
        let swapped = self.gathered.tail.iter().flat_map(|part| match part {
            TailPart::Swap(a, b) => vec![*a, *b],
            TailPart::Vertices(_) => Vec::new(),
        });
        let swapped: Vec<_> = swapped.collect();
        let loaded = self.loaded(&self.gathered.acts_of_apply(self.lowered), &swapped);
        let own: TokenStream = [&code.before, &code.after, &code.arrive]
            .into_iter()
            .map(|acts| self.acts(acts, None, true))
            .collect();
        let tail: TokenStream = self
            .gathered
            .tail
            .iter()
            .map(|part| match part {
                TailPart::Vertices(number) => {
                    let acts = self.acts(&self.lowered.operators[*number].before, None, true);
                    quote!({ #acts })
                }
                TailPart::Swap(a, b) => {
                    let (a, b) = (column(*a), column(*b));
                    let held = format_ident!("held_{a}");
                    quote!(let #held = #a; #a = #b; #b = #held;)
                }
            })
            .collect();
        let ahead: TokenStream = self
            .gathered
            .ahead
            .iter()
            .map(|number| {
                let acts = self.acts(&self.lowered.operators[*number].before, Some(*number), true);
                quote!({ #acts })
            })
            .collect();
        let changed = self.gathered.changed(self.lowered);
        let stored = self.gathered.state.iter().filter(|id| changed.contains(id)).map(|id| {
            let name = column(*id);
            match self.is_bool(*id) {
                true => quote!(state.#name = if #name { 1u32 } else { 0u32 };),
                false => quote!(state.#name = #name;),
            }
        });
        quote!(#loaded #own #tail #ahead #(#stored)*)
    }

    /// What all hosts summed up, for the control flow.
    pub(super) fn told(&self) -> Vec<TokenStream> {
        let root = self.root;
        let told = self.gathered.slots.iter().map(|slot| {
            let Slot { ahead, scalar, is_real, place } = slot;
            let ty = self.lowered.program.scalars[scalar.0].ty;
            let name = rust(ty);
            let value = match (is_real, ty) {
                (true, _) => quote!((total.sums[#place] as #name)),
                (false, Ty::Bool) => quote!((total.counts[#place] != 0)),
                _ => quote!((total.counts[#place] as #name)),
            };
            let ahead = match ahead {
                Some(number) => quote!(Some(#number)),
                None => quote!(None),
            };
            let number = scalar.0;
            quote!(#root::Told { ahead: #ahead, scalar: #number, bits: #root::Element::to_bits(#value) })
        });
        told.collect()
    }

    fn acts(&self, acts: &[Act], ahead: Option<usize>, tells: bool) -> TokenStream {
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
                let new = absorbed(
                    *fold,
                    self.lowered.program.fields[into.0].ty,
                    &quote!(self.control.underflow()),
                );
                let then = self.acts(then, ahead, tells);
                quote! {
                    let old = #name;
                    let given = #given;
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
            _ => TokenStream::new(),
        }
    }

    fn tally(&self, id: ScalarId, fold: Fold, value: &Expr, ahead: Option<usize>) -> TokenStream {
        let slot = self.gathered.slots.iter().find(|slot| slot.scalar == id && slot.ahead == ahead);
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
