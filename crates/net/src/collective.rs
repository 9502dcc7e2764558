//! What all hosts do together: barrier, reduce, gather, broadcast, exchange.
//!
//! Every host must make the same calls in the same order. Hosts form a circle, and no call returns before it has a
//! message of the host before it. If hosts disagree, two neighbours do, and the second of them finds out at once (see
//! `call`).
//!
//! - **Barrier and reduce** use dissemination: in step `k` a host passes what it knows to the host
//!   2ᵏ further on, so after ⌈log₂ p⌉ hops all know everything. Gathering at one host and
//!   broadcasting would take twice the hops, or make one host handle p messages in a row. A reduce
//!   passes on the *values* of all hosts rather than partial sums, and each host folds them in host
//!   order: floating-point results are then the same on all hosts, in all runs. The price is p values
//!   per message. A long slice is therefore reduced in ranges: one host folds a range, in the same
//!   order, and sends the result to all (reduce-scatter and all-gather; Rabenseifner 2004). No host
//!   then holds more than a few times its own slice.
//! - **Broadcast** follows a binomial tree from the root: ⌈log₂ p⌉ hops.
//! - **Gathers and exchanges** send straight to their destination, so large buffers travel once and
//!   are moved, not copied.
//!
//! Broadcast and gather do not pass from each host to the next by themselves; an empty message does.

mod call;

use bytemuck::Pod;

pub(crate) use call::Calls;
pub use call::Collective;

use crate::error::{Error, Result};
use crate::host::HostId;
use crate::net::Net;
use crate::transport::Tag;

/// Slices up to this length are passed on whole, which takes the fewest hops.
const MAX_DISSEMINATED_BYTES: usize = 4096;
/// A host that folds a range of a long slice folds at least this many bytes of it.
const MIN_RANGE_BYTES: usize = 4096;

/// Folds the elements of another host into those at hand, which come before them.
type FoldBytes<'f> = &'f dyn Fn(&mut [u8], &[u8]);

impl Net {
    /// Returns when all hosts have called it.
    pub fn barrier(&mut self) -> Result<()> {
        self.call(Collective::Barrier, |net, tag| {
            net.disseminate(Collective::Barrier, tag, Vec::new(), 0).map(|_| ())
        })
    }

    /// Folds the values of all hosts, in host order: `fold(fold(host 0, host 1), host 2)` …
    ///
    /// ```
    /// # use parton_net::{Cluster, Error, HostId};
    /// let sums = Cluster::local(3).launch(|net| {
    ///     net.all_reduce(u64::from(net.host().0) + 1, |a, b| a + b)
    /// });
    /// assert_eq!(sums.unwrap(), [6, 6, 6]);
    /// ```
    pub fn all_reduce<T: Pod>(&mut self, value: T, fold: impl Fn(T, T) -> T) -> Result<T> {
        let mut values = [value];
        self.all_reduce_slice(&mut values, fold)?;
        Ok(values[0])
    }

    /// Folds slices of one length element by element, in host order.
    pub fn all_reduce_slice<T: Pod>(
        &mut self,
        values: &mut [T],
        fold: impl Fn(T, T) -> T,
    ) -> Result<()> {
        let width = size_of::<T>().max(1);
        let fold_bytes = |mine: &mut [u8], theirs: &[u8]| {
            let read = bytemuck::pod_read_unaligned::<T>;
            for (value, their) in mine.chunks_exact_mut(width).zip(theirs.chunks_exact(width)) {
                let folded = fold(read(value), read(their));
                value.copy_from_slice(bytemuck::bytes_of(&folded));
            }
        };
        self.reduce_bytes(bytemuck::cast_slice_mut(values), width, &fold_bytes)
    }

    /// Folds slices of elements of `width` bytes. Not generic: programs do not compile this again for every fold.
    fn reduce_bytes(&mut self, values: &mut [u8], width: usize, fold: FoldBytes<'_>) -> Result<()> {
        let (me, hosts, size) = (self.host().index(), self.num_hosts(), values.len());
        if size > MAX_DISSEMINATED_BYTES && hosts > 1 {
            return self.call(Collective::AllReduce, |net, tag| {
                net.reduce_in_ranges(tag, values, width, fold)
            });
        }
        let mine = values.to_vec();
        let all = self.call(Collective::AllReduce, |net, tag| {
            net.disseminate(Collective::AllReduce, tag, mine, size)
        })?;
        for host in 0..hosts {
            let place = (me + hosts - host) % hosts * size;
            let theirs = &all[place..place + size];
            match host {
                0 => values.copy_from_slice(theirs),
                _ => fold(values, theirs),
            }
        }
        Ok(())
    }

    /// Everyone's bytes, in host order, at every host.
    pub fn all_gather(&mut self, bytes: Vec<u8>) -> Result<Vec<Vec<u8>>> {
        self.call(Collective::AllGather, |net, tag| {
            for peer in net.peers() {
                net.send(peer, tag, bytes.clone())?;
            }
            net.collect(tag, bytes)
        })
    }

    /// Everyone's bytes, in host order, at every host: at most 255 from each. They are passed on in
    /// ⌈log₂ p⌉ hops, where [`Net::all_gather`] sends p messages.
    ///
    /// # Panics
    ///
    /// With more bytes.
    pub fn all_gather_short(&mut self, bytes: &[u8]) -> Result<Vec<Vec<u8>>> {
        let length = u8::try_from(bytes.len()).expect("at most 255 bytes");
        let (host, hosts, call) = (self.host(), self.num_hosts(), Collective::AllReduce);
        // Blocks as they travel, each after its length: this host's, that of the host before it, …
        let mut blocks = [&[length], bytes].concat();
        let mut ends = vec![blocks.len()];
        self.call(call, |net, tag| {
            while ends.len() < hosts {
                let (known, count) = (ends.len(), ends.len().min(hosts - ends.len()));
                let to = HostId(((host.index() + known) % hosts) as u16);
                let from = HostId(((host.index() + hosts - known) % hosts) as u16);
                net.send(to, tag, blocks[..ends[count - 1]].to_vec())?;
                let theirs = net.receive(from, tag)?;
                let start = blocks.len();
                blocks.extend_from_slice(&theirs);
                for _ in 0..count {
                    let last = *ends.last().expect("this host's block");
                    ends.push(last + 1 + usize::from(blocks.get(last).copied().unwrap_or(0)));
                }
                if ends.last() != Some(&blocks.len()) {
                    let (expected, found) = (ends[known + count - 1] - start, theirs.len());
                    return Err(Error::Length { host, peer: from, call, expected, found });
                }
            }
            Ok(())
        })?;
        let block = |place: usize| {
            let start = if place == 0 { 0 } else { ends[place - 1] };
            blocks[start + 1..ends[place]].to_vec()
        };
        Ok((0..hosts).map(|from| block((host.index() + hosts - from) % hosts)).collect())
    }

    /// Everyone's bytes, in host order, at the root; `None` elsewhere.
    pub fn gather(&mut self, root: HostId, bytes: Vec<u8>) -> Result<Option<Vec<Vec<u8>>>> {
        self.check_host(root)?;
        self.call(Collective::Gather { root }, |net, tag| {
            net.agree(tag)?;
            if net.host() == root {
                net.collect(tag, bytes).map(Some)
            } else {
                net.send(root, tag, bytes).map(|()| None)
            }
        })
    }

    /// The root's bytes at every host. What the others pass is ignored.
    pub fn broadcast(&mut self, root: HostId, bytes: Vec<u8>) -> Result<Vec<u8>> {
        self.check_host(root)?;
        self.call(Collective::Broadcast { root }, |net, tag| {
            net.agree(tag)?;
            let hosts = net.num_hosts();
            let host = |place: usize| HostId(((place + root.index()) % hosts) as u16);
            // Places count from the root. A place's parent is the place without its highest bit;
            // its children are itself with one higher bit.
            let place = (net.host().index() + hosts - root.index()) % hosts;
            let first_child = (place + 1).next_power_of_two();
            let bytes = match place {
                0 => bytes,
                _ => net.receive(host(place - first_child / 2), tag)?,
            };
            let bits = (0..usize::BITS).map(|bit| 1 << bit);
            let bits = bits.skip_while(|&bit| bit < first_child);
            for child in bits.map(|bit: usize| place + bit).take_while(|&child| child < hosts) {
                net.send(host(child), tag, bytes.clone())?;
            }
            Ok(bytes)
        })
    }

    /// Sends `buffers[h]` to host `h`; returns what host `h` sent here at place `h`. Buffers are
    /// moved.
    pub fn all_to_all(&mut self, mut buffers: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>> {
        let (host, given, hosts) = (self.host(), buffers.len(), self.num_hosts());
        if given != hosts {
            return Err(Error::Buffers { host, given, hosts });
        }
        self.call(Collective::AllToAll, |net, tag| {
            for peer in net.peers() {
                net.send(peer, tag, std::mem::take(&mut buffers[peer.index()]))?;
            }
            net.collect(tag, std::mem::take(&mut buffers[host.index()]))
        })
    }

    /// Tells the next host that this one has come to the call, and hears it from the one before.
    fn agree(&mut self, tag: Tag) -> Result<()> {
        let (me, hosts) = (self.host().index(), self.num_hosts());
        if hosts > 1 {
            self.send(HostId(((me + 1) % hosts) as u16), tag, Vec::new())?;
            self.receive(HostId(((me + hosts - 1) % hosts) as u16), tag)?;
        }
        Ok(())
    }

    /// One message from each peer, and this host's own, in host order.
    fn collect(&mut self, tag: Tag, mut mine: Vec<u8>) -> Result<Vec<Vec<u8>>> {
        let me = self.host();
        HostId::all(self.num_hosts())
            .map(|from| match from == me {
                true => Ok(std::mem::take(&mut mine)),
                false => self.receive(from, tag),
            })
            .collect()
    }

    /// Folds a long slice: each of the first hosts folds one range of it and sends the result to all.
    /// Messages of one host under one tag keep their order: its values come before its result.
    fn reduce_in_ranges(
        &mut self,
        tag: Tag,
        values: &mut [u8],
        width: usize,
        fold: FoldBytes<'_>,
    ) -> Result<()> {
        let (me, hosts, call) = (self.host(), self.num_hosts(), Collective::AllReduce);
        let folding = values.len().div_ceil(MIN_RANGE_BYTES).min(hosts);
        let length = values.len() / width;
        let range = |host: HostId| {
            let start = |place: usize| length * place.min(folding) / folding * width;
            start(host.index())..start(host.index() + 1)
        };
        let mine = range(me);
        self.agree(tag)?;
        for peer in self.peers().filter(|peer| peer.index() < folding).collect::<Vec<_>>() {
            self.send(peer, tag, values[range(peer)].to_vec())?;
        }
        let check = |peer: HostId, expected: usize, found: usize| match expected == found {
            true => Ok(()),
            false => Err(Error::Length { host: me, peer, call, expected, found }),
        };
        if me.index() < folding {
            let own = values[mine.clone()].to_vec();
            for host in HostId::all(hosts) {
                let received = if host == me { Vec::new() } else { self.receive(host, tag)? };
                let theirs = if host == me { &own } else { &received };
                check(host, own.len(), theirs.len())?;
                match host.index() {
                    0 => values[mine.clone()].copy_from_slice(theirs),
                    _ => fold(&mut values[mine.clone()], theirs),
                }
            }
            let folded = values[mine].to_vec();
            for peer in self.peers().collect::<Vec<_>>() {
                self.send(peer, tag, folded.clone())?;
            }
        }
        for host in HostId::all(folding).filter(|&host| host != me) {
            let (place, folded) = (range(host), self.receive(host, tag)?);
            check(host, place.len(), folded.len())?;
            values[place].copy_from_slice(&folded);
        }
        Ok(())
    }

    /// Everyone's block of `size` bytes at every host: first its own, then that of the host before
    /// it, and so on around the circle.
    fn disseminate(
        &mut self,
        call: Collective,
        tag: Tag,
        mut blocks: Vec<u8>,
        size: usize,
    ) -> Result<Vec<u8>> {
        let (host, hosts) = (self.host(), self.num_hosts());
        let mut known = 1;
        while known < hosts {
            let count = known.min(hosts - known);
            let to = HostId(((host.index() + known) % hosts) as u16);
            let from = HostId(((host.index() + hosts - known) % hosts) as u16);
            self.send(to, tag, blocks[..count * size].to_vec())?;
            let theirs = self.receive(from, tag)?;
            if theirs.len() != count * size {
                let (expected, found) = (count * size, theirs.len());
                return Err(Error::Length { host, peer: from, call, expected, found });
            }
            blocks.extend(theirs);
            known += count;
        }
        Ok(blocks)
    }
}
