//! One name for one type: two types of the same name make readers look at the imports.
//!
//! Names that other crates see are compared with those of all crates, names that a crate sees with all types of
//! that crate. Types that only their own module sees may share a name.

use std::collections::BTreeMap;

use syn::visit::{self, Visit};

use super::Finding;
use super::tree::{Tree, is_for_tests, line_of};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut places: BTreeMap<String, Vec<Place>> = BTreeMap::new();
    for (file, syntax) in tree.rust() {
        let Some(library) = file.library() else { continue };
        let mut types = Types(Vec::new());
        types.visit_file(syntax);
        for (name, line, seen) in types.0 {
            let (path, library) = (file.path.clone(), library.to_owned());
            places.entry(name).or_default().push(Place { path, line, library, seen });
        }
    }
    let mut findings = Vec::new();
    for (name, places) in &places {
        for (at, place) in places.iter().enumerate() {
            let mut others = places.iter().enumerate().filter(|(other, _)| *other != at);
            let Some((_, other)) = others.find(|(_, other)| place.meets(other)) else { continue };
            let (there, line) = (&other.path, other.line);
            let what = format!("{name} is also a type in {there}:{line}: say what each is of");
            let (path, line) = (place.path.clone(), place.line);
            findings.push(Finding { path, line, key: name.clone(), what });
        }
    }
    findings
}

/// A type, and who sees it.
struct Place {
    path: String,
    line: usize,
    library: String,
    seen: Seen,
}

impl Place {
    /// Whether some file may see both.
    fn meets(&self, other: &Place) -> bool {
        let by_all = self.seen == Seen::Everywhere && other.seen == Seen::Everywhere;
        let by_crate = self.seen.max(other.seen) >= Seen::Crate;
        by_all || self.library == other.library && by_crate
    }
}

/// Where a type can be named.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Seen {
    Module,
    Crate,
    Everywhere,
}

/// Types and traits, with their lines.
struct Types(Vec<(String, usize, Seen)>);

impl Types {
    fn see(&mut self, visibility: &syn::Visibility, name: &syn::Ident) {
        let seen = match visibility {
            syn::Visibility::Public(_) => Seen::Everywhere,
            syn::Visibility::Restricted(to) if to.path.is_ident("crate") => Seen::Crate,
            _ => Seen::Module,
        };
        self.0.push((name.to_string(), line_of(name), seen));
    }
}

impl<'a> Visit<'a> for Types {
    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }
    fn visit_item_struct(&mut self, item: &'a syn::ItemStruct) {
        self.see(&item.vis, &item.ident);
    }
    fn visit_item_enum(&mut self, item: &'a syn::ItemEnum) {
        self.see(&item.vis, &item.ident);
    }
    fn visit_item_trait(&mut self, item: &'a syn::ItemTrait) {
        self.see(&item.vis, &item.ident);
    }
    fn visit_item_type(&mut self, item: &'a syn::ItemType) {
        self.see(&item.vis, &item.ident);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree;
    use super::*;

    #[test]
    fn a_name_for_two_types_is_found() {
        let tree = tree(&[
            ("crates/a/src/a.rs", "pub enum Kind {}\nstruct Mine;"),
            ("crates/b/src/b.rs", "\npub struct Kind;\npub(crate) struct Mine;\npub struct Other;"),
        ]);
        let found: Vec<_> = check(&tree).into_iter().map(|f| (f.path, f.line, f.key)).collect();
        let expected = [("crates/a/src/a.rs", 1), ("crates/b/src/b.rs", 2)];
        assert_eq!(found, expected.map(|(path, line)| (path.into(), line, "Kind".to_owned())));
    }

    #[test]
    fn a_crate_has_one_name_for_what_it_sees() {
        let tree = tree(&[
            ("crates/a/src/a.rs", "pub(crate) struct Seen;\nstruct Own;"),
            ("crates/a/src/b.rs", "struct Seen;\npub(super) struct Own;"),
            ("crates/b/src/a.rs", "struct Seen;"),
        ]);
        let found: Vec<_> = check(&tree).into_iter().map(|f| (f.path, f.line, f.key)).collect();
        let expected = ["crates/a/src/a.rs", "crates/a/src/b.rs"];
        assert_eq!(found, expected.map(|path| (path.into(), 1, "Seen".to_owned())));
    }
}
