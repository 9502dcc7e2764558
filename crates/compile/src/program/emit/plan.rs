//! A plan as the expression that makes it.

use parton_plan::{Column, Node, Operator, Plan, Role, Shape};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

/// The expression of a plan; `root` is the path of the crate that knows `plan`.
pub fn plan(plan: &Plan, root: &TokenStream) -> TokenStream {
    let root = quote!(#root::plan);
    let Plan { name, scalars, tallies, columns, lists, operators, nodes, results, degrees, shape } = plan;
    let tallies = tallies.iter().map(|fold| match fold {
        Some(fold) => {
            let fold = format_ident!("{fold:?}");
            quote!(Some(#root::Fold::#fold))
        }
        None => quote!(None),
    });
    let columns = columns.iter().map(|one| column(one, &root));
    let operators = operators.iter().map(|one| operator(one, &root));
    let nodes = nodes.iter().map(|one| node(one, &root));
    let [out, into] = degrees;
    let shape = match shape {
        Shape::Steps => quote!(#root::Shape::Steps),
        Shape::Relaxation { column } => quote!(#root::Shape::Relaxation { column: #column }),
    };
    quote! {
        #root::Plan {
            name: String::from(#name),
            scalars: vec![#(String::from(#scalars)),*],
            tallies: vec![#(#tallies),*],
            columns: vec![#(#columns),*],
            lists: vec![#(String::from(#lists)),*],
            operators: vec![#(#operators),*],
            nodes: vec![#(#nodes),*],
            results: vec![#(#results),*],
            degrees: [#out, #into],
            shape: #shape,
        }
    }
}

fn column(column: &Column, root: &TokenStream) -> TokenStream {
    let Column { name, ty, role, is_shared } = column;
    let role = match role {
        Role::Accumulator(fold) => {
            let fold = format_ident!("{fold:?}");
            quote!(Accumulator(#root::Fold::#fold))
        }
        other => {
            let other = format_ident!("{other:?}");
            quote!(#other)
        }
    };
    quote! {
        #root::Column {
            name: String::from(#name),
            ty: String::from(#ty),
            role: #root::Role::#role,
            is_shared: #is_shared,
        }
    }
}

fn operator(operator: &Operator, root: &TokenStream) -> TokenStream {
    let Operator {
        name,
        list,
        class,
        direction,
        is_partial,
        reads,
        messages,
        folds,
        writes,
        scalars,
        tallies,
        requires,
        parts,
        notes,
    } = operator;
    let list = option(list.map(|list| quote!(#list)));
    let class = format_ident!("{class:?}");
    let direction = option(direction.map(|direction| {
        let direction = format_ident!("{direction:?}");
        quote!(#root::Direction::#direction)
    }));
    let sides = |list: &[(usize, parton_plan::Side)]| -> Vec<TokenStream> {
        let each = list.iter().map(|(column, side)| {
            let side = format_ident!("{side:?}");
            quote!((#column, #root::Side::#side))
        });
        each.collect()
    };
    let (reads, folds) = (sides(reads), sides(folds));
    let requires = requires.iter().map(|(value, why)| quote!((#value, String::from(#why))));
    let parts = parts.iter().map(|part| format_ident!("{part:?}"));
    quote! {
        #root::Operator {
            name: String::from(#name),
            list: #list,
            class: #root::Class::#class,
            direction: #direction,
            is_partial: #is_partial,
            reads: vec![#(#reads),*],
            messages: vec![#(#messages),*],
            folds: vec![#(#folds),*],
            writes: vec![#(#writes),*],
            scalars: vec![#(#scalars),*],
            tallies: vec![#(#tallies),*],
            requires: vec![#(#requires),*],
            parts: vec![#(#root::Part::#parts),*],
            notes: vec![#(String::from(#notes)),*],
        }
    }
}

fn option(value: Option<TokenStream>) -> TokenStream {
    match value {
        Some(value) => quote!(Some(#value)),
        None => quote!(None),
    }
}

fn node(node: &Node, root: &TokenStream) -> TokenStream {
    let made = match node {
        Node::Assign { scalar, value, reads } => {
            quote!(Assign { scalar: #scalar, value: #value, reads: vec![#(#reads),*] })
        }
        Node::Start { column, value, everywhere, reads } => quote! {
            Start { column: #column, value: #value, everywhere: #everywhere, reads: vec![#(#reads),*] }
        },
        Node::Point { column, vertex, value, reads } => quote! {
            Point { column: #column, vertex: #vertex, value: #value, reads: vec![#(#reads),*] }
        },
        Node::Fill { list, all } => quote!(Fill { list: #list, all: #all }),
        Node::Join { list, vertex, reads } => {
            quote!(Join { list: #list, vertex: #vertex, reads: vec![#(#reads),*] })
        }
        Node::Swap(a, b) => quote!(Swap(#a, #b)),
        Node::Branch { condition, otherwise, reads } => quote! {
            Branch { condition: #condition, otherwise: #otherwise, reads: vec![#(#reads),*] }
        },
        Node::Jump(to) => quote!(Jump(#to)),
        Node::Run(operator) => quote!(Run(#operator)),
    };
    quote!(#root::Node::#made)
}
