//! A field of vectors does what as many fields of numbers do, element by element.

use crate::common;

use common::{ENDS, all_policies, is_at, local, parts_of, proxies, random, tangle};
use parton_sync::reduction::{Min, Sum};
use parton_sync::value::Number;
use parton_sync::{CpuField, Delivery, Error, Optimize, Reduction, Substrate, VectorField};

/// Steps one after the other, so that what one leaves behind shows in the next.
const STEPS: u64 = 3;

/// Contributes to a field of vectors and to fields of numbers alike, and compares.
fn compare<R: Reduction<Value: Number>>(
    hosts: usize,
    width: usize,
    value: impl Fn(u64) -> R::Value + Sync,
) where
    R::Value: std::fmt::Debug,
{
    let delivery = if R::IDEMPOTENT { Delivery::Label } else { Delivery::Event };
    let mut cluster = local(hosts);
    for policy in all_policies() {
        let parts = parts_of(60, &tangle(60), policy, hosts);
        for (turn, (_, optimize)) in (0..).zip(Optimize::NAMES) {
            let (written, read) = (ENDS[turn % ENDS.len()], ENDS[(turn + hosts) % ENDS.len()]);
            let launched = cluster.launch(|net| -> Result<(), Error> {
                let part = &parts[net.host().index()];
                let mut substrate = Substrate::new(part, net, optimize).with_places_per_message(5);
                // Rows in another order than local ids.
                let rows = (0..part.num_proxies() as u32).rev().collect();
                let identity = R::identity();
                let mut vectors =
                    VectorField::<R>::new(width, rows, delivery, |_, vector| vector.fill(identity));
                let mut numbers: Vec<CpuField<R>> = (0..width)
                    .map(|_| CpuField::new(part.num_proxies(), delivery, |_| identity))
                    .collect();
                for step in 0..STEPS {
                    for proxy in proxies(part).filter(|&proxy| is_at(part, proxy, written)) {
                        let key = [step, part.host().0.into(), part.global(proxy).0];
                        if random(&key).is_multiple_of(3) {
                            continue;
                        }
                        for (element, number) in numbers.iter().enumerate() {
                            let value = value(random(&[&key[..], &[element as u64]].concat()));
                            let new = R::combine(number.get(proxy), value);
                            number.put(proxy, new);
                            vectors.get_mut(proxy)[element] = new;
                            number.updated().insert(proxy);
                        }
                        vectors.updated().insert(proxy);
                    }
                    substrate.sync(&mut vectors, written, read)?;
                    for number in &mut numbers {
                        substrate.sync(number, written, read)?;
                    }
                    for proxy in proxies(part) {
                        let expected: Vec<_> = numbers.iter().map(|n| n.get(proxy)).collect();
                        assert_eq!(vectors.get(proxy), expected, "{policy}, step {step}");
                    }
                }
                Ok(())
            });
            launched.unwrap_or_else(|error| panic!("{policy}: {error}"));
        }
    }
}

#[test]
fn sums_of_f32() {
    for hosts in [1, 2, 4] {
        compare::<Sum<f32>>(hosts, 20, |bits| (bits % 1000) as f32 / 7.0);
    }
}

#[test]
fn sums_of_integers() {
    compare::<Sum<u64>>(3, 3, |bits| bits >> 8);
}

#[test]
fn minima() {
    for width in [1, 5] {
        compare::<Min<u32>>(3, width, |bits| bits as u32);
    }
}
