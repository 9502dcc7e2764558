//! What is said of the programs of the docs page. `PARTON_WRITE_EXPLAINED=1` writes it anew.

use std::path::Path;

use parton_compile::program::compile;
use syn::{Item, ItemFn};

const PAGE: &str = include_str!("../../../../docs/compiler.md");

/// The programs of the page, in its order.
fn programs() -> Vec<ItemFn> {
    let blocks = PAGE.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next());
    let functions = blocks.filter_map(|block| {
        let start = block.find("#[parton::program]")?;
        let end = start + block[start..].find("\n}\n")? + 3;
        match syn::parse_str(&block[start..end]).expect("a function") {
            Item::Fn(function) => Some(function),
            _ => None,
        }
    });
    functions.collect()
}

#[test]
fn programs_of_the_page_are_explained() {
    let programs = programs();
    let names: Vec<_> = programs.iter().map(|function| function.sig.ident.to_string()).collect();
    assert_eq!(names, ["weighted_degrees", "shortest_paths", "core", "pagerank", "betweenness"]);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/explained");
    for function in programs {
        let plan = compile(&function).expect("it is supported").lowered.plan;
        for (ending, said) in
            [("txt", parton_plan::text(&plan)), ("json", parton_plan::json(&plan) + "\n")]
        {
            let path = folder.join(format!("{}.{ending}", plan.name));
            if std::env::var_os("PARTON_WRITE_EXPLAINED").is_some() {
                std::fs::write(&path, &said).expect("a file");
            }
            let known = std::fs::read_to_string(&path).unwrap_or_default();
            assert_eq!(said, known, "{}", path.display());
        }
    }
}

/// The plan of a program with this body.
fn plan(signature: &str, body: &str) -> parton_plan::CompiledPlan {
    let text = format!("fn function(graph: &Graph<()>{signature} {{ {body} }}");
    compile(&syn::parse_str(&text).expect("a function")).expect(body).lowered.plan
}

#[test]
fn forms_that_a_program_does_not_have_are_explained() {
    let drawn_out = plan(
        ", root: Vertex) -> (Field<u32>, Field<u32>)",
        "let mut a = graph.field(u32::MAX); let mut b = graph.field(0u32); a[root] = 0;
         let mut work = Worklist::from([root]);
         while let Some(v) = work.pop() { for e in graph.out_edges(v) {
             if a[e.target].lower(a[v].saturating_add(1)) { work.push(e.target); } } }
         (a, b)",
    );
    let text = parton_plan::text(&drawn_out);
    for said in [
        "not a relaxation: it returns several fields",
        "not a rotated vertex program: its operator neither fires nor flows",
        "engines: steps\n",
        "pace basp: no, the control flow between operators",
        "those at which `a` changed",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[test]
fn devices_are_promised_only_to_programs_that_run_there() {
    let gather = |value: &str| {
        let body = format!(
            "let mut a = graph.field(1.0); let mut b = graph.field(0.0);
             for round in 0..9 {{ for v in graph.vertices() {{ let mut sum = 0.0;
                 for e in graph.in_edges(v) {{ sum += a[e.source]; }} b[v] = {value}; }}
                 std::mem::swap(&mut a, &mut b); }} a"
        );
        parton_plan::text(&plan(") -> Field<f64>", &body))
    };
    assert!(gather("sum").contains("devices: yes\n"));
    let rounded = gather("sum.exp()");
    assert!(rounded.contains("devices: no: devices round `ln` and `exp` differently"), "{rounded}");
    assert!(rounded.contains("engines: pull, push, frontier, spmv, steps"), "{rounded}");
}

#[test]
fn loops_over_vertices_that_need_nothing_of_each_other_are_one() {
    let body = |read: &str| {
        format!(
            "let mut a = graph.field(1u64); let mut b = graph.field(0u64); let mut n = 0u64;
             for v in graph.vertices() {{ a[v] = 2; n += a[v]; }}
             for v in graph.vertices() {{ b[v] = a[v] + {read}; }} b"
        )
    };
    let plan = |read| plan(") -> Field<u64>", &body(read));
    assert_eq!(plan("1").operators.len(), 1, "nothing is added up between them");
    assert_eq!(plan("n").operators.len(), 2, "the second asks for what the first adds up");
}

#[test]
fn two_loops_over_edges_of_one_operator_are_split() {
    let plan = plan(
        ") -> Field<u64>",
        "let mut a = graph.field(1u64); let mut b = graph.field(0u64);
         for v in graph.vertices() {
             let mut sum = 0u64;
             for e in graph.in_edges(v) { sum += a[e.source]; }
             let share = sum + 1;
             for e in graph.out_edges(v) { b[e.target] += share; }
         } b",
    );
    let [first, second] = &plan.operators[..] else { panic!("{plan:?}") };
    assert_eq!(first.direction, Some(parton_plan::EdgeDirection::In));
    assert_eq!(second.direction, Some(parton_plan::EdgeDirection::Out));
}
