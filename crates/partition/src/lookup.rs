//! What users call vertices that this host has never heard of.
//!
//! A host knows only the original ids of its masters, and no host knows the master of every vertex.
//! So vertices meet by their number: the master sends its id to the host that the number falls to,
//! and hosts that want the id ask there. No host holds more than its share.

use std::collections::HashMap;

use parton_graph::LocalId;
use parton_net::Net;

use crate::dictionary::{Id, Originals};
use crate::{Partition, Result};

impl Partition {
    /// What users call `wanted` vertices, given by their global ids. Every host must call this.
    ///
    /// Masters that are `likely` to be asked for are sent first, which spares the others if they
    /// are all that anyone wants.
    pub fn originals_of(
        &self,
        net: &mut Net,
        wanted: &[u32],
        likely: impl Fn(LocalId) -> bool,
    ) -> Result<Originals> {
        let mut distinct = wanted.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        match &self.originals {
            Originals::Offset(offset) => Ok(Originals::Offset(*offset)),
            Originals::Integers(ids) => {
                let answers = self.meet(net, &distinct, likely, |master| ids[master])?;
                Ok(u64::originals(wanted.iter().map(|vertex| answers[vertex]).collect()))
            }
            Originals::Names(names) => {
                let name = |master: usize| Box::<[u8]>::from(names.get(master));
                let answers = self.meet(net, &distinct, likely, name)?;
                let names = wanted.iter().map(|vertex| &answers[vertex][..]);
                Ok(Originals::Names(names.collect()))
            }
        }
    }

    /// The ids of all wanted vertices. Every host must call this.
    fn meet<I: Id>(
        &self,
        net: &mut Net,
        wanted: &[u32],
        likely: impl Fn(LocalId) -> bool,
        id: impl Fn(usize) -> I,
    ) -> Result<HashMap<u32, I>> {
        let answers = self.ask(net, wanted, likely, &id)?;
        let missing = net.all_reduce((wanted.len() - answers.len()) as u64, |a, b| a + b)?;
        match missing {
            0 => Ok(answers),
            _ => self.ask(net, wanted, |_| true, &id),
        }
    }

    /// The ids of those wanted vertices whose masters tell. Every host must call this.
    fn ask<I: Id>(
        &self,
        net: &mut Net,
        wanted: &[u32],
        tells: impl Fn(LocalId) -> bool,
        id: &impl Fn(usize) -> I,
    ) -> Result<HashMap<u32, I>> {
        let hosts = net.num_hosts();
        let telling = (0..self.masters.all).filter(|&master| tells(LocalId(master)));
        let mut answers: Vec<(Vec<u32>, Vec<I>)> = vec![Default::default(); hosts];
        for master in telling {
            let vertex = self.globals[master as usize];
            let (vertices, ids) = &mut answers[vertex as usize % hosts];
            vertices.push(vertex);
            ids.push(id(master as usize));
        }
        let mut questions = vec![Vec::new(); hosts];
        wanted.iter().for_each(|&vertex| questions[vertex as usize % hosts].push(vertex));

        let answers = exchange_pairs(net, answers)?;
        let known: HashMap<u32, &I> =
            answers.iter().flat_map(|(v, ids)| v.iter().copied().zip(ids)).collect();
        let batches = questions.iter().map(|list| bytemuck::cast_slice(list).to_vec()).collect();
        let answer = |question: &Vec<u8>| -> (Vec<u32>, Vec<I>) {
            let vertices = bytemuck::pod_collect_to_vec::<u8, u32>(question);
            vertices.iter().filter_map(|v| Some((*v, (*known.get(v)?).clone()))).unzip()
        };
        let answers = net.all_to_all(batches)?.iter().map(answer).collect();
        Ok(exchange_pairs(net, answers)?
            .into_iter()
            .flat_map(|(v, ids)| v.into_iter().zip(ids))
            .collect())
    }
}

/// Sends every host its list of vertices with their ids; what all hosts sent here.
fn exchange_pairs<I: Id>(
    net: &mut Net,
    lists: Vec<(Vec<u32>, Vec<I>)>,
) -> Result<Vec<(Vec<u32>, Vec<I>)>> {
    let (vertices, ids): (Vec<Vec<u8>>, Vec<Vec<u8>>) = lists
        .iter()
        .map(|(vertices, ids)| (bytemuck::cast_slice(vertices).to_vec(), I::encode(ids.iter())))
        .unzip();
    let vertices = net.all_to_all(vertices)?;
    let ids = net.all_to_all(ids)?;
    let decode = |(vertices, ids): (&Vec<u8>, &Vec<u8>)| {
        (bytemuck::pod_collect_to_vec(vertices), I::decode(ids))
    };
    Ok(vertices.iter().zip(&ids).map(decode).collect())
}

#[cfg(test)]
mod tests {
    use parton_graph::OriginalId;
    use parton_graph::formats;
    use parton_graph::source::Source;
    use parton_net::Cluster;

    use super::*;
    use crate::{Input, Plan};

    /// Every host asks for some vertices of all hosts, twice, whether or not they are likely.
    fn ask_for_all(text: &str, expected: fn(OriginalId<'_>) -> u64) {
        for (likely, policy) in [(1, "oec"), (2, "random"), (7, "cvc")] {
            let source = Source::memory("edges", text).expect("a source");
            let graph = formats::read(&source, None, &Default::default()).expect("a graph");
            let ids = graph.ids.clone();
            let (input, plan) = (Input::from(graph), Plan::new(policy));
            let mut cluster = Cluster::local(3);
            let launched = cluster.launch(|net| -> Result<()> {
                let partition = Partition::build(net, &input, &plan)?;
                let host = u32::from(net.host().0);
                let wanted: Vec<u32> =
                    (0..40).filter(|v| v % (host + 1) == 0).flat_map(|v| [v, 39 - v]).collect();
                let is_likely = |master: LocalId| partition.global(master).0 % likely == 0;
                let found = partition.originals_of(net, &wanted, is_likely)?;
                for (place, &vertex) in wanted.iter().enumerate() {
                    let id = found.get(place, u64::from(vertex));
                    assert_eq!(id, ids.get(vertex as usize));
                    assert_eq!(expected(id), u64::from(vertex));
                }
                Ok(())
            });
            launched.expect("no host fails");
        }
    }

    #[test]
    fn every_host_learns_what_it_asks_for() {
        let ring = |id: &dyn Fn(u64) -> String| -> String {
            (0..40).map(|v| format!("{} {}\n", id(v), id((v + 7) % 40))).collect()
        };
        ask_for_all(&ring(&|v| format!("{}", 5 + v)), |id| match id {
            OriginalId::Integer(id) => id - 5,
            OriginalId::Name(_) => panic!("integers"),
        });
        ask_for_all(&ring(&|v| format!("{}", 1000 * v * v)), |id| match id {
            OriginalId::Integer(id) => (id / 1000).isqrt(),
            OriginalId::Name(_) => panic!("integers"),
        });
        ask_for_all(&ring(&|v| format!("vertex-{v:02}")), |id| match id {
            OriginalId::Name(name) => {
                std::str::from_utf8(&name[7..]).expect("text").parse().expect("a number")
            }
            OriginalId::Integer(_) => panic!("names"),
        });
    }
}
