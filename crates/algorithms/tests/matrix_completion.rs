//! Matrix completion: what it learns, how well it predicts, and what it refuses.

use crate::common;
use crate::real;

use std::sync::Arc;

use common::nasty::graph_of;
use common::{How, Outcome, all_policies, run, same, try_run};
use parton_algorithms::matrix_completion::{MatrixCompletion, MatrixCompletionOptions};
use parton_algorithms::{Algorithm, Column, Error, Fact, Job, Options, Values, check_request};
use parton_graph::formats::{self, ReadOptions};
use parton_graph::source::Source;
use parton_graph::{Graph, LocalId, OriginalId, Weight, with_csr};
use parton_net::Cluster;
use parton_partition::Input;
use parton_sync::{Optimize, Substrate};

/// Users 0 to 299 rate items 300 to 399: two of three, as hidden factors say.
fn ratings() -> Graph {
    let taste =
        |v: u32| (f64::from(v * 37 % 101) / 50.0 - 1.0, f64::from(v * 61 % 97) / 48.0 - 1.0);
    let mut edges = Vec::new();
    for user in 0..300 {
        for item in (300..400).filter(|item| !(user * 13 + item * 7u32).is_multiple_of(3)) {
            let ((a, b), (c, d)) = (taste(user), taste(item));
            edges.push((user, item, 3.0 + a * c + b * d));
        }
    }
    graph_of(400, &edges)
}

fn learn(cluster: &mut Cluster, graph: &Graph, options: &Options, how: How<'_>) -> Outcome {
    let runs: [(&dyn Algorithm, Options); 1] = [(&MatrixCompletion, options.clone())];
    run(cluster, &Input::from(graph.clone()), &runs, how).remove(0)
}

/// These options, with a limit on rounds.
fn rounds(max_rounds: u64, own: MatrixCompletionOptions) -> Options {
    Options { max_rounds: Some(max_rounds), ..Options::default() }.with(own)
}

fn width(width: usize) -> MatrixCompletionOptions {
    MatrixCompletionOptions { width, ..MatrixCompletionOptions::default() }
}

/// What is wrong with a run that cannot be.
fn refusal(graph: &Graph, options: &Options, hosts: usize) -> String {
    let runs: [(&dyn Algorithm, Options); 1] = [(&MatrixCompletion, options.clone())];
    let mut cluster = Cluster::local(hosts).threads_per_host(1);
    match try_run(&mut cluster, &Input::from(graph.clone()), &runs, How::new("cvc")) {
        Ok(_) => panic!("it ran"),
        Err(error) => error.to_string(),
    }
}

fn real_of(outcome: &Outcome, name: &str) -> f64 {
    match outcome.fact(name) {
        Fact::Real(value) => *value,
        Fact::Integer(value) => *value as f64,
        other => panic!("{name} is {other:?}"),
    }
}

fn elements(columns: &[Column]) -> (usize, &[f32]) {
    let Values::Vectors { width, elements } = &columns[0].values else { panic!("factors") };
    (*width, elements)
}

#[test]
fn one_host_does_what_the_oracle_does() {
    let graph = ratings();
    let options = rounds(30, width(7));
    let expected = MatrixCompletion.reference(&graph, &options).expect("an oracle that answers");
    let mut cluster = Cluster::local(1).threads_per_host(2);
    let found = learn(&mut cluster, &graph, &options, How::new("oec"));
    assert!(same(&found.columns, &expected));
    assert!(found.report.converged);
    assert_eq!(found.complaint, None);
}

#[test]
fn threads_change_nothing() {
    let graph = ratings();
    let options = rounds(8, width(9));
    for (hosts, policy) in [(1, "oec"), (3, "cvc"), (3, "random")] {
        let learnt = [1, 2, 5].map(|threads| {
            let mut cluster = Cluster::local(hosts).threads_per_host(threads);
            let found = learn(&mut cluster, &graph, &options, How::new(policy));
            (found.columns, found.result)
        });
        assert!(learnt.iter().all(|other| *other == learnt[0]), "{hosts} hosts");
    }
}

#[test]
fn a_seed_decides() {
    let graph = ratings();
    let mut cluster = Cluster::local(2).threads_per_host(1);
    let mut with = |seed| {
        let options = rounds(3, MatrixCompletionOptions { seed, ..Default::default() });
        learn(&mut cluster, &graph, &options, How::new("oec")).columns
    };
    assert_eq!(with(1), with(1));
    assert_ne!(with(1), with(2));
}

#[test]
fn hidden_factors_are_found_on_any_number_of_hosts() {
    let graph = ratings();
    let options =
        Options::default().with(MatrixCompletionOptions { regularization: 0.01, ..width(4) });
    let mut errors = Vec::new();
    for hosts in [1, 2, 4, 7] {
        let mut cluster = Cluster::local(hosts).threads_per_host(1);
        for policy in all_policies() {
            let found = learn(&mut cluster, &graph, &options, How::new(policy));
            let per_round = found.report.rounds.iter().map(|round| round.measure.expect("one"));
            let per_round: Vec<f64> = per_round.map(|measure| measure.value).collect();
            assert_eq!(per_round.len(), 40);
            assert!(per_round[39] < per_round[0] / 1.5, "{hosts}, {policy}: {per_round:?}");
            errors.push(real_of(&found, "rmse"));
        }
    }
    assert!(errors.iter().all(|error| *error < 0.4), "{errors:?}");
}

/// The rule for what is left out of learning, and the mean over all that is known of both ends.
#[test]
fn what_was_kept_apart_is_predicted() {
    let graph = ratings();
    // There is no item 1000 to learn of.
    let test = [(0, 301, 3.5), (0, 350, 2.0), (17, 399, 4.0), (299, 300, 1.0), (5, 1000, 9.0)];
    let test = Arc::new(graph_of(1001, &test));
    let own = MatrixCompletionOptions { test: Some(test.clone()), ..width(5) };
    let options = rounds(10, own);
    for hosts in [1, 3, 7] {
        let mut cluster = Cluster::local(hosts).threads_per_host(1);
        for (turn, policy) in all_policies().into_iter().enumerate() {
            let how = How { optimize: Optimize::NAMES[turn % 4].1, ..How::new(policy) };
            let found = learn(&mut cluster, &graph, &options, how);
            let (width, elements) = elements(&found.columns);
            let vector = |vertex: usize| &elements[vertex * width..][..width];
            let mut sum = 0.0;
            with_csr!(&test.adjacency, csr => {
                for user in csr.vertices() {
                    for (item, rating) in csr.edges(user).filter(|(item, _)| item.index() < 400) {
                        let pairs = vector(user.index()).iter().zip(vector(item.index()));
                        let product: f64 = pairs.map(|(p, q)| f64::from(p * q)).sum();
                        sum += (rating.to_f64() - product).powi(2);
                    }
                }
            });
            assert_eq!(*found.fact("test_ratings"), Fact::Integer(4));
            let rmse = real_of(&found, "rmse_test");
            assert!((rmse - (sum / 4.0).sqrt()).abs() < 1e-5, "{hosts}, {policy}: {rmse}");
            assert!(found.notes[0].starts_with("1 of 5 test ratings"), "{:?}", found.notes);
            assert_eq!(found.complaint, None);
        }
    }
}

#[test]
fn vertices_without_ratings_know_nothing() {
    let graph = graph_of(6, &[(0, 4, 3u32), (1, 4, 5), (0, 5, 1)]);
    for hosts in [1, 3] {
        let mut cluster = Cluster::local(hosts).threads_per_host(1);
        let found = learn(&mut cluster, &graph, &Options::default(), How::new("oec"));
        let (width, elements) = elements(&found.columns);
        let is_zero = |vertex: usize| elements[vertex * width..][..width].iter().all(|x| *x == 0.0);
        assert_eq!([0, 1, 2, 3, 4, 5].map(is_zero), [false, false, true, true, false, false]);
        let sides = ["users", "items"].map(|side| real_of(&found, side));
        assert_eq!(sides, [2.0, 2.0]);
    }
}

#[test]
fn graphs_that_are_no_ratings_are_refused() {
    let options = Options::default();
    for hosts in [1, 3] {
        let path = graph_of(5, &[(0, 1, 1u32), (2, 3, 1), (3, 4, 2), (1, 2, 3)]);
        let said = refusal(&path, &options, hosts);
        assert!(said.contains("vertex 1 is both a user and an item"), "{said}");
        assert!(said.contains("`bipartite`"), "{said}");
        let lonely = graph_of::<u32>(3, &[]);
        assert!(refusal(&lonely, &options, hosts).contains("no ratings"));
        let nothing = graph_of::<u32>(0, &[]);
        assert!(refusal(&nothing, &options, hosts).contains("no ratings"));
        let odd = graph_of(4, &[(0, 2, 1.0), (0, 3, f64::NAN), (1, 3, f64::INFINITY)]);
        assert!(refusal(&odd, &options, hosts).contains("2 ratings are not finite numbers"));
        let plain = graph_of(2, &[(0, 1, ())]);
        let said = refusal(&plain, &options, hosts);
        assert!(said.contains("needs weights") && said.contains("`columns`"), "{said}");
        let wild = graph_of(3, &[(0, 2, 1e9), (1, 2, 1e9)]);
        assert!(refusal(&wild, &options, hosts).contains("lower `learning_rate` from 0.01"));
    }
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let usual = MatrixCompletionOptions::default;
    let odd = Arc::new(graph_of(2, &[(0, 1, f64::NAN)]));
    let plain = Arc::new(graph_of(2, &[(0, 1, ())]));
    let empty = Arc::new(graph_of::<u32>(2, &[]));
    for (own, expected) in [
        (width(0), "`width` 0: expected 1 to"),
        (width(1 << 20), "`width`"),
        (MatrixCompletionOptions { learning_rate: Some(0.0), ..usual() }, "`learning_rate` 0"),
        (
            MatrixCompletionOptions { learning_rate: Some(f64::NAN), ..usual() },
            "`learning_rate` NaN",
        ),
        (MatrixCompletionOptions { regularization: -1.0, ..usual() }, "`regularization` -1"),
        (MatrixCompletionOptions { test: Some(odd), ..usual() }, "1 rating is not a finite"),
        (
            MatrixCompletionOptions { test: Some(plain), ..usual() },
            "`test`: its edges have no weights",
        ),
        (MatrixCompletionOptions { test: Some(empty), ..usual() }, "`test`: there are no ratings"),
    ] {
        let options = Options::default().with(own);
        let error = check_request(&MatrixCompletion, &options).expect_err("a refusal").to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn forged_answers_are_found_out() {
    let graph = ratings();
    let options = rounds(4, width(3));
    let input = Input::from(graph);
    for hosts in [1, 3] {
        let mut cluster = Cluster::local(hosts).threads_per_host(1);
        let launched = cluster.launch(|net| -> Result<_, Error> {
            let partition = common::partition(net, &input, How::new("cvc"))?;
            let mut substrate = Substrate::new(&partition, net, Optimize::ALL);
            let job = &mut Job {
                substrate: &mut substrate,
                options: &options,
                watch: &mut (),
                device: None,
            };
            let answer = MatrixCompletion.run(job)?;
            let mut verdicts = Vec::new();
            for forgery in 0..4 {
                let mut forged = answer.clone();
                let Values::Vectors { elements, .. } = &mut forged.columns[0].values else {
                    panic!("factors")
                };
                match forgery {
                    0 => {}
                    1 if partition.host().0 == 0 => elements[1] += 0.5,
                    2 if partition.host().0 == 0 => elements[1] = f32::NAN,
                    3 => forged.result[2].1 = Fact::Real(0.1),
                    _ => {}
                }
                verdicts.push(MatrixCompletion.check(job, &forged)?);
            }
            Ok(verdicts)
        });
        for verdicts in launched.expect("no host fails") {
            assert_eq!(verdicts[0], None);
            let said = |forgery: usize| verdicts[forgery].as_deref().unwrap_or("nothing");
            assert!(said(1).starts_with("rmse"), "{}", said(1));
            assert!(said(2).contains("not finite"), "{}", said(2));
            assert!(said(3).starts_with("rmse"), "{}", said(3));
        }
    }
}

/// A file of `USER ITEM RATING …` lines.
fn movie_lens(file: &str) -> Option<Graph> {
    let source = Source::file(&real::data()?.join("ratings/ml-100k").join(file)).expect("a file");
    let options = ReadOptions { bipartite: true, ..ReadOptions::default() };
    Some(formats::read(&source, None, &options).expect("ratings"))
}

/// The standard split of MovieLens 100k.
#[test]
fn movies_are_predicted_on_one_host_and_on_four() {
    let (Some(training), Some(test)) = (movie_lens("u1.base.gz"), movie_lens("u1.test.gz")) else {
        return;
    };
    let own = MatrixCompletionOptions { test: Some(Arc::new(test)), ..Default::default() };
    let options = Options::default().with(own);
    for (hosts, policy) in [(1, "oec"), (4, "oec"), (4, "cvc"), (4, "random")] {
        let mut cluster = Cluster::local(hosts).threads_per_host(1);
        let found = learn(&mut cluster, &training, &options, How::new(policy));
        let (rmse, predicted) = (real_of(&found, "rmse_test"), real_of(&found, "test_ratings"));
        eprintln!("{hosts} hosts, {policy}: {rmse:.4} on {predicted}");
        assert!(rmse <= 0.95, "{hosts} hosts, {policy}: {rmse}");
        assert!((19_900.0..=20_000.0).contains(&predicted), "{predicted}");
        assert_eq!(found.complaint, None);
    }
}

/// The number in a name such as `s17`.
fn number(id: OriginalId<'_>) -> u64 {
    let OriginalId::Name(name) = id else { panic!("two kinds of vertices have names") };
    std::str::from_utf8(&name[1..]).expect("digits").parse().expect("a number")
}

/// The same descent as scikit-surprise's, on the same split and objective: as good after as many
/// rounds, and no better than alternating least squares comes to in the end.
#[test]
fn the_objective_is_that_of_other_libraries() {
    let Some(all) = movie_lens("u.data.gz") else { return };
    let folder = real::data().expect("it is there").join("ratings/ml-100k");
    let known = &real::json(&folder.join("answers.json"))["factor_model"]["L=0.1"];
    let expected = &known["surprise_sgd_rate_0.005"]["epochs=100"];
    let real = |value: &serde_json::Value| value.as_f64().expect("a number");
    let (mut training, mut test) = (Vec::new(), Vec::new());
    let vertices = all.num_vertices();
    with_csr!(&all.adjacency, csr => {
        for user in csr.vertices() {
            for (item, rating) in csr.edges(user) {
                let [u, i] = [user, item].map(|vertex| number(all.ids.get(vertex.index())));
                let kept = (u * 31 + i * 17).is_multiple_of(10);
                let list = if kept { &mut test } else { &mut training };
                list.push((user.0, item.0, rating.to_f64()));
            }
        }
    });
    let [training, test] = [&training, &test].map(|edges| graph_of(vertices, edges));
    let own = MatrixCompletionOptions {
        learning_rate: Some(0.005),
        test: Some(Arc::new(test)),
        ..MatrixCompletionOptions::default()
    };
    let regularization = own.regularization;
    let options = rounds(100, own);
    let mut cluster = Cluster::local(1).threads_per_host(2);
    let found = learn(&mut cluster, &training, &options, How::new("oec"));
    let (width, elements) = elements(&found.columns);
    let squares = |vertex: LocalId| -> f64 {
        elements[vertex.index() * width..][..width].iter().map(|x| f64::from(x * x)).sum()
    };
    let errors = real_of(&found, "rmse").powi(2) * training.num_edges() as f64;
    let cost = with_csr!(&training.adjacency, csr => {
        let of_user = |user: LocalId| -> f64 {
            csr.targets(user).iter().map(|&item| squares(user) + squares(item)).sum()
        };
        csr.vertices().map(of_user).sum::<f64>()
    });
    let objective = errors + regularization * cost;
    eprintln!(
        "objective {objective:.0}, rmse {:.4}, held out {:.4}; surprise {expected}",
        real_of(&found, "rmse"),
        real_of(&found, "rmse_test")
    );
    assert!(objective <= 1.02 * real(&expected["objective"]), "{objective}");
    assert!(objective >= real(&known["als"]["objective"]), "{objective}");
    assert!(real_of(&found, "rmse_test") <= 1.01 * real(&expected["held_out_rmse"]));
    assert_eq!(real_of(&found, "test_ratings"), 9996.0);
}
