//! The code of a program as Rust: one arm per part of an operator, one per value outside operators.

mod device;
mod edges;
mod expressions;
mod plan;
mod vertex_form;

use parton_plan::{Class, ColumnRole};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::ir::{
    Act, ActKind, Expr, ExprKind, FieldId, Fold, ScalarId, Ty, VariableId, VertexPlace,
    each_expression,
};
use super::lower::{Lowered, OperatorCode};
pub use device::{DeviceText, device};
pub(super) use device::{ROUNDED_OTHERWISE, is_rounded_otherwise_on_devices};
pub(super) use expressions::in_relaxation;
pub use plan::plan;
pub(super) use vertex_form::vertex_form;

/// Implementations of `Outline` and `Code`, for a struct `name` with a field per parameter. `root` is the path of the
/// crate that has the traits.
pub fn code(lowered: &Lowered, name: &Ident, root: &TokenStream) -> TokenStream {
    let emitter = Emitter { lowered, root, leaf: &|_| None, checks: false };
    let (columns, values, starts) = (emitter.columns(), emitter.values(), emitter.starts());
    let parts = emitter.parts();
    let (identities, combines) = emitter.tallies();
    let weight = type_of(lowered.program.weight);
    let parameters = &lowered.program.scalars[..lowered.program.num_parameters];
    let arguments = parameters.iter().enumerate().map(|(number, named)| {
        let parameter = Ident::new(&named.name, Span::call_site());
        match named.ty {
            _ if lowered.program.vertex_lists.contains(&ScalarId(number)) => {
                quote!(self.#parameter.len() as u64)
            }
            Ty::Vertex => quote!(u64::from(self.#parameter.0)),
            _ => quote!(#root::Element::to_bits(self.#parameter)),
        }
    });
    quote! {
        impl #root::Outline for #name {
            fn plan(&self) -> &#root::plan::CompiledPlan {
                <Self as #root::Program>::compiled_plan()
            }

            fn arguments(&self) -> Vec<u64> {
                vec![#(#arguments),*]
            }

            fn column(&self, number: usize, proxies: usize, is_shared: bool) -> Box<dyn #root::AnyColumn> {
                match number { #columns _ => unreachable!("no such column") }
            }

            fn value(&self, number: usize, uniform: #root::Uniform<'_>) -> u64 {
                match number { #values _ => unreachable!("no such value") }
            }

            fn device(&self) -> Result<#root::engine::device::operators::OperatorText<'_>, &'static str> {
                <Self as #root::Program>::DEVICE
            }

            fn identity(&self, scalar: usize) -> u64 {
                match scalar { #identities _ => 0 }
            }

            fn combine(&self, scalar: usize, a: u64, b: u64) -> u64 {
                match scalar { #combines _ => a }
            }
        }

        impl #root::Code for #name {
            type Weight = #weight;

            fn start(&self, column: usize, value: usize, host: &#root::Host<'_, #weight>) {
                match value { #starts _ => unreachable!("no such start") }
            }

            fn part(&self, operator: usize, part: #root::plan::OperatorPart, host: &#root::Host<'_, #weight>) {
                match (operator, part) { #parts _ => {} }
            }
        }
    }
}

/// The type of weights.
pub(crate) fn type_of(weight: Option<Ty>) -> TokenStream {
    match weight {
        Some(ty) => {
            let ty = rust(ty);
            quote!(#ty)
        }
        None => quote!(()),
    }
}

/// A type in Rust; vertices are their numbers.
pub fn rust(ty: Ty) -> Ident {
    let name = if ty == Ty::Vertex { "u32" } else { ty.name() };
    Ident::new(name, Span::call_site())
}

/// How an expression is written where it is not as usual.
type Leaf<'l> = &'l dyn Fn(&Expr) -> Option<TokenStream>;

struct Emitter<'l> {
    lowered: &'l Lowered,
    root: &'l TokenStream,
    leaf: Leaf<'l>,
    /// Whether whole numbers that do not fit their type end the run: an improvement by a number that has
    /// wrapped around is none.
    checks: bool,
}

fn column(id: FieldId) -> Ident {
    format_ident!("column_{}", id.0)
}

fn scalar(id: ScalarId) -> Ident {
    format_ident!("scalar_{}", id.0)
}

fn local(id: VariableId) -> Ident {
    format_ident!("local_{}", id.0)
}

fn vertex(place: VertexPlace) -> Ident {
    Ident::new(if place == VertexPlace::Active { "near" } else { "far" }, Span::call_site())
}

impl Emitter<'_> {
    fn ty(&self, id: FieldId) -> Ident {
        rust(self.lowered.program.fields[id.0].ty)
    }

    fn role(&self, id: FieldId) -> ColumnRole {
        self.lowered.plan.columns[id.0].role
    }

    /// The reduction of a fold over a type.
    fn reduction(&self, fold: parton_plan::Folding, ty: &Ident) -> TokenStream {
        let root = self.root;
        let name = match fold {
            parton_plan::Folding::Min => quote!(Min),
            parton_plan::Folding::Max => quote!(Max),
            parton_plan::Folding::Sum => quote!(Sum),
            parton_plan::Folding::Or => quote!(Or),
        };
        quote!(#root::reduction::#name<#ty>)
    }

    fn columns(&self) -> TokenStream {
        let root = self.root;
        let arms = (0..self.lowered.plan.columns.len()).map(|number| {
            let ty = self.ty(FieldId(number));
            let made = match self.role(FieldId(number)) {
                ColumnRole::Accumulator(fold) => {
                    let reduction = self.reduction(fold, &ty);
                    quote!(#root::column::accumulator::<#reduction>(proxies, is_shared))
                }
                ColumnRole::Message => quote!(#root::column::messages::<#ty>(proxies, is_shared)),
                _ => quote!(#root::column::values::<#ty>(proxies, is_shared)),
            };
            quote!(#number => #made,)
        });
        arms.collect()
    }

    /// Values outside operators that no vertex occurs in.
    fn values(&self) -> TokenStream {
        let root = self.root;
        let arms = self.lowered.values.iter().enumerate().filter(|(_, value)| value.is_uniform());
        let arms = arms.map(|(number, value)| {
            let scalars = self.scalars([value].into_iter());
            let value = self.expr(value);
            quote!(#number => { #scalars #root::Element::to_bits(#value) })
        });
        arms.collect()
    }

    /// Values that columns start with, and that single vertices are given.
    fn starts(&self) -> TokenStream {
        let started =
            self.lowered.plan.instructions.iter().filter_map(|instruction| match instruction {
                parton_plan::Instruction::Start { column, value, .. }
                | parton_plan::Instruction::Point { column, value, .. } => Some((*column, *value)),
                _ => None,
            });
        let arms = started.map(|(number, value)| {
            let expr = &self.lowered.values[value];
            let ty = self.ty(FieldId(number));
            let handles = self.handles([expr].into_iter(), &[]);
            let expr = self.expr(expr);
            quote! {
                #value => {
                    #handles
                    let started = host.values::<#ty>(column);
                    host.each(|near, _| started.put(near, #expr));
                }
            }
        });
        arms.collect()
    }

    fn tallies(&self) -> (TokenStream, TokenStream) {
        let root = self.root;
        let folds = self.lowered.plan.tallies.iter().enumerate();
        let folded = folds.filter_map(|(number, fold)| Some((number, (*fold)?)));
        let arms = folded.map(|(number, fold)| {
            let ty = rust(self.lowered.program.scalars[number].ty);
            let reduction = self.reduction(fold, &ty);
            let of = quote!(<#ty as #root::Element>::of_bits);
            let identity = quote!(#number => #root::Element::to_bits(<#reduction as #root::Reduction>::identity()),);
            let combine = quote! {
                #number => #root::Element::to_bits(<#reduction as #root::Reduction>::combine(#of(a), #of(b))),
            };
            (identity, combine)
        });
        arms.unzip()
    }

    fn parts(&self) -> TokenStream {
        let operators = self.lowered.operators.iter().enumerate();
        operators.flat_map(|(number, parts)| self.operator(number, parts)).collect()
    }

    fn operator(&self, number: usize, parts: &OperatorCode) -> Vec<TokenStream> {
        let settles = self.lowered.plan.operators[number].class == Class::Settling;
        let emitter = Emitter { checks: settles, ..*self };
        emitter.operator_parts(number, parts)
    }

    fn operator_parts(&self, number: usize, parts: &OperatorCode) -> Vec<TokenStream> {
        let root = self.root;
        let vertices = [
            (quote!(Derive), &parts.derive),
            (quote!(Before), &parts.before),
            (quote!(After), &parts.after),
            (quote!(Arrive), &parts.arrive),
        ];
        let arms = vertices.into_iter().filter(|(_, acts)| !acts.is_empty()).map(|(part, acts)| {
            let (handles, body) = (self.handles_of(acts), self.acts(acts));
            quote! {
                (#number, #root::plan::OperatorPart::#part) => { #handles host.each(|near, tallies| { #body }); }
            }
        });
        let edges = parts.edges.as_ref().map(|(dir, acts)| {
            let body = self.edges(*dir, acts);
            quote!((#number, #root::plan::OperatorPart::Edges) => { #body })
        });
        arms.chain(edges).collect()
    }

    /// Columns and scalars that statements mention, bound to names.
    fn handles_of(&self, acts: &[Act]) -> TokenStream {
        let mut exprs: Vec<&Expr> = Vec::new();
        each_expression(acts, &mut |expr| exprs.push(expr));
        let mut written = Vec::new();
        for act in acts {
            act.walk(&mut |act| match act.kind {
                ActKind::Write(id, ..) | ActKind::Fold(id, ..) => written.push(id),
                ActKind::Absorb(into, from, ..) => written.extend([into, from]),
                _ => {}
            });
        }
        self.handles(exprs.into_iter(), &written)
    }

    fn handles<'e>(
        &self,
        exprs: impl Iterator<Item = &'e Expr> + Clone,
        written: &[FieldId],
    ) -> TokenStream {
        let mut used: Vec<FieldId> = written.to_vec();
        for expr in exprs.clone() {
            expr.walk(&mut |part| {
                if let ExprKind::Read(id, _) = part.kind {
                    used.push(id);
                }
            });
        }
        used.sort_unstable();
        used.dedup();
        let columns = used.into_iter().map(|id| {
            let (name, number, ty) = (column(id), id.0, self.ty(id));
            match self.role(id) {
                ColumnRole::Accumulator(fold) => {
                    let reduction = self.reduction(fold, &ty);
                    quote!(let #name = host.folded::<#reduction>(#number);)
                }
                _ => quote!(let #name = host.values::<#ty>(#number);),
            }
        });
        let scalars = self.scalars(exprs);
        quote!(let uniform = host.uniform(); #(#columns)* #scalars)
    }

    fn scalars<'e>(&self, exprs: impl Iterator<Item = &'e Expr>) -> TokenStream {
        let mut used = Vec::new();
        for expr in exprs {
            expr.walk(&mut |part| {
                if let ExprKind::Scalar(id) = part.kind {
                    used.push(id);
                }
            });
        }
        used.sort_unstable();
        used.dedup();
        let bound = used.into_iter().map(|id| {
            let (name, ty, number) =
                (scalar(id), rust(self.lowered.program.scalars[id.0].ty), id.0);
            quote!(let #name = uniform.scalar::<#ty>(#number);)
        });
        bound.collect()
    }

    fn acts(&self, acts: &[Act]) -> TokenStream {
        acts.iter().map(|act| self.act(act)).collect()
    }

    fn act(&self, act: &Act) -> TokenStream {
        let root = self.root;
        match &act.kind {
            ActKind::Let(id, value) => {
                let (name, ty, value) = (local(*id), rust(value.ty), self.expr(value));
                quote!(#[allow(unused_mut)] let mut #name: #ty = #value;)
            }
            ActKind::Set(id, value) => {
                let (name, value) = (local(*id), self.expr(value));
                quote!(#name = #value;)
            }
            ActKind::Write(id, _, value) => {
                let (name, value) = (column(*id), self.expr(value));
                match self.role(*id) {
                    ColumnRole::Message => quote!(#root::host::send(#name, near, #value);),
                    _ => quote!(#root::host::set(#name, near, #value);),
                }
            }
            ActKind::Fold(id, place, _, value, _) => self.contribute(*id, *place, value),
            ActKind::Absorb(into, from, fold, then) => self.absorb(*into, *from, *fold, then),
            ActKind::Tally(id, fold, value) => {
                let (number, ty, value) = (id.0, rust(value.ty), self.expr(value));
                let reduction = self.reduction(super::lower::accumulator(*fold), &ty);
                quote!(tallies.fold::<#reduction>(#number, #value);)
            }
            ActKind::Push(list, _) => {
                let list = list.0;
                quote!(host.push(#list, near);)
            }
            ActKind::If(condition, then, otherwise) => {
                let (condition, then) = (self.expr(condition), self.acts(then));
                let otherwise = (!otherwise.is_empty()).then(|| {
                    let acts = self.acts(otherwise);
                    quote!(else { #acts })
                });
                quote!(if #condition { #then } #otherwise)
            }
            ActKind::Activate => quote!(host.activate(near);),
            ActKind::Edges(..) | ActKind::Gather(..) => unreachable!("lowering leaves none"),
        }
    }

    fn absorb(&self, into: FieldId, from: FieldId, fold: Fold, then: &[Act]) -> TokenStream {
        let root = self.root;
        let (name, accumulator, then) = (column(into), column(from), self.acts(then));
        let ty = self.lowered.program.fields[into.0].ty;
        let new = absorbed(fold, ty, &quote!(host.underflow()));
        quote! {
            {
                let (old, given) = (#name.get(near), #accumulator.get(near));
                let new = #new;
                if new != old {
                    #root::host::set(#name, near, new);
                    #then
                }
            }
        }
    }
}

/// What a value `old` becomes that `given` is folded into; `underflow` is what to do if it cannot be.
fn absorbed(fold: Fold, ty: Ty, underflow: &TokenStream) -> TokenStream {
    match fold {
        Fold::Min => quote!(if given < old { given } else { old }),
        Fold::Max => quote!(if given > old { given } else { old }),
        Fold::Or => quote!(old | given),
        Fold::Sum if ty.is_float() => quote!(old + given),
        Fold::Sum => quote!(old.wrapping_add(given)),
        Fold::Less if ty.is_float() => quote!(old - given),
        Fold::Less if ty.is_unsigned() => quote! {
            old.checked_sub(given).unwrap_or_else(|| { #underflow; old })
        },
        Fold::Less => quote!(old.wrapping_sub(given)),
    }
}
