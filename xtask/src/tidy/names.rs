//! One name for one type: two types of the same name make readers look at the imports.

use std::collections::BTreeMap;

use syn::visit::{self, Visit};

use super::Finding;
use super::tree::{Tree, is_for_tests, line_of};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut places: BTreeMap<String, Vec<(String, usize)>> = BTreeMap::new();
    for (file, syntax) in tree.rust().filter(|(file, _)| file.library().is_some()) {
        let mut types = Types(Vec::new());
        types.visit_file(syntax);
        for (name, line) in types.0 {
            places.entry(name).or_default().push((file.path.clone(), line));
        }
    }
    let shared = places.iter().filter(|(_, places)| places.len() > 1);
    shared
        .flat_map(|(name, places)| {
            places.iter().enumerate().map(move |(at, (path, line))| {
                let (other, there) = &places[usize::from(at == 0)];
                let what = format!("{name} is also a type in {other}:{there}: say what each is of");
                Finding { path: path.clone(), line: *line, key: name.clone(), what }
            })
        })
        .collect()
}

/// Types and traits that other crates see.
struct Types(Vec<(String, usize)>);

impl Types {
    fn see(&mut self, visibility: &syn::Visibility, name: &syn::Ident) {
        if matches!(visibility, syn::Visibility::Public(_)) {
            self.0.push((name.to_string(), line_of(name)));
        }
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
}
