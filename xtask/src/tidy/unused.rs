//! Public items of a library that nothing outside of it names.
//!
//! By name alone, so what is found is surely not used, and not all that is unused is found. A type
//! that a public signature mentions is used with it; its own name need not be said.

use std::collections::{HashMap, HashSet};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::{self, Visit};

use super::Finding;
use super::tree::{Tree, is_for_tests, line_of};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut items: HashMap<&str, Public> = HashMap::new();
    // For each name, up to two libraries that say it; pages, tests and programs are the library "".
    let mut said: HashMap<String, HashSet<&str>> = HashMap::new();
    for file in &tree.files {
        let library = file.library().unwrap_or("");
        if let Some(syntax) = &file.syntax {
            if !library.is_empty() {
                let public = items.entry(library).or_default();
                public.path.clone_from(&file.path);
                public.visit_file(syntax);
            }
            names(syntax.to_token_stream(), &mut |name| {
                said.entry(name).or_default().insert(library);
            });
        } else if file.path.ends_with(".md") {
            for name in file.text.split(|c: char| !c.is_alphanumeric() && c != '_') {
                said.entry(name.to_owned()).or_default().insert(library);
            }
        }
    }
    let mut findings = Vec::new();
    for (library, public) in &items {
        for (name, path, line) in &public.items {
            let elsewhere = said.get(name).is_some_and(|by| by.iter().any(|who| who != library));
            if !elsewhere && !public.mentioned.contains(name) {
                let what = format!(
                    "{name} is public, but nothing outside of {library} names it: make it pub(crate)"
                );
                findings.push(Finding {
                    path: path.clone(),
                    line: *line,
                    key: format!("{library} {name}"),
                    what,
                });
            }
        }
    }
    findings
}

/// All names in some tokens.
fn names(tokens: TokenStream, see: &mut impl FnMut(String)) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => names(group.stream(), see),
            TokenTree::Ident(name) => see(name.to_string()),
            // Examples in documentation count, and names in macros' texts.
            TokenTree::Literal(text) => {
                let text = text.to_string();
                if text.starts_with('"') || text.starts_with("r\"") {
                    text.split(|c: char| !c.is_alphanumeric() && c != '_')
                        .for_each(|n| see(n.to_owned()));
                }
            }
            TokenTree::Punct(_) => {}
        }
    }
}

/// A library's public items, and the names their signatures mention.
#[derive(Default)]
struct Public {
    path: String,
    items: Vec<(String, String, usize)>,
    mentioned: HashSet<String>,
}

impl Public {
    fn see(&mut self, visibility: &syn::Visibility, name: &syn::Ident) {
        if matches!(visibility, syn::Visibility::Public(_)) {
            self.items.push((name.to_string(), self.path.clone(), line_of(name)));
        }
    }

    fn mention(&mut self, visibility: &syn::Visibility, signature: TokenStream) {
        if matches!(visibility, syn::Visibility::Public(_)) {
            self.mention_anyway(signature);
        }
    }

    fn mention_anyway(&mut self, signature: TokenStream) {
        names(signature, &mut |name| {
            self.mentioned.insert(name);
        });
    }
}

impl<'a> Visit<'a> for Public {
    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }
    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        self.see(&item.vis, &item.sig.ident);
        self.mention(&item.vis, types_of(&item.sig));
    }
    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        self.see(&item.vis, &item.sig.ident);
        self.mention(&item.vis, types_of(&item.sig));
    }
    fn visit_trait_item_fn(&mut self, item: &'a syn::TraitItemFn) {
        self.mention_anyway(types_of(&item.sig));
    }
    fn visit_trait_item_type(&mut self, item: &'a syn::TraitItemType) {
        self.mention_anyway(item.bounds.to_token_stream());
    }
    fn visit_impl_item_type(&mut self, item: &'a syn::ImplItemType) {
        self.mention_anyway(item.ty.to_token_stream());
    }
    fn visit_item_const(&mut self, item: &'a syn::ItemConst) {
        self.see(&item.vis, &item.ident);
        self.mention(&item.vis, item.ty.to_token_stream());
    }
    fn visit_impl_item_const(&mut self, item: &'a syn::ImplItemConst) {
        self.see(&item.vis, &item.ident);
        self.mention(&item.vis, item.ty.to_token_stream());
    }
    fn visit_item_static(&mut self, item: &'a syn::ItemStatic) {
        self.see(&item.vis, &item.ident);
        self.mention(&item.vis, item.ty.to_token_stream());
    }
    fn visit_item_struct(&mut self, item: &'a syn::ItemStruct) {
        self.see(&item.vis, &item.ident);
        visit::visit_item_struct(self, item);
    }
    fn visit_field(&mut self, field: &'a syn::Field) {
        self.mention(&field.vis, field.ty.to_token_stream());
    }
    fn visit_item_enum(&mut self, item: &'a syn::ItemEnum) {
        self.see(&item.vis, &item.ident);
        for variant in &item.variants {
            self.mention(&item.vis, variant.fields.to_token_stream());
        }
    }
    fn visit_item_trait(&mut self, item: &'a syn::ItemTrait) {
        self.see(&item.vis, &item.ident);
        self.mention(&item.vis, item.supertraits.to_token_stream());
        visit::visit_item_trait(self, item);
    }
    fn visit_item_type(&mut self, item: &'a syn::ItemType) {
        self.see(&item.vis, &item.ident);
        self.mention(&item.vis, item.ty.to_token_stream());
    }
}

/// What a signature says but for the function's own name.
fn types_of(signature: &syn::Signature) -> TokenStream {
    let (inputs, output, generics) = (&signature.inputs, &signature.output, &signature.generics);
    let clause = &generics.where_clause;
    quote::quote!(#inputs #output #generics #clause)
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree;
    use super::*;

    #[test]
    fn public_items_that_nothing_names_are_found() {
        let tree = tree(&[
            (
                "crates/a/src/a.rs",
                "pub fn used() -> Returned {}\npub struct Returned;\npub fn unused() {}\n
                 pub struct Documented;\nimpl Returned { pub fn method(&self) {} }\npub(crate) fn own() {}",
            ),
            ("crates/a/src/b.rs", "fn f() { crate::a::unused(); }"),
            ("crates/b/src/b.rs", "fn g() { a::used(); }"),
            ("docs/a.md", "`Documented`"),
        ]);
        let mut found: Vec<_> = check(&tree).into_iter().map(|f| f.key).collect();
        found.sort();
        assert_eq!(found, ["a method", "a unused"]);
    }
}
