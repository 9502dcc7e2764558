//! A stationary gather as a `VertexProgram`.

use std::collections::BTreeSet;

use parton_plan::Folding;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::{Emitter, column, local, rust, scalar, type_of};
use crate::program::gather::{Gathered, Slot, TailPart};
use crate::program::ir::{
    Act, ActKind, Dir, Expr, ExprKind, FieldId, Fold, ScalarId, Ty, each_expression,
};
use crate::program::lower::Lowered;

/// Methods that devices round differently: a program with one of them has no form for devices.
const NOT_ON_DEVICES: &[&str] = &["ln", "exp"];

/// The items of `Program` that are about gathers, and what they need.
pub(in crate::program) fn gather(
    lowered: &Lowered,
    gathered: Option<&Gathered>,
    name: &Ident,
    root: &TokenStream,
) -> (TokenStream, TokenStream) {
    let Some(gathered) = gathered else {
        let items = quote! {
            type GatherState = u32;
            type Gathered<'a> = #root::NotGathering;
            fn gather_states(_: &#root::Host<'_, Self::Weight>) -> Vec<u32> { Vec::new() }
            const GATHER: Option<#root::GatherPlaces> = None;
        };
        return (items, TokenStream::new());
    };
    let leaf = |part: &Expr| leaf(part);
    let emitting = Emitting {
        emitter: Emitter { lowered, root, leaf: &leaf, checks: false },
        gathered,
        lowered,
        root,
    };
    let (operator, after_tail) = (gathered.operator, gathered.after_tail);
    let started = emitting.started();
    let items = quote! {
        type GatherState = GatherState;
        type Gathered<'a> = Gathering<'a>;
        fn gather_states(host: &#root::Host<'_, Self::Weight>) -> Vec<GatherState> {
            host.each_master(|master| GatherState { #started })
        }
        const GATHER: Option<#root::GatherPlaces> =
            Some(#root::GatherPlaces { operator: #operator, after_tail: #after_tail });
    };
    (items, emitting.definitions(name))
}

/// What programs on hosts and devices call things.
fn leaf(part: &Expr) -> Option<TokenStream> {
    Some(match &part.kind {
        ExprKind::Read(id, _) => {
            let name = column(*id);
            quote!(#name)
        }
        ExprKind::Scalar(id) => {
            let name = scalar(*id);
            quote!(self.#name)
        }
        ExprKind::Degree(Dir::In, _) => quote!(self.in_degrees[vertex.local.index()]),
        ExprKind::Degree(..) => quote!(self.out_degrees[vertex.local.index()]),
        ExprKind::Vertex(_) => quote!((vertex.id().0 as u32)),
        ExprKind::NumVertices => quote!(self.num_vertices),
        ExprKind::NumEdges => quote!(self.num_edges),
        _ => return None,
    })
}

struct Emitting<'l> {
    emitter: Emitter<'l>,
    gathered: &'l Gathered,
    lowered: &'l Lowered,
    root: &'l TokenStream,
}

impl Emitting<'_> {
    fn ty(&self, id: FieldId) -> Ident {
        self.emitter.ty(id)
    }

    /// The columns of the state by size, the greatest first.
    fn members(&self) -> Vec<FieldId> {
        let mut state = self.gathered.state.clone();
        state.sort_by_key(|id| std::cmp::Reverse(self.size(*id)));
        state
    }

    fn size(&self, id: FieldId) -> usize {
        match self.lowered.program.fields[id.0].ty {
            Ty::U64 | Ty::I64 | Ty::F64 => 8,
            _ => 4,
        }
    }

    fn is_bool(&self, id: FieldId) -> bool {
        self.lowered.program.fields[id.0].ty == Ty::Bool
    }

    /// Statements of `apply`, and of loops that look ahead, in their order.
    fn acts_of_apply(&self) -> Vec<&Act> {
        let code = &self.lowered.operators[self.gathered.operator];
        let tail = self.gathered.tail.iter().filter_map(|part| match part {
            TailPart::Vertices(number) => Some(&self.lowered.operators[*number].before),
            TailPart::Swap(..) => None,
        });
        let ahead =
            self.gathered.ahead.iter().map(|number| &self.lowered.operators[*number].before);
        let own = [&code.before, &code.after, &code.arrive];
        own.into_iter().chain(tail).chain(ahead).flatten().collect()
    }

    fn scalars(&self) -> Vec<ScalarId> {
        let mut used = BTreeSet::new();
        let code = &self.lowered.operators[self.gathered.operator];
        let mut note = |part: &Expr| {
            if let ExprKind::Scalar(id) = part.kind {
                used.insert(id);
            }
        };
        self.gathered.along.walk(&mut note);
        for act in self.acts_of_apply().into_iter().chain(&code.derive) {
            each_expression(std::slice::from_ref(act), &mut note);
        }
        used.into_iter().collect()
    }

    fn is_for_devices(&self) -> bool {
        let mut is_fine = true;
        let mut note = |part: &Expr| {
            if let ExprKind::Method(name, _) = part.kind {
                is_fine &= !NOT_ON_DEVICES.contains(&name);
            }
        };
        self.gathered.along.walk(&mut note);
        let code = &self.lowered.operators[self.gathered.operator];
        for act in self.acts_of_apply().into_iter().chain(&code.derive) {
            each_expression(std::slice::from_ref(act), &mut note);
        }
        // Whole numbers without a sign that fall below 0 are found out on processors only.
        for act in self.acts_of_apply() {
            act.walk(&mut |act| {
                is_fine &= !matches!(act.kind, ActKind::Absorb(_, _, Fold::Less, _))
            });
        }
        is_fine
    }

    /// Whether the state needs something at its end to have no hole there.
    fn is_odd(&self) -> bool {
        let sizes = self.gathered.state.iter().map(|id| self.size(*id));
        let bytes: usize = sizes.clone().sum();
        bytes == 0 || (bytes % 8 != 0 && sizes.max() == Some(8))
    }

    /// The members of the state of a master before the first round.
    fn started(&self) -> TokenStream {
        let started = self.members().into_iter().map(|id| {
            let (name, ty, number) = (column(id), self.ty(id), id.0);
            let value = quote!(host.values::<#ty>(#number).get(master));
            match self.is_bool(id) {
                true => quote!(#name: u32::from(#value),),
                false => quote!(#name: #value,),
            }
        });
        let padding = self.is_odd().then(|| quote!(padding: 0,));
        quote!(#(#started)* #padding)
    }

    fn definitions(&self, name: &Ident) -> TokenStream {
        let root = self.root;
        let members = self.members();
        let names: Vec<_> = members.iter().map(|id| column(*id)).collect();
        let types = members.iter().map(|id| match self.is_bool(*id) {
            true => quote!(u32),
            false => {
                let ty = self.ty(*id);
                quote!(#ty)
            }
        });
        let padding = self.is_odd().then(|| quote!(padding: u32,));
        let results = self.lowered.program.results.iter().map(|id| {
            let (name, ty) = (column(*id), self.ty(*id));
            let value =
                if self.is_bool(*id) { quote!(state.#name != 0) } else { quote!(state.#name) };
            quote!(<#ty as #root::Typed>::values(states.iter().map(|state| #value).collect()))
        });
        let scalars = self.scalars();
        let scalar_names: Vec<_> = scalars.iter().map(|id| scalar(*id)).collect();
        let scalar_types: Vec<_> =
            scalars.iter().map(|id| rust(self.lowered.program.scalars[id.0].ty)).collect();
        let numbers: Vec<_> = scalars.iter().map(|id| id.0).collect();
        let implementation = self.implementation(&scalar_names, &numbers);
        quote! {
            #[derive(Clone, Copy, #root::engine::DeviceType)]
            #[device(crate = #root::engine)]
            #[repr(C)]
            pub struct GatherState { #(#names: #types,)* #padding }

            pub struct Gathering<'a> {
                start: &'a [GatherState],
                out_degrees: &'a [u64],
                in_degrees: &'a [u64],
                num_vertices: u64,
                num_edges: u64,
                rounds: u64,
                #(#scalar_names: #scalar_types,)*
                control: #root::Control<'a, #name>,
            }

            impl<'a> #root::Gathering<'a, #name> for Gathering<'a> {
                fn new(given: #root::GatherStart<'a, #name, GatherState>) -> Self {
                    let #root::GatherStart { control, start, degrees: [out_degrees, in_degrees], rounds } = given;
                    let uniform = control.uniform();
                    let (num_vertices, num_edges) = (uniform.num_vertices, uniform.num_edges);
                    #(let #scalar_names = uniform.scalar::<#scalar_types>(#numbers);)*
                    Gathering {
                        start, out_degrees, in_degrees, num_vertices, num_edges, rounds,
                        #(#scalar_names,)* control,
                    }
                }

                fn control(&self) -> &#root::Control<'a, #name> {
                    &self.control
                }

                fn results(states: &[GatherState]) -> Vec<#root::FieldValues> {
                    vec![#(#results),*]
                }
            }

            #implementation
        }
    }

    fn implementation(&self, scalar_names: &[Ident], numbers: &[usize]) -> TokenStream {
        let (root, gathered) = (self.root, self.gathered);
        let device = self.is_for_devices().then(|| quote!(#[#root::device(crate = #root::engine)]));
        let (message, accumulated) = (self.ty(gathered.message), self.ty(gathered.accumulator));
        let reduction = self.emitter.reduction(gathered.fold, &accumulated);
        let weight = type_of(self.lowered.program.weight);
        let weight_name =
            if self.lowered.program.weight.is_some() { quote!(weight) } else { quote!(()) };
        let (message_name, along) = (column(gathered.message), self.emitter.expr(&gathered.along));
        let edges = match gathered.dir {
            Dir::Out => quote!(Out),
            Dir::In => quote!(In),
            Dir::Both => quote!(Both),
        };
        let (scatter, apply, told) = (self.scatter(), self.apply(), self.told());
        quote! {
            #device
            impl<'a> #root::engine::VertexProgram for Gathering<'a> {
                type State = GatherState;
                type Message = #message;
                type Messages = #root::reduction::Latest<#message>;
                type Reduction = #reduction;
                type Weight = #weight;

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
                        edges: #root::engine::Edges::#edges,
                        rounds: self.rounds,
                        ..#root::engine::Properties::default()
                    }
                }

                fn conclude(&mut self, total: &#root::engine::Tally) -> bool {
                    let has_ended = self.control.conclude(&[#(#told),*]);
                    #(self.#scalar_names = self.control.uniform().scalar(#numbers);)*
                    has_ended
                }
            }
        }
    }

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

    fn scatter(&self) -> TokenStream {
        let code = &self.lowered.operators[self.gathered.operator];
        let acts = if writes_message(&code.before, self.gathered.message) {
            &code.before
        } else {
            &code.derive
        };
        let all: Vec<&Act> = acts.iter().collect();
        let loaded = self.loaded(&all, &[self.gathered.message]);
        let body = self.acts(acts, None, false);
        quote!(#loaded #body)
    }

    fn apply(&self) -> TokenStream {
        let code = &self.lowered.operators[self.gathered.operator];
        let swapped = self.gathered.tail.iter().flat_map(|part| match part {
            TailPart::Swap(a, b) => vec![*a, *b],
            TailPart::Vertices(_) => Vec::new(),
        });
        let swapped: Vec<_> = swapped.collect();
        let loaded = self.loaded(&self.acts_of_apply(), &swapped);
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
        let mut changed: BTreeSet<FieldId> = swapped.into_iter().collect();
        for act in self.acts_of_apply() {
            act.walk(&mut |act| match act.kind {
                ActKind::Write(id, ..) | ActKind::Absorb(id, ..) => _ = changed.insert(id),
                _ => {}
            });
        }
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
    fn told(&self) -> Vec<TokenStream> {
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
                let new = super::absorbed(
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
        match (is_real, super::super::lower::accumulator(fold)) {
            (true, _) => quote!(tally.sums[#place] += (#emitted) as f64;),
            (false, Folding::Or) => quote!(if #emitted { tally.counts[#place] += 1; }),
            _ => {
                quote!(tally.counts[#place] = tally.counts[#place].wrapping_add((#emitted) as i64);)
            }
        }
    }
}

fn writes_message(acts: &[Act], message: FieldId) -> bool {
    let mut found = false;
    for act in acts {
        act.walk(&mut |act| found |= matches!(act.kind, ActKind::Write(id, ..) if id == message));
    }
    found
}
