//! A stationary gather: what vertices send, and what they make of what they get.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::super::{column, rust};
use super::Emitting;
use crate::program::gather::{Gather, Slot, TailPart, sending};
use crate::program::ir::{Act, Ty};

impl Emitting<'_> {
    /// The program as a stationary `VertexProgram`.
    pub(super) fn gather(
        &self,
        gather: &Gather,
        scalar_names: &[Ident],
        numbers: &[usize],
    ) -> TokenStream {
        let (root, edge, device) = (self.root, &self.form.edge, self.device());
        let (message, accumulated) = (self.ty(edge.message), self.ty(edge.accumulator));
        let reduction = self.emitter.reduction(edge.fold, &accumulated);
        let (weight_name, weight) = self.weight();
        let (message_name, along) = (column(edge.message), self.emitter.expr(&edge.along));
        let (edges, Gather { forgets_state, is_local, .. }) = (self.direction(), gather);
        let (scatter, apply, told) = (self.scatter(), self.apply(gather), self.told(gather));
        quote! {
            #device
            impl<'a> #root::engine::VertexProgram for Gathering<'a> {
                type State = GatherState;
                type Message = #message;
                type Messages = #root::reduction::Latest<#message>;
                type Reduction = #reduction;
                type Weight = #weight;
                const STATIONARY: Option<bool> = Some(true);

                fn init(&self, vertex: #root::engine::Vertex<'_>) -> GatherState {
                    self.start[vertex.local.index()]
                }

                #[inline]
                fn scatter(&self, vertex: #root::engine::Vertex<'_>, state: &GatherState) -> Option<#message> {
                    #scatter
                    Some(#message_name)
                }

                #[inline]
                fn along(&self, #message_name: #message, #weight_name: #weight) -> #accumulated {
                    #along
                }

                #[inline]
                fn apply(
                    &self,
                    vertex: #root::engine::Vertex<'_>,
                    state: &mut GatherState,
                    accumulated: #accumulated,
                    tally: &mut #root::engine::Tally,
                ) -> bool {
                    #apply
                    true
                }

                fn properties(&self) -> #root::engine::Properties {
                    #root::engine::Properties {
                        stationary: true,
                        last_message_wins: #forgets_state,
                        is_local: #is_local,
                        edges: #root::engine::Edges::#edges,
                        rounds: self.rounds,
                        ..#root::engine::Properties::default()
                    }
                }

                fn conclude(&mut self, total: &#root::engine::Tally) -> bool {
                    let has_ended = self.control.conclude(&[#(#told),*]);
                    #(self.#scalar_names = self.control.uniform().scalar(#numbers);)*
                    self.find_uniform();
                    has_ended
                }
            }
        }
    }

    fn scatter(&self) -> TokenStream {
        let code = self.code();
        let acts = sending(code, self.form.edge.message);
        let all: Vec<&Act> = acts.iter().collect();
        let loaded = self.loaded(&all, &[self.form.edge.message]);
        let body = self.acts(acts, None, false);
        quote!(#loaded #body)
    }

    fn apply(&self, gather: &Gather) -> TokenStream {
        let code = self.code();
        let swapped = gather.tail.iter().flat_map(|part| match part {
            TailPart::Swap(a, b) => vec![*a, *b],
            TailPart::Vertices(_) => Vec::new(),
        });
        let swapped: Vec<_> = swapped.collect();
        let loaded = self.loaded(&self.acts_of_apply(), &swapped);
        let own: TokenStream = [&code.before, &code.after, &code.arrive]
            .into_iter()
            .map(|acts| self.acts(acts, None, true))
            .collect();
        let tail: TokenStream = gather
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
        let ahead: TokenStream = gather
            .ahead
            .iter()
            .map(|number| {
                let acts = self.acts(&self.lowered.operators[*number].before, Some(*number), true);
                quote!({ #acts })
            })
            .collect();
        let changed = gather.changed(self.lowered, self.form.edge.operator);
        let stored = self.form.state.iter().filter(|id| changed.contains(id)).map(|id| {
            let name = column(*id);
            match self.is_bool(*id) {
                true => quote!(state.#name = if #name { 1u32 } else { 0u32 };),
                false => quote!(state.#name = #name;),
            }
        });
        quote!(#loaded #own #tail #ahead #(#stored)*)
    }

    /// What all hosts summed up, for the control flow.
    fn told(&self, gather: &Gather) -> Vec<TokenStream> {
        let root = self.root;
        let told = gather.slots.iter().map(|slot| {
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
}
