//! A program as a `VertexProgram`: what both forms have in common.

mod acts;
mod gather;
mod rotated;
mod uniform;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::{Emitter, column, rust, scalar, type_of};
use crate::program::ir::{Act, Dir, Expr, ExprKind, FieldId, Ty};
use crate::program::lower::{Lowered, OperatorCode};
use crate::program::vertex_form::{FormKind, VertexForm};
use uniform::UniformValues;

/// The items of `Program` that are about vertex programs, and what they need.
pub(in crate::program) fn vertex_form(
    lowered: &Lowered,
    form: Option<&VertexForm>,
    root: &TokenStream,
) -> (TokenStream, TokenStream) {
    let Some(form) = form else {
        let items = quote! {
            type GatherState = u32;
            type Gathered<'a> = #root::NotGathering;
            fn gather_states(_: &#root::HostData<'_>) -> Vec<u32> { Vec::new() }
            const GATHER: Option<#root::GatherPlaces> = None;
        };
        return (items, TokenStream::new());
    };
    let uniform = UniformValues::new(lowered, root);
    let leaf = |part: &Expr| uniform.member(part).or_else(|| leaf(part));
    let emitter = Emitter { lowered, root, leaf: &leaf, checks: false };
    let emitting = Emitting { emitter, form, lowered, root, uniform: &uniform };
    let (operator, after) = (form.edge.operator, form.after);
    let drains = match emitting.drained() {
        Some(list) => quote!(Some(#list)),
        None => quote!(None),
    };
    let (started, stored) = (emitting.started(), emitting.stored());
    let is_any_order = match &form.kind {
        FormKind::Gather(_) => false,
        FormKind::Rotated(rotated) => rotated.is_linear,
    };
    let items = quote! {
        type GatherState = GatherState;
        type Gathered<'a> = Gathering<'a>;
        fn gather_states(host: &#root::HostData<'_>) -> Vec<GatherState> {
            host.each_master(|master| GatherState { #started })
        }
        fn keep_states(host: &#root::HostData<'_>, states: &[GatherState]) {
            #stored
        }
        const IS_ANY_ORDER: bool = #is_any_order;
        const GATHER: Option<#root::GatherPlaces> =
            Some(#root::GatherPlaces { operator: #operator, after: #after, drains: #drains });
    };
    (items, emitting.definitions())
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
    form: &'l VertexForm,
    lowered: &'l Lowered,
    root: &'l TokenStream,
    uniform: &'l UniformValues<'l>,
}

impl Emitting<'_> {
    fn ty(&self, id: FieldId) -> Ident {
        self.emitter.ty(id)
    }

    /// The code of the operator that visits edges.
    fn code(&self) -> &OperatorCode {
        self.form.code(self.lowered)
    }

    /// The columns of the state by size, the greatest first.
    fn members(&self) -> Vec<FieldId> {
        let mut state = self.form.state.clone();
        state.extend(self.kept_message());
        state.sort_by_key(|id| std::cmp::Reverse(self.size(*id)));
        state
    }

    /// The members of the state that are no columns.
    fn flags(&self) -> Vec<Ident> {
        let mut flags = Vec::new();
        if matches!(self.form.kind, FormKind::Rotated(_)) {
            flags.push(format_ident!("is_active"));
            if self.form.may_underflow(self.lowered) {
                flags.push(format_ident!("has_underflow"));
            }
        }
        flags
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
        self.form.acts_of_apply(self.lowered)
    }

    /// Whether the state needs something at its end to have no hole there.
    fn is_odd(&self) -> bool {
        let flags = self.flags().into_iter().map(|_| 4);
        let sizes = self.members().into_iter().map(|id| self.size(id)).chain(flags);
        let sizes: Vec<usize> = sizes.collect();
        let bytes: usize = sizes.iter().sum();
        bytes == 0 || (!bytes.is_multiple_of(8) && sizes.contains(&8))
    }

    /// The members of the state of a master before the first round.
    fn started(&self) -> TokenStream {
        let started = self.members().into_iter().map(|id| {
            let (name, ty, number) = (column(id), self.ty(id), id.0);
            let value = match self.kept_message() == Some(id) {
                true => quote!((0 as #ty)),
                false => quote!(host.values::<#ty>(#number).get(master)),
            };
            match self.is_bool(id) {
                true => quote!(#name: u32::from(#value),),
                false => quote!(#name: #value,),
            }
        });
        let flags =
            self.flags().into_iter().map(|flag| match (flag == "is_active", self.drained()) {
                (true, Some(list)) => quote!(#flag: u32::from(host.is_listed(#list, master)),),
                (true, None) => quote!(#flag: 1,),
                (false, _) => quote!(#flag: 0,),
            });
        let padding = self.is_odd().then(|| quote!(padding: 0,));
        quote!(#(#started)* #(#flags)* #padding)
    }

    /// The type in which a column is kept: devices have no truth values.
    fn kept_type(&self, id: FieldId) -> TokenStream {
        match self.is_bool(id) {
            true => quote!(u32),
            false => {
                let ty = self.ty(id);
                quote!(#ty)
            }
        }
    }

    /// The fields that a gather returns, made of its states.
    fn results(&self) -> Vec<TokenStream> {
        let root = self.root;
        let is_gather = matches!(self.form.kind, FormKind::Gather(_));
        let results = self.lowered.program.results.iter().filter(|_| is_gather);
        let values = results.map(|id| {
            let (name, ty) = (column(*id), self.ty(*id));
            let value =
                if self.is_bool(*id) { quote!(state.#name != 0) } else { quote!(state.#name) };
            quote!(<#ty as #root::Typed>::values(states.iter().map(|state| #value).collect()))
        });
        values.collect()
    }

    /// What a vertex keeps.
    fn state(&self) -> TokenStream {
        let root = self.root;
        let (names, types): (Vec<_>, Vec<_>) =
            self.members().iter().map(|id| (column(*id), self.kept_type(*id))).unzip();
        let padding = self.is_odd().then(|| quote!(padding: u32,));
        let flags = self.flags();
        quote! {
            #[derive(Clone, Copy, #root::engine::DeviceType)]
            #[device(crate = #root::engine)]
            #[repr(C)]
            pub struct GatherState { #(#names: #types,)* #(#flags: u32,)* #padding }
        }
    }

    /// Whether a vertex has less than nothing of an unsigned type.
    fn has_failed(&self) -> TokenStream {
        match self.flags().iter().any(|flag| flag == "has_underflow") {
            true => quote!(states.iter().any(|state| state.has_underflow != 0)),
            false => quote!(false),
        }
    }

    fn definitions(&self) -> TokenStream {
        let (root, state) = (self.root, self.state());
        let results = self.results();
        let scalars = self.form.scalars(self.lowered);
        let scalar_names: Vec<_> = scalars.iter().map(|id| scalar(*id)).collect();
        let scalar_types: Vec<_> =
            scalars.iter().map(|id| rust(self.lowered.program.scalars[id.0].ty)).collect();
        let numbers: Vec<_> = scalars.iter().map(|id| id.0).collect();
        let has_failed = self.has_failed();
        let implementation = match &self.form.kind {
            FormKind::Gather(gather) => self.gather(gather, &scalar_names, &numbers),
            FormKind::Rotated(rotated) => self.rotated(rotated),
        };
        // They are known when all else was written.
        let ((uniform_names, uniform_types), computed) =
            (self.uniform.members(), self.uniform.computed());
        quote! {
            #state

            pub struct Gathering<'a> {
                start: &'a [GatherState],
                out_degrees: &'a [u64],
                in_degrees: &'a [u64],
                num_vertices: u64,
                num_edges: u64,
                rounds: u64,
                #(#scalar_names: #scalar_types,)*
                #(#uniform_names: #uniform_types,)*
                control: #root::Control<'a>,
            }

            impl<'a> Gathering<'a> {
                /// Computes what is the same at all vertices.
                fn find_uniform(&mut self) {
                    #computed
                }
            }

            impl<'a> #root::Gathering<'a> for Gathering<'a> {
                fn new(given: #root::GatherStart<'a, GatherState>) -> Self {
                    let #root::GatherStart { control, start, degrees: [out_degrees, in_degrees], rounds } = given;
                    let uniform = control.uniform();
                    let (num_vertices, num_edges) = (uniform.num_vertices, uniform.num_edges);
                    #(let #scalar_names = uniform.scalar::<#scalar_types>(#numbers);)*
                    let mut gathering = Gathering {
                        start, out_degrees, in_degrees, num_vertices, num_edges, rounds,
                        #(#scalar_names,)* #(#uniform_names: 0.0,)* control,
                    };
                    gathering.find_uniform();
                    gathering
                }

                fn control(&self) -> &#root::Control<'a> {
                    &self.control
                }

                #[allow(unused_variables)]
                fn has_underflow(&self, states: &[GatherState]) -> bool {
                    self.control.has_underflow() || #has_failed
                }

                fn results(states: &[GatherState]) -> Vec<#root::FieldValues> {
                    vec![#(#results),*]
                }
            }

            #implementation
        }
    }

    /// The attribute that makes the program one for devices, too.
    fn device(&self) -> Option<TokenStream> {
        let root = self.root;
        self.form
            .off_devices(self.lowered)
            .is_none()
            .then(|| quote!(#[#root::device(crate = #root::engine)]))
    }

    /// The name of weights and their type.
    fn weight(&self) -> (TokenStream, TokenStream) {
        let weight = self.lowered.program.weight;
        (if weight.is_some() { quote!(weight) } else { quote!(()) }, type_of(weight))
    }

    /// Which edges messages travel along.
    fn direction(&self) -> Ident {
        let name = match self.form.edge.dir {
            Dir::Out => "Out",
            Dir::In => "In",
            Dir::Both => "Both",
        };
        Ident::new(name, Span::call_site())
    }
}
