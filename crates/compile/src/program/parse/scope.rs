//! What names mean, and what types values have.

use std::collections::HashMap;

use proc_macro2::Span;
use syn::{Error, Result};

use crate::program::ir::{Dir, FieldId, ListId, Named, ScalarId, Ty, VariableId, VertexPlace};

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Binding {
    Graph,
    Field(FieldId),
    Scalar(ScalarId),
    /// A list of vertices that is a parameter, by its length.
    VertexList(ScalarId),
    List(ListId),
    /// A local, and whether it is declared inside a loop over edges.
    Local(VariableId, bool),
    /// The active vertex, or another name of an end of the edge.
    Vertex(VertexPlace),
    /// The edge that is visited.
    Edge(Dir),
}

/// Where code stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// Outside operators: all hosts do the same.
    Uniform,
    /// In an operator, outside its loop over edges.
    Vertex,
    /// In the loop over edges.
    Edge,
}

/// Names, types, and everything that was declared so far.
pub(super) struct Scope {
    names: Vec<HashMap<String, Binding>>,
    pub(super) level: Level,
    pub(super) fields: Vec<Named>,
    pub(super) scalars: Vec<Named>,
    pub(super) lists: Vec<String>,
    pub(super) locals: Vec<Named>,
    types: Types,
}

impl Scope {
    pub(super) fn new() -> Self {
        Scope {
            names: vec![HashMap::new()],
            level: Level::Uniform,
            fields: Vec::new(),
            scalars: Vec::new(),
            lists: Vec::new(),
            locals: Vec::new(),
            types: Types::default(),
        }
    }

    /// Begins a block at some level. Returns the level outside.
    pub(super) fn enter(&mut self, level: Level) -> Level {
        self.names.push(HashMap::new());
        std::mem::replace(&mut self.level, level)
    }

    /// Ends the block.
    pub(super) fn leave(&mut self, outside: Level) {
        self.names.pop();
        self.level = outside;
    }

    pub(super) fn bind(&mut self, name: &syn::Ident, binding: Binding) {
        let names = self.names.last_mut().expect("the outermost block");
        names.insert(name.to_string(), binding);
    }

    pub(super) fn find(&self, name: &str) -> Option<Binding> {
        self.names.iter().rev().find_map(|names| names.get(name)).copied()
    }

    pub(super) fn add_field(&mut self, name: &syn::Ident, ty: Ty) -> FieldId {
        self.fields.push(named(name, ty));
        let id = FieldId(self.fields.len() - 1);
        self.bind(name, Binding::Field(id));
        id
    }

    pub(super) fn add_scalar(&mut self, name: &syn::Ident, ty: Ty) -> ScalarId {
        self.scalars.push(named(name, ty));
        let id = ScalarId(self.scalars.len() - 1);
        self.bind(name, Binding::Scalar(id));
        id
    }

    pub(super) fn add_list(&mut self, name: &syn::Ident) -> ListId {
        self.lists.push(name.to_string());
        let id = ListId(self.lists.len() - 1);
        self.bind(name, Binding::List(id));
        id
    }

    pub(super) fn add_local(&mut self, name: &syn::Ident, ty: Ty) -> VariableId {
        self.locals.push(named(name, ty));
        let id = VariableId(self.locals.len() - 1);
        self.bind(name, Binding::Local(id, self.level == Level::Edge));
        id
    }

    /// A type that is not known yet.
    pub(super) fn unknown(&mut self, kind: Literal) -> Ty {
        self.types.0.push(Known::Not(kind));
        Ty::Variable(self.types.0.len() - 1)
    }

    /// Both must be the same type.
    pub(super) fn unify(&mut self, a: Ty, b: Ty, span: Span) -> Result<Ty> {
        self.types.unify(a, b).ok_or_else(|| {
            let (a, b) = (self.types.settle(a), self.types.settle(b));
            Error::new(span, format!("`{}` and `{}` do not go together", a.name(), b.name()))
        })
    }

    /// The type, or the one that Rust falls back to.
    pub(super) fn settle(&self, ty: Ty) -> Ty {
        self.types.settle(ty)
    }

    /// The type as far as it is known.
    pub(super) fn known(&self, ty: Ty) -> Ty {
        self.types.root(ty)
    }
}

fn named(name: &syn::Ident, ty: Ty) -> Named {
    Named { name: name.to_string(), ty, span: name.span() }
}

/// The literal that a type is inferred for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Literal {
    Integer,
    Float,
}

#[derive(Default)]
struct Types(Vec<Known>);

#[derive(Clone, Copy)]
enum Known {
    Not(Literal),
    Same(Ty),
}

impl Types {
    fn root(&self, ty: Ty) -> Ty {
        match ty {
            Ty::Variable(place) => match self.0[place] {
                Known::Same(other) => self.root(other),
                Known::Not(_) => ty,
            },
            known => known,
        }
    }

    fn unify(&mut self, a: Ty, b: Ty) -> Option<Ty> {
        let (a, b) = (self.root(a), self.root(b));
        let fits = |literal, ty: Ty| match literal {
            Literal::Integer => !ty.is_float() && !matches!(ty, Ty::Bool | Ty::Vertex),
            Literal::Float => ty.is_float(),
        };
        match (a, b) {
            (a, b) if a == b => Some(a),
            (Ty::Variable(one), Ty::Variable(other)) => {
                let (Known::Not(first), Known::Not(second)) = (self.0[one], self.0[other]) else {
                    return None;
                };
                (first == second).then(|| {
                    self.0[one] = Known::Same(b);
                    b
                })
            }
            (Ty::Variable(one), ty) | (ty, Ty::Variable(one)) => match self.0[one] {
                Known::Not(literal) if fits(literal, ty) => {
                    self.0[one] = Known::Same(ty);
                    Some(ty)
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn settle(&self, ty: Ty) -> Ty {
        match self.root(ty) {
            Ty::Variable(place) => match self.0[place] {
                Known::Not(Literal::Float) => Ty::F64,
                _ => Ty::I32,
            },
            known => known,
        }
    }
}
