//! A plan as the expression that makes it.

use parton_plan::{
    AccessKind, ColumnRole, CompiledPlan, Elimination, EngineFit, Instruction, PlannedAccess,
    PlannedColumn, PlannedOperator, ProgramShape,
};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

/// The expression of a plan; `root` is the path of the crate that knows `plan`.
pub fn plan(plan: &CompiledPlan, root: &TokenStream) -> TokenStream {
    let root = quote!(#root::plan);
    let CompiledPlan {
        name,
        scalars,
        tallies,
        columns,
        lists,
        operators,
        instructions,
        results,
        degrees,
        shape,
        fit: EngineFit { refusals, engines, off_devices },
    } = plan;
    let tallies = tallies.iter().map(|fold| match fold {
        Some(fold) => {
            let fold = format_ident!("{fold:?}");
            quote!(Some(#root::Folding::#fold))
        }
        None => quote!(None),
    });
    let columns = columns.iter().map(|one| column(one, &root));
    let operators = operators.iter().map(|one| operator(one, &root));
    let instructions = instructions.iter().map(|one| instruction(one, &root));
    let [out, into] = degrees;
    let shape = match shape {
        ProgramShape::Steps => quote!(#root::ProgramShape::Steps),
        ProgramShape::Relaxation { column } => {
            quote!(#root::ProgramShape::Relaxation { column: #column })
        }
        ProgramShape::Gather { operator } => {
            quote!(#root::ProgramShape::Gather { operator: #operator })
        }
        ProgramShape::Rotated { operator, is_any_order } => quote! {
            #root::ProgramShape::Rotated { operator: #operator, is_any_order: #is_any_order }
        },
    };
    let refusals =
        refusals.iter().map(|(form, why)| quote!((String::from(#form), String::from(#why))));
    let why = |why: &Option<String>| option(why.as_ref().map(|why| quote!(String::from(#why))));
    let (off_form, off_steps) = (why(&off_devices.form), why(&off_devices.steps));
    quote! {
        #root::CompiledPlan {
            name: String::from(#name),
            scalars: vec![#(String::from(#scalars)),*],
            tallies: vec![#(#tallies),*],
            columns: vec![#(#columns),*],
            lists: vec![#(String::from(#lists)),*],
            operators: vec![#(#operators),*],
            instructions: vec![#(#instructions),*],
            results: vec![#(#results),*],
            degrees: [#out, #into],
            shape: #shape,
            fit: #root::EngineFit {
                refusals: vec![#(#refusals),*],
                engines: vec![#(String::from(#engines)),*],
                off_devices: #root::OffDevices { form: #off_form, steps: #off_steps },
            },
        }
    }
}

fn column(column: &PlannedColumn, root: &TokenStream) -> TokenStream {
    let PlannedColumn { name, ty, role, is_shared } = column;
    let role = match role {
        ColumnRole::Accumulator(fold) => {
            let fold = format_ident!("{fold:?}");
            quote!(Accumulator(#root::Folding::#fold))
        }
        other => {
            let other = format_ident!("{other:?}");
            quote!(#other)
        }
    };
    quote! {
        #root::PlannedColumn {
            name: String::from(#name),
            ty: String::from(#ty),
            role: #root::ColumnRole::#role,
            is_shared: #is_shared,
        }
    }
}

fn operator(operator: &PlannedOperator, root: &TokenStream) -> TokenStream {
    let PlannedOperator {
        name,
        list,
        class,
        direction,
        is_partial,
        traffic,
        writes,
        scalars,
        tallies,
        requires,
        parts,
        accesses,
        elimination,
    } = operator;
    let list = option(list.map(|list| quote!(#list)));
    let class = format_ident!("{class:?}");
    let direction = option(direction.map(|direction| {
        let direction = format_ident!("{direction:?}");
        quote!(#root::EdgeDirection::#direction)
    }));
    let sides = |list: &[(usize, parton_plan::EdgeSide)]| -> Vec<TokenStream> {
        let each = list.iter().map(|(column, side)| {
            let side = format_ident!("{side:?}");
            quote!((#column, #root::EdgeSide::#side))
        });
        each.collect()
    };
    let (reads, folds) = (sides(&traffic.reads), sides(&traffic.folds));
    let (messages, tells_by_folds) = (&traffic.messages, traffic.tells_by_folds);
    let requires = requires.iter().map(|(value, why)| quote!((#value, String::from(#why))));
    let parts = parts.iter().map(|part| format_ident!("{part:?}"));
    let accesses = accesses.iter().map(|one| access(one, root));
    let elimination = option(elimination.as_ref().map(|how| match how {
        Elimination::ByChange { column } => {
            quote!(#root::Elimination::ByChange { column: #column })
        }
        Elimination::ByPredicate { predicate } => {
            quote!(#root::Elimination::ByPredicate { predicate: String::from(#predicate) })
        }
        Elimination::BySet => quote!(#root::Elimination::BySet),
    }));
    quote! {
        #root::PlannedOperator {
            name: String::from(#name),
            list: #list,
            class: #root::Class::#class,
            direction: #direction,
            is_partial: #is_partial,
            traffic: #root::OperatorTraffic {
                reads: vec![#(#reads),*],
                messages: vec![#(#messages),*],
                folds: vec![#(#folds),*],
                tells_by_folds: #tells_by_folds,
            },
            writes: vec![#(#writes),*],
            scalars: vec![#(#scalars),*],
            tallies: vec![#(#tallies),*],
            requires: vec![#(#requires),*],
            parts: vec![#(#root::OperatorPart::#parts),*],
            accesses: vec![#(#accesses),*],
            elimination: #elimination,
        }
    }
}

fn access(access: &PlannedAccess, root: &TokenStream) -> TokenStream {
    let PlannedAccess { column, kind, side } = access;
    let kind = match kind {
        AccessKind::Reduce(fold) => {
            let fold = format_ident!("{fold:?}");
            quote!(Reduce(#root::Folding::#fold))
        }
        other => {
            let other = format_ident!("{other:?}");
            quote!(#other)
        }
    };
    let side = option(side.map(|side| {
        let side = format_ident!("{side:?}");
        quote!(#root::EdgeSide::#side)
    }));
    quote!(#root::PlannedAccess { column: #column, kind: #root::AccessKind::#kind, side: #side })
}

fn option(value: Option<TokenStream>) -> TokenStream {
    match value {
        Some(value) => quote!(Some(#value)),
        None => quote!(None),
    }
}

fn instruction(instruction: &Instruction, root: &TokenStream) -> TokenStream {
    let made = match instruction {
        Instruction::Assign { scalar, value, reads } => {
            quote!(Assign { scalar: #scalar, value: #value, reads: vec![#(#reads),*] })
        }
        Instruction::Start { column, value, everywhere, reads } => quote! {
            Start { column: #column, value: #value, everywhere: #everywhere, reads: vec![#(#reads),*] }
        },
        Instruction::Point { column, vertex, value, reads } => quote! {
            Point { column: #column, vertex: #vertex, value: #value, reads: vec![#(#reads),*] }
        },
        Instruction::Fill { list, all } => quote!(Fill { list: #list, all: #all }),
        Instruction::Join { list, vertex, reads } => {
            quote!(Join { list: #list, vertex: #vertex, reads: vec![#(#reads),*] })
        }
        Instruction::Swap(a, b) => quote!(Swap(#a, #b)),
        Instruction::Branch { condition, otherwise, reads } => quote! {
            Branch { condition: #condition, otherwise: #otherwise, reads: vec![#(#reads),*] }
        },
        Instruction::Jump(to) => quote!(Jump(#to)),
        Instruction::Run(operator) => quote!(Run(#operator)),
    };
    quote!(#root::Instruction::#made)
}
