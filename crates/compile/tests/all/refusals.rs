//! What cannot be translated is refused where it stands, with what to write instead.

use parton_compile::parse;
use parton_compile::signatures::Trait;

/// The errors of a function with this body: what each underlines, and what it says.
fn errors_of_body(body: &str) -> Vec<(String, String)> {
    let text = format!("fn function(a: u32, b: f64, state: &mut u32) -> u32 {{ {body} }}");
    let item = syn::parse_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    described(parse::helper(&item).err())
}

fn errors_of_program(of: &str, text: &str) -> Vec<(String, String)> {
    let item = syn::parse_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    described(parse::block(&item, &Trait::by_name(of).expect("a known trait")).err())
}

fn described(error: Option<syn::Error>) -> Vec<(String, String)> {
    let source = |error: &syn::Error| error.span().source_text().unwrap_or_default();
    error.into_iter().flatten().map(|error| (source(&error), error.to_string())).collect()
}

/// Checks that the body is refused once, at this place, with these words.
#[track_caller]
fn refuses(body: &str, place: &str, words: &str) {
    let errors = errors_of_body(body);
    let [(found, message)] = &errors[..] else { panic!("{body}: {errors:?}") };
    assert_eq!(found, place, "{message}");
    assert!(message.contains(words), "{message}");
}

#[test]
fn unsupported_constructs_are_refused_where_they_stand() {
    refuses("while a > 0 { } a", "while a > 0 { }", "`for` over a range");
    refuses("loop { } ", "loop { }", "`for` over a range");
    refuses("for x in list() { } a", "list()", "ranges with two ends");
    refuses("for x in 0.. { } a", "0..", "ranges with two ends");
    refuses("let x = 0; a", "0", "let name: u32");
    refuses("let x = if a > 1 { 1 } else { 2 }; a", "if a > 1 { 1 } else { 2 }", "needs the type");
    refuses("let x = None; a", "None", "needs the type");
    refuses("let x; x = a; a", "let x;", "needs the type");
    refuses("let (x, y) = a; a", "(x, y)", "a `let` for each");
    refuses("let x = &mut a; a", "&mut a", "does not keep references");
    refuses("let x = state; a", "state", "write `*` before it");
    refuses("let x = [a; COUNT]; a", "COUNT", "the number itself");
    refuses("let x = [0; 4]; a", "[0; 4]", "needs the type");
    refuses("let x = (a, a); a", "(a, a)", "no tuples");
    refuses("let f = |x: u32| x; a", "|x: u32| x", "arguments of methods only");
    refuses("let x = if b > 1.0 { return 1 } else { a }; x", "return 1", "from inside a value");
    refuses("assert!(a > 1); a", "assert!(a > 1)", "without macros");
    refuses("let x = vec![a]; a", "vec![a]", "without macros");
    refuses("let x = unsafe { a }; a", "unsafe { a }", "`unsafe`");
    refuses("let x = Some(a)?; x", "Some(a)?", "`match` and `return`");
    refuses("a.pow(3)", "pow", "`#[device]`");
    refuses("b.powf(0.5) as u32", "powf", "keep it in a field");
    refuses("Some(a).unwrap()", "unwrap", "unwrap_or");
    refuses("a.into()", "into", "u64::from");
    refuses("unknown", "unknown", "does not know `unknown`");
    refuses("module::thing", "module::thing", "fields of `self`");
    refuses("Thing::make(a)", "Thing::make", "marked `#[device]`");
    refuses("a as u8 as u32", "u8", "less than 32 bits");
    refuses("a + 1u16 as u32", "1u16", "no `u16`");
    refuses("let x: String = a; a", "String", "32 or 64 bits");
    refuses("let x = 'c'; a", "'c'", "only numbers");
    refuses("1 << a", "1", "type of what is shifted");
    refuses("std::mem::take(state) + *state", "std::mem::take(state) + *state", "with `let` first");
    refuses("match a { x @ 1 => x, _ => 2 }", "x @ 1", "does not know this pattern");
    refuses("match (a, a) { _ => 2 }", "(a, a)", "no tuples");
    refuses(
        "if a > 1 && let Some(1) = Some(a) { 1 } else { 2 }",
        "let Some(1) = Some(a)",
        "one `if` inside another",
    );
    refuses("fn inner() {} a", "fn inner() {}", "beside the `impl`");
    refuses("a.0.1", "a.0.1", "no tuples");
    refuses(
        "for i in 0..4 { let x = if a > 1 { break } else { 1u32 }; } a",
        "break",
        "leave a loop",
    );
}

#[test]
fn all_mistakes_are_told_at_once() {
    let errors = errors_of_body("let x = 0; let y = vec![a]; while true { } a.pow(2)");
    let places: Vec<_> = errors.iter().map(|(place, _)| place.as_str()).collect();
    assert_eq!(places, ["0", "vec![a]", "while true { }", "pow"]);
}

#[test]
fn programs_see_fields_only() {
    let program = |start: &str, relax: &str| {
        let text = format!(
            "impl Relaxation for P {{ fn start(&self, vertex: Vertex<'_>) -> Option<u32> {{ \
             {start} }} fn relax(&self, label: u32, weight: u32) -> u32 {{ {relax} }} }}"
        );
        errors_of_program("Relaxation", &text)
    };
    assert_eq!(program("None", "label + self.step.min(weight)"), []);
    let errors = program("self.first(vertex)", "helper(self)");
    assert_eq!(errors[0].0, "self.first(vertex)");
    assert!(errors[0].1.contains("marked `#[device]`"), "{}", errors[0].1);
    assert_eq!(errors[1].0, "self");
    let errors =
        errors_of_program("Reduction", "impl Reduction for R { fn identity() -> u32 { 0 } }");
    assert_eq!(errors.len(), 1);
    assert!(errors[0].1.contains("`combine`"), "{}", errors[0].1);
}

#[test]
fn signatures_are_checked() {
    let helper = |text: &str| {
        let item = syn::parse_str(text).expect("a function");
        described(parse::helper(&item).err())
    };
    assert_eq!(helper("fn f<T>(x: u32) -> u32 { x }")[0].0, "<T>");
    assert_eq!(helper("fn f(x: u8) -> u32 { 1 }")[0].0, "u8");
    assert_eq!(helper("fn f((x, y): Pair) -> u32 { 1 }")[0].0, "(x, y)");
    assert_eq!(helper("unsafe fn f(x: u32) -> u32 { x }")[0].0, "unsafe");
    assert_eq!(helper("fn f(tally: &mut Tally) -> u32 { tally.edges as u32 }")[0].0, "tally.edges");
}

#[test]
fn errors_stand_beside_the_unchanged_item() {
    let item: proc_macro2::TokenStream =
        "fn f(x: u32) -> u32 { x.pow(2) }".parse().expect("tokens");
    let expanded = parton_compile::device(proc_macro2::TokenStream::new(), item.clone());
    let text = expanded.to_string();
    assert!(text.starts_with(&item.to_string()), "{text}");
    assert!(text.contains("compile_error"), "{text}");
    let item: proc_macro2::TokenStream = "fn f(x: u32) -> u32 { f(x) }".parse().expect("tokens");
    let text = parton_compile::device(proc_macro2::TokenStream::new(), item).to_string();
    assert!(text.contains("recursion"), "{text}");
}
