//! Which shape a program is recognised as, and what only looks like one.

use parton_compile::program::lower::{Lowered, lower};
use parton_compile::program::parse::parse;
use parton_compile::program::{recognise, vertex_form};
use parton_plan::{Class, ProgramShape};

fn lowered(text: &str) -> Option<Lowered> {
    let item = syn::parse_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let parsed = parse(&item).unwrap_or_else(|error| panic!("{text}: {error}"));
    lower(parsed).ok()
}

/// The engines of a relaxation.
fn engines(body: &str) -> Option<Vec<&'static str>> {
    let text =
        format!("fn f(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {{ {body} a }}");
    recognise::recognise(&mut lowered(&text)?).map(|relaxed| relaxed.engines())
}

#[test]
fn a_loop_that_never_begins_is_no_relaxation() {
    let spread = |before: &str| {
        format!(
            "let mut a = graph.field_with(|v| v.id()); let mut changed = {before}; while changed {{ changed = false; \
             for v in graph.vertices() {{ for e in graph.out_edges(v) {{ changed |= a.lower(e.target, a[v]); }} }} }}"
        )
    };
    assert!(engines(&spread("true")).is_some());
    assert_eq!(engines(&spread("false")), None);
    assert_eq!(engines(&spread("k > 1")), None);
}

#[test]
fn labels_do_not_know_which_vertex_they_leave() {
    let spread = |value: &str| {
        format!(
            "let mut a = graph.field(u32::MAX); a[root] = 0; let mut work = Worklist::from([root]); \
             while let Some(v) = work.pop() {{ for e in graph.out_edges(v) {{ \
             if a.lower(e.target, {value}) {{ work.push(e.target); }} }} }}"
        )
    };
    assert!(engines(&spread("a[v].max(k)")).is_some());
    assert_eq!(engines(&spread("a[v].max(v.id())")), None);
}

/// Engine `frontier` goes level by level only where all vertices but the root begin without a label.
#[test]
fn levels_begin_at_one_vertex() {
    let search = |start: &str, members: &str| {
        format!(
            "let mut a = graph.field({start}); a[root] = 0; let mut work = {members}; \
             while let Some(v) = work.pop() {{ for e in graph.out_edges(v) {{ \
             if a.lower(e.target, a[v] + 1) {{ work.push(e.target); }} }} }}"
        )
    };
    let first =
        |start: &str, members: &str| engines(&search(start, members)).expect("a relaxation")[0];
    assert_eq!(first("u32::MAX", "Worklist::from([root])"), "frontier");
    assert_eq!(first("7", "Worklist::from([root])"), "push");
    assert_eq!(first("7", "graph.vertices().collect::<Worklist>()"), "push");
}

/// What vertices send they send at the end of a round, when scalars of the next one are not known yet.
#[test]
fn messages_of_a_gather_are_the_same_in_every_round() {
    let shape = |message: &str| {
        let text = format!(
            "fn f(graph: &Graph<()>, damping: f64) -> Field<f64> {{ let mut a = graph.field(1.0); let mut b = graph.field(0.0); \
             let mut share = 1.0; for round in 0..5 {{ for v in graph.vertices() {{ let mut sum = 0.0; \
             for e in graph.in_edges(v) {{ sum += {message}; }} b[v] = sum + share; }} \
             std::mem::swap(&mut a, &mut b); share *= 0.5; }} a }}"
        );
        let mut lowered = lowered(&text).expect("a program");
        vertex_form::recognise(&mut lowered);
        lowered.plan.shape
    };
    let is_gather = |message: &str| matches!(shape(message), ProgramShape::Gather { .. });
    assert!(is_gather("a[e.source] * damping"));
    assert!(is_gather("a[e.source] / graph.out_degree(e.source) as f64"));
    assert!(!is_gather("a[e.source] * share"));
    assert!(!is_gather("a[e.source] + round as f64"));
}

/// A share might reach a vertex that is not on the worklist in one order of visits alone.
#[test]
fn what_flows_begins_on_the_worklist() {
    let class = |begin: &str| {
        let text = format!(
            "fn f(graph: &Graph<()>, root: Vertex, other: Vertex) -> Field<f64> {{ let mut rank = graph.field(0.0); {begin} \
             while let Some(v) = work.pop() {{ let old = rest[v].take(); rank[v] += old; \
             let share = 0.5 * old / graph.out_degree(v) as f64; for e in graph.out_edges(v) {{ \
             rest[e.target] += share; if rest[e.target] > 0.01 {{ work.push(e.target); }} }} }} rank }}"
        );
        Some(lowered(&text)?.plan.operators[0].class)
    };
    let all = "let mut work = graph.vertices().collect::<Worklist>();";
    let one = "let mut work = Worklist::from([root]);";
    assert_eq!(class(&format!("let mut rest = graph.field(1.0); {all}")), Some(Class::Flowing));
    let empty = "let mut rest = graph.field(0.0); rest[root] = 1.0;";
    assert_eq!(class(&format!("{empty} {one}")), Some(Class::Flowing));
    assert_eq!(class(&format!("let mut rest = graph.field(1.0); {one}")), None);
    assert_eq!(class(&format!("{empty} rest[other] = 1.0; {one}")), None);
    assert_eq!(
        class(&format!("{empty} {one} rest[other] = 1.0; work.push(other);")),
        Some(Class::Flowing)
    );
    let zero = "let mut rest = graph.field(0.0); let mut work = Worklist::new();";
    let loops = |body: &str| class(&format!("{zero} for u in graph.vertices() {{ {body} }}"));
    assert_eq!(loops("rest[u] = 1.0; work.push(u);"), Some(Class::Independent));
    assert_eq!(loops("rest[u] = 1.0; if graph.out_degree(u) > 1 { work.push(u); }"), None);
    let branch = |body: &str| class(&format!("{zero} if root == other {{ {body} }}"));
    assert_eq!(branch("rest[root] = 1.0; work.push(root);"), Some(Class::Flowing));
    assert_eq!(branch("rest[root] = 1.0;"), None);
}
