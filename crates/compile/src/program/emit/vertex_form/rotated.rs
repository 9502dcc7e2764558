//! A rotated vertex program: a vertex is visited at the end of `apply`, and in `init` if it is visited first. What
//! the visit sends stays in the state for `scatter`.

use proc_macro2::TokenStream;
use quote::quote;

use super::super::{column, rust};
use super::Emitting;
use crate::program::ir::{Act, ActKind, Dir, ExprKind, FieldId, each_expression};
use crate::program::rotate::Rotated;
use crate::program::vertex_form::FormKind;

impl Emitting<'_> {
    /// The column of the message that a state keeps; `None` if a message only says that there is one.
    pub(super) fn kept_message(&self) -> Option<FieldId> {
        match &self.form.kind {
            FormKind::Rotated(rotated) if !rotated.is_signal => Some(self.form.edge.message),
            _ => None,
        }
    }

    /// The worklist of those that are visited first.
    pub(super) fn drained(&self) -> Option<usize> {
        match &self.form.kind {
            FormKind::Rotated(rotated) => rotated.list,
            FormKind::Gather(_) => None,
        }
    }

    /// The columns of a host get what the states of its masters hold.
    pub(super) fn stored(&self) -> TokenStream {
        let root = self.root;
        if !matches!(self.form.kind, FormKind::Rotated(_)) {
            return TokenStream::new();
        }
        let stored = self.form.state.iter().map(|id| {
            let (name, ty, number) = (column(*id), self.ty(*id), id.0);
            let value = match self.is_bool(*id) {
                true => quote!(state.#name != 0),
                false => quote!(state.#name),
            };
            quote! {
                let #name = host.values::<#ty>(#number);
                host.each_state(states, |master, state| #root::host::set(#name, master, #value));
            }
        });
        stored.collect()
    }

    /// The program as a `VertexProgram` whose vertices wake their neighbours.
    pub(super) fn rotated(&self, rotated: &Rotated) -> TokenStream {
        let (root, edge, device) = (self.root, &self.form.edge, self.device());
        let accumulated = self.ty(edge.accumulator);
        let message = if rotated.is_signal {
            rust(crate::program::ir::Ty::U32)
        } else {
            self.ty(edge.message)
        };
        let messages = match rotated.is_linear {
            true => quote!(Sum<#message>),
            false => quote!(Latest<#message>),
        };
        let reduction = self.emitter.reduction(edge.fold, &accumulated);
        let (weight_name, weight) = self.weight();
        let message_name = column(edge.message);
        let along = self.along(rotated);
        let sent = match rotated.is_signal {
            true => quote!(1u32),
            false => quote!(state.#message_name),
        };
        let (edges, any_order) = (self.direction(), rotated.is_linear);
        let (init, apply) = (self.init(), self.wake(rotated));
        quote! {
            #device
            impl<'a> #root::engine::VertexProgram for Gathering<'a> {
                type State = GatherState;
                type Message = #message;
                type Messages = #root::reduction::#messages;
                type Reduction = #reduction;
                type Weight = #weight;
                const STATIONARY: Option<bool> = Some(false);

                fn init(&self, vertex: #root::engine::Vertex<'_>) -> GatherState {
                    #init
                }

                fn scatter(&self, _: #root::engine::Vertex<'_>, state: &GatherState) -> Option<#message> {
                    (state.is_active != 0u32).then_some(#sent)
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
                    _: &mut #root::engine::Tally,
                ) -> bool {
                    #apply
                }

                fn properties(&self) -> #root::engine::Properties {
                    #root::engine::Properties {
                        any_order: #any_order,
                        edges: #root::engine::Edges::#edges,
                        ..#root::engine::Properties::default()
                    }
                }
            }
        }
    }

    /// What an edge makes of a message: of a signal, as many times its own value as there were signals.
    fn along(&self, rotated: &Rotated) -> TokenStream {
        let edge = &self.form.edge;
        let along = self.emitter.expr(&edge.along);
        if !rotated.is_signal {
            return along;
        }
        let (signals, ty) = (column(edge.message), edge.along.ty);
        let rust = rust(ty);
        match edge.along.kind {
            ExprKind::Integer(1) => quote!((#signals as #rust)),
            _ if ty.is_float() => quote!(((#signals as #rust) * #along)),
            _ => quote!((#signals as #rust).wrapping_mul(#along)),
        }
    }

    fn visit(&self) -> TokenStream {
        self.acts(&self.code().before, None, false)
    }

    /// A vertex before the first round: visited, if it is one of the first.
    fn init(&self) -> TokenStream {
        let before: Vec<&Act> = self.code().before.iter().collect();
        let loaded = self.loaded(&before, &self.members());
        let visit = self.visit();
        let members = self.members().into_iter().map(|id| {
            let name = column(id);
            match self.is_bool(id) {
                true => quote!(#name: if #name { 1u32 } else { 0u32 },),
                false => quote!(#name: #name,),
            }
        });
        let flags = self.flags().into_iter().map(|flag| match flag == "is_active" {
            true => quote!(#flag: if is_active { 1u32 } else { 0u32 },),
            false => quote!(#flag: 0u32,),
        });
        let padding = self.is_odd().then(|| quote!(padding: 0u32,));
        quote! {
            let state: GatherState = self.start[vertex.local.index()];
            #loaded
            let mut is_active: bool = false;
            if state.is_active != 0u32 { #visit }
            GatherState { #(#members)* #(#flags)* #padding }
        }
    }

    /// A vertex that something has arrived at takes it in, and is visited.
    fn wake(&self, rotated: &Rotated) -> TokenStream {
        let code = self.code();
        let all: Vec<&Act> = code.arrive.iter().chain(&code.before).collect();
        let kept = self.kept_message();
        let loaded = self.loaded(&all, &kept.into_iter().collect::<Vec<_>>());
        let (arrive, visit) = (self.acts(&code.arrive, None, false), self.visit());
        // Where all vertices are visited, those that nothing has arrived at have nothing to do.
        let is_pushed = rotated.list.is_none();
        let has_underflow = self.flags().into_iter().filter(|flag| flag != "is_active");
        let has_underflow: Vec<_> = has_underflow.collect();
        let written = self.members().into_iter().filter(|id| {
            let is_written = |act: &&Act| {
                let mut found = false;
                act.walk(&mut |act| {
                    found |= matches!(act.kind, ActKind::Write(to, ..) | ActKind::Absorb(to, ..) if to == *id);
                });
                found
            };
            all.iter().any(is_written)
        });
        let stored = written.map(|id| {
            let name = column(id);
            match self.is_bool(id) {
                true => quote!(state.#name = if #name { 1u32 } else { 0u32 };),
                false => quote!(state.#name = #name;),
            }
        });
        let has_edges = self.has_edges();
        quote! {
            #loaded
            #(let mut #has_underflow: u32 = state.#has_underflow;)*
            let mut is_active: bool = false;
            let mut is_pushed: bool = #is_pushed;
            #arrive
            if is_pushed { #visit }
            is_active = is_active && #has_edges;
            #(state.#has_underflow = #has_underflow;)*
            #(#stored)*
            state.is_active = if is_active { 1u32 } else { 0u32 };
            is_active
        }
    }

    /// Whether a vertex has edges to send along, where its degree is known.
    fn has_edges(&self) -> TokenStream {
        let (dir, mut is_known) = (self.form.edge.dir, false);
        for acts in self.code().all() {
            each_expression(acts, &mut |part| {
                is_known |= matches!(part.kind, ExprKind::Degree(known, _) if known == dir);
            });
        }
        match dir {
            Dir::Out if is_known => quote!(self.out_degrees[vertex.local.index()] > 0u64),
            Dir::In if is_known => quote!(self.in_degrees[vertex.local.index()] > 0u64),
            _ => quote!(true),
        }
    }
}
