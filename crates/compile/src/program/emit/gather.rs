//! A stationary gather as a `VertexProgram`.

mod body;

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::device::ROUNDED_OTHERWISE;
use super::{Emitter, column, rust, scalar, type_of};
use crate::program::gather::Gathered;
use crate::program::ir::{ActKind, Dir, Expr, ExprKind, FieldId, Fold, Ty, each_expression};
use crate::program::lower::Lowered;

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

    fn is_for_devices(&self) -> bool {
        let mut is_fine = true;
        let mut note = |part: &Expr| {
            if let ExprKind::Method(name, _) = part.kind {
                is_fine &= !ROUNDED_OTHERWISE.contains(&name);
            }
        };
        self.gathered.along.walk(&mut note);
        let code = &self.lowered.operators[self.gathered.operator];
        for act in self.gathered.acts_of_apply(self.lowered).into_iter().chain(&code.derive) {
            each_expression(std::slice::from_ref(act), &mut note);
        }
        // Whole numbers without a sign that fall below 0 are found out on processors only.
        for act in self.gathered.acts_of_apply(self.lowered) {
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
        bytes == 0 || (!bytes.is_multiple_of(8) && sizes.max() == Some(8))
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
        let scalars = self.gathered.scalars(self.lowered);
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
        let (forgets_state, is_local) = (gathered.forgets_state, gathered.is_local);
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
                    has_ended
                }
            }
        }
    }
}
