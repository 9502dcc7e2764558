//! The files of the checkout that people write, read and parsed once for all checks.

use std::path::Path;

use syn::visit::{self, Visit};

/// A file of the checkout.
pub(super) struct Source {
    /// From the top of the checkout, with `/`.
    pub(super) path: String,
    pub(super) text: String,
    /// Of Rust files.
    pub(super) syntax: Option<syn::File>,
}

/// All of them, by path.
pub(super) struct Tree {
    pub(super) files: Vec<Source>,
}

impl Tree {
    /// Reads Rust, Markdown, TOML and lock files; nothing built, nothing fuzzers keep.
    pub(super) fn read(root: &Path) -> Result<Tree, String> {
        let mut files = Vec::new();
        let mut folders = vec![root.to_path_buf()];
        while let Some(folder) = folders.pop() {
            let told = |error| format!("{}: {error}", folder.display());
            for entry in std::fs::read_dir(&folder).map_err(told)? {
                let path = entry.map_err(told)?.path();
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let ends = [".rs", ".md", ".toml", ".lock"];
                if path.is_dir() {
                    let skipped = ["target", "corpus", "artifacts", ".git"].contains(&&*name);
                    folders.extend((!skipped).then_some(path));
                } else if ends.iter().any(|end| name.ends_with(end)) {
                    let text = std::fs::read_to_string(&path)
                        .map_err(|error| format!("{}: {error}", path.display()))?;
                    let within = path.strip_prefix(root).expect("a path under the top");
                    files.push((within.to_string_lossy().replace('\\', "/"), text));
                }
            }
        }
        Tree::of(files)
    }

    /// A tree of these paths and texts.
    pub(super) fn of(files: Vec<(String, String)>) -> Result<Tree, String> {
        let parse = |(path, text): (String, String)| {
            let syntax = path.ends_with(".rs").then(|| {
                syn::parse_file(&text)
                    .map_err(|error| format!("{path}:{}: {error}", error.span().start().line))
            });
            Ok(Source { syntax: syntax.transpose()?, path, text })
        };
        let mut files = files.into_iter().map(parse).collect::<Result<Vec<_>, String>>()?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Tree { files })
    }

    /// What a file says, or nothing where there is none.
    pub(super) fn text(&self, path: &str) -> String {
        let file = self.files.iter().find(|file| file.path == path);
        file.map_or(String::new(), |file| file.text.clone())
    }

    /// All Rust files with their syntax.
    pub(super) fn rust(&self) -> impl Iterator<Item = (&Source, &syn::File)> {
        self.files.iter().filter_map(|file| Some((file, file.syntax.as_ref()?)))
    }

    /// All pages for people.
    pub(super) fn pages(&self) -> impl Iterator<Item = &Source> {
        self.files.iter().filter(|file| file.path.ends_with(".md"))
    }

    /// Whether there is a file or a folder of files at this path.
    pub(super) fn holds(&self, path: &str) -> bool {
        let folder = format!("{}/", path.trim_end_matches('/'));
        self.files.iter().any(|file| file.path == path || file.path.starts_with(&folder))
    }
}

impl Source {
    /// Whether this is a library's or a program's code, not a test's.
    pub(super) fn is_test(&self) -> bool {
        ["/tests/", "/tests.rs", "/benches/"].iter().any(|part| self.path.contains(part))
    }

    /// The crate this file is the source of: `graph` for `crates/graph/src/…`.
    pub(super) fn library(&self) -> Option<&str> {
        let (name, rest) = self.path.strip_prefix("crates/")?.split_once('/')?;
        (rest.starts_with("src/") && !self.is_test()).then_some(name)
    }
}

/// Whether an item is only there for tests.
pub(super) fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let path = attribute.path();
        path.is_ident("test")
            || path.is_ident("cfg")
                && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
    })
}

/// The line a piece of syntax starts at.
pub(super) fn line_of(syntax: &impl syn::spanned::Spanned) -> usize {
    syntax.span().start().line
}

/// The line of the brace that closes a block.
pub(super) fn end_of(block: &syn::Block) -> usize {
    block.brace_token.span.close().end().line
}

/// Calls a closure with each function that has a body: attributes, signature, body.
pub(super) fn each_function<'a>(
    file: &'a syn::File,
    see: impl FnMut(&'a [syn::Attribute], &'a syn::Signature, &'a syn::Block),
) {
    struct Functions<F>(F);
    impl<'a, F: FnMut(&'a [syn::Attribute], &'a syn::Signature, &'a syn::Block)> Visit<'a>
        for Functions<F>
    {
        fn visit_item_mod(&mut self, module: &'a syn::ItemMod) {
            if !is_for_tests(&module.attrs) {
                visit::visit_item_mod(self, module);
            }
        }
        fn visit_item_fn(&mut self, function: &'a syn::ItemFn) {
            (self.0)(&function.attrs, &function.sig, &function.block);
            visit::visit_item_fn(self, function);
        }
        fn visit_impl_item_fn(&mut self, function: &'a syn::ImplItemFn) {
            (self.0)(&function.attrs, &function.sig, &function.block);
            visit::visit_impl_item_fn(self, function);
        }
        fn visit_trait_item_fn(&mut self, function: &'a syn::TraitItemFn) {
            if let Some(body) = &function.default {
                (self.0)(&function.attrs, &function.sig, body);
            }
            visit::visit_trait_item_fn(self, function);
        }
    }
    Functions(see).visit_file(file);
}

/// A tree of small texts, for the tests of checks.
#[cfg(test)]
pub(super) fn tree(files: &[(&str, &str)]) -> Tree {
    let files = files.iter().map(|(path, text)| (path.to_string(), text.to_string()));
    Tree::of(files.collect()).expect("files that parse")
}
