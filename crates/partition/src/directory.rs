//! Masters that no formula gives, kept by the hosts that read: the reader of a vertex's row knows its
//! master, and everyone else asks.

use parton_net::{HostId, Net};

use crate::Result;
use crate::blocks::Blocks;
use crate::id_set::{IdSet, RankedIds};

/// The masters of this host's rows, and of the vertices those name.
pub struct Directory {
    readers: Blocks,
    first: u32,
    /// Of the vertices whose rows this host reads.
    block: Vec<HostId>,
    /// Of the other vertices that its rows name.
    others: RankedIds,
    other_masters: Vec<HostId>,
}

impl Directory {
    /// From the masters of this host's own rows. Every host must call this.
    pub(crate) fn new(
        net: &mut Net,
        readers: &Blocks,
        block: Vec<HostId>,
        targets: impl Iterator<Item = u32>,
    ) -> Result<Self> {
        let mine = readers.of(net.host());
        let named = IdSet::new(readers.num_vertices());
        targets.filter(|target| !mine.contains(target)).for_each(|target| named.insert(target));
        let ids: Vec<u32> = named.iter().collect();
        let mut directory = Directory {
            readers: readers.clone(),
            first: mine.start,
            block,
            others: named.ranked(),
            other_masters: Vec::new(),
        };
        directory.other_masters = directory.look_up(net, &ids)?;
        Ok(directory)
    }

    /// The master of a vertex that this host's rows name.
    pub(crate) fn known(&self, vertex: u32) -> HostId {
        match self.block.get(vertex.wrapping_sub(self.first) as usize) {
            Some(&master) => master,
            None => self.other_masters[self.others.rank(vertex)],
        }
    }

    /// The vertices whose rows this host reads, with their masters.
    pub(crate) fn block(&self) -> impl Iterator<Item = (u32, HostId)> + '_ {
        (self.first..).zip(self.block.iter().copied())
    }

    /// The masters of any vertices, which must ascend. Every host must call this.
    pub(crate) fn look_up(&self, net: &mut Net, vertices: &[u32]) -> Result<Vec<HostId>> {
        let mut questions = vec![Vec::new(); net.num_hosts()];
        for &vertex in vertices {
            questions[self.readers.owner(vertex).index()].extend_from_slice(&vertex.to_le_bytes());
        }
        let questions = net.all_to_all(questions)?;
        let answer = |question: Vec<u8>| {
            let vertices = question.chunks_exact(4).map(bytemuck::pod_read_unaligned);
            vertices
                .flat_map(|vertex: u32| self.block[(vertex - self.first) as usize].0.to_le_bytes())
                .collect()
        };
        let answers = net.all_to_all(questions.into_iter().map(answer).collect())?;
        // Questions ascended, so their answers, host after host, are in order.
        let hosts = answers.iter().flat_map(|answer| answer.chunks_exact(2));
        Ok(hosts.map(|host| HostId(bytemuck::pod_read_unaligned(host))).collect())
    }
}
