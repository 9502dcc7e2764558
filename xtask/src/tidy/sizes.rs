//! Files, functions, structs, traits and parameter lists that are too large to take in at once.

use syn::visit::{self, Visit};

use super::Finding;
use super::tree::{Source, Tree, each_function, end_of, line_of};

const LINES_OF_A_FILE: usize = 450;
const LINES_OF_A_FUNCTION: usize = 70;
const FIELDS_OF_A_STRUCT: usize = 12;
const METHODS_A_TRAIT_REQUIRES: usize = 8;
const PARAMETERS_OF_A_FUNCTION: usize = 6;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, syntax) in tree.rust() {
        let mut sizes = Sizes { file, findings: Vec::new() };
        sizes.judge(
            "",
            1,
            file.text.lines().count(),
            LINES_OF_A_FILE,
            "lines: give each idea a file",
        );
        each_function(syntax, |_, signature, body| {
            let (name, line) = (signature.ident.to_string(), line_of(signature));
            let typed = |p: &&syn::FnArg| matches!(p, syn::FnArg::Typed(_));
            let parameters = signature.inputs.iter().filter(typed).count();
            let (lines, most) = (end_of(body) + 1 - line, LINES_OF_A_FUNCTION);
            sizes.judge(&name, line, lines, most, "lines: take it apart");
            let most = PARAMETERS_OF_A_FUNCTION;
            sizes.judge(
                &name,
                line,
                parameters,
                most,
                "parameters: what belongs together is a struct",
            );
        });
        sizes.visit_file(syntax);
        findings.append(&mut sizes.findings);
    }
    findings
}

struct Sizes<'a> {
    file: &'a Source,
    findings: Vec<Finding>,
}

impl Sizes<'_> {
    /// Reports what is larger than it may be; the file itself has no name.
    fn judge(&mut self, name: &str, line: usize, size: usize, most: usize, unit: &str) {
        if size > most {
            let path = &self.file.path;
            let key = if name.is_empty() { path.clone() } else { format!("{path} {name}") };
            let it = if name.is_empty() { "the file" } else { name };
            let what = format!("{it} has {size} (more than {most}) {unit}");
            self.findings.push(Finding { path: path.clone(), line, key, what });
        }
    }
}

impl<'a> Visit<'a> for Sizes<'_> {
    fn visit_item_struct(&mut self, item: &'a syn::ItemStruct) {
        let (name, fields) = (item.ident.to_string(), item.fields.len());
        self.judge(
            &name,
            line_of(&item.ident),
            fields,
            FIELDS_OF_A_STRUCT,
            "fields: find the parts",
        );
    }

    fn visit_item_trait(&mut self, item: &'a syn::ItemTrait) {
        let required =
            |i: &&syn::TraitItem| matches!(i, syn::TraitItem::Fn(f) if f.default.is_none());
        let (name, methods) = (item.ident.to_string(), item.items.iter().filter(required).count());
        let most = METHODS_A_TRAIT_REQUIRES;
        self.judge(&name, line_of(&item.ident), methods, most, "required methods: split the trait");
        visit::visit_item_trait(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree;
    use super::*;

    fn found(text: &str) -> Vec<String> {
        check(&tree(&[("a.rs", text)])).into_iter().map(|f| f.key).collect()
    }

    #[test]
    fn what_is_too_large_is_found_and_nothing_else() {
        let fields = |n: u32| (0..n).map(|i| format!("f{i}: u8,")).collect::<String>();
        let lines = |n: usize| "    g();\n".repeat(n);
        let methods = |n: u32| (0..n).map(|i| format!("fn m{i}();")).collect::<String>();
        assert_eq!(found(&format!("struct S {{ {} }}", fields(13))), ["a.rs S"]);
        assert_eq!(found(&format!("fn f() {{\n{}}}", lines(69))), ["a.rs f"]);
        assert_eq!(found(&format!("trait T {{ {} }}", methods(9))), ["a.rs T"]);
        assert_eq!(found(&format!("fn f({}) {{}}", fields(7))), ["a.rs f"]);
        assert_eq!(found(&"//\n".repeat(451)), ["a.rs"]);
        let fine = [
            format!("struct S {{ {} }}", fields(12)),
            format!("fn f() {{\n{}}}", lines(68)),
            format!("trait T {{ {} fn d() {{}} }}", methods(8)),
            format!("impl S {{ fn f(&self, {}) {{}} }}", fields(6)),
        ];
        assert_eq!(found(&fine.join("\n")), Vec::<String>::new());
    }
}
