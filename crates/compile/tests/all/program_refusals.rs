//! Whole programs outside the supported subset are refused where they stand, with why and what to write instead.

use parton_compile::program::lower::lower;
use parton_compile::program::parse::parse;

/// The errors of a program with this body: what each underlines, and what it says.
fn errors(body: &str) -> Vec<(String, String)> {
    let text = format!(
        "fn function(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {{
            let mut a = graph.field(0u32); let mut b = graph.field(0u32); let mut n = 0u32;
            let mut work = Worklist::from([root]); {body} a }}"
    );
    let item = syn::parse_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let error = parse(&item).and_then(lower).err();
    let source = |error: &syn::Error| error.span().source_text().unwrap_or_default();
    error.into_iter().flatten().map(|error| (source(&error), error.to_string())).collect()
}

/// Checks that the body is refused once, at this place, with these words.
#[track_caller]
fn refuses(body: &str, place: &str, words: &str) {
    let errors = errors(body);
    let [(found, message)] = &errors[..] else { panic!("{body}: {errors:?}") };
    assert_eq!(found, place, "{message}");
    assert!(message.contains(words), "{message}");
}

#[test]
fn what_operators_cannot_do_is_refused_where_it_stands() {
    refuses(
        "for v in graph.vertices() { println!(\"{}\", a[v]); }",
        "println!(\"{}\", a[v]);",
        "cannot print",
    );
    refuses(
        "for v in graph.vertices() { a[v] = helper(b[v]); }",
        "helper(b[v])",
        "not seen by the compiler",
    );
    refuses("for v in graph.vertices() { list.push(a[v]); }", "list.push(a[v])", "do not allocate");
    refuses("for v in graph.vertices() { a[root] = 1; }", "root", "on one host");
    refuses("for v in graph.vertices() { a[parent(v)] = 1; }", "parent(v)", "one edge at a time");
    refuses("for v in graph.vertices() { if a[v] > 1 { break; } }", "break", "guard what follows");
    refuses(
        "for v in graph.vertices() { while a[v] > 1 { } }",
        "while a[v] > 1 { }",
        "around the operator",
    );
    refuses("for v in graph.vertices() { n = a[v]; }", "n", "any of them: fold");
    refuses("for v in graph.vertices() { n += 1; a[v] = n; }", "n", "read it after the loop");
    refuses(
        "for v in graph.vertices() { for w in graph.vertices() { } }",
        "graph.vertices()",
        "every pair",
    );
    refuses(
        "for v in graph.vertices() { for e in graph.out_edges(v) { for f in graph.out_edges(e.target) { } } }",
        "graph.out_edges(e.target)",
        "two hops away",
    );
    refuses("n = a[root];", "a[root]", "on one host");
    refuses(
        "for v in graph.vertices() { let ok = n > 1 && a[v].lower(3); }",
        "a[v].lower(3)",
        "may not run",
    );
    refuses("for v in graph.vertices() { a[v] = b[v].pow(2); }", "pow", "known are");
    refuses("for v in work { }", "work", "graph.vertices()");
    refuses("match k { _ => {} }", "match k { _ => {} }", "`if` and `else`");
}

#[test]
fn races_are_refused() {
    let edges = |body: &str| {
        format!("for v in graph.vertices() {{ for e in graph.out_edges(v) {{ {body} }} }}")
    };
    refuses(&edges("a[e.target] = b[v];"), "a[e.target]", "the last is any of them");
    refuses(&edges("a[v] = e.weight;"), "a[v]", "the last one to set `a`");
    refuses(&edges("a[e.target] += a[v];"), "a[v]", "second field");
    refuses(&edges("a[e.target] *= 2;"), "a[e.target]", "can be added");
    refuses(
        &edges("if a.lower(e.target, 3) { b[e.target] = v.id(); }"),
        "b[e.target]",
        "loop of its own",
    );
    refuses(
        &edges("a[e.target] += 1; b[v] += a[e.target];"),
        "a[e.target]",
        "the order of visits shows",
    );
    refuses(
        "for v in graph.vertices() { let mut x = 0; for e in graph.out_edges(v) { x = e.weight; } }",
        "x",
        "fold",
    );
    refuses(
        "while let Some(v) = work.pop() { a[v] += 1; if a[v] < k { work.push(v); } }",
        "work.push(v)",
        "second worklist",
    );
    refuses(
        "for v in graph.vertices() { if k > 1 { for e in graph.out_edges(v) { b[e.target] += 1; } } \
         for e in graph.in_edges(v) { a[e.source] += 1; } }",
        "for e in graph.in_edges(v) { a[e.source] += 1; }",
        "loop over vertices of its own",
    );
    refuses(
        "loop { let mut changed = false; for v in graph.vertices() { for e in graph.out_edges(v) { \
         changed |= a.lower(e.target, 9 - a[v]); } } if !changed { break; } }",
        "a[v]",
        "the order of visits shows",
    );
}

#[test]
fn signatures_are_checked() {
    let refused = |text: &str| {
        let item = syn::parse_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        parse(&item).expect_err("a refusal").to_string()
    };
    assert!(refused("fn f(k: u32) -> Field<u32> { a }").contains("first parameter is the graph"));
    assert!(
        refused("fn f<T>(graph: &Graph<T>) -> Field<u32> { a }").contains("no type parameters")
    );
    assert!(refused("fn f(graph: &Graph<String>) -> Field<u32> { a }").contains("weights are"));
    assert!(refused("fn f(graph: &Graph<()>) -> u32 { 1 }").contains("returns fields"));
    assert!(
        refused("fn f(graph: &Graph<()>, k: String) -> Field<u32> { a }")
            .contains("values are u32")
    );
}

#[test]
fn the_form_can_be_printed() {
    let text = "fn f(graph: &Graph<u32>, root: Vertex) -> Field<u32> {
        let mut d = graph.field(u32::MAX); d[root] = 0;
        let mut work = Worklist::from([root]);
        while let Some(v) = work.pop() { for e in graph.out_edges(v) {
            if d[e.target].lower(d[v].saturating_add(e.weight)) { work.push(e.target); } } }
        d }";
    let program = parse(&syn::parse_str(text).expect("a function")).expect("a program");
    let expected = "program f(root: Vertex)
    field d = u32::MAX
    d[root] = 0
    worklist work = root
    drain v of work {
        each out edge {
            if changed d[far] min= d[v].saturating_add(weight) {
                work.push(far)
            }
        }
    }
    return d
";
    assert_eq!(parton_compile::program::print::program(&program), expected);
}
