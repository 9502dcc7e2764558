//! Messages between hosts: order, early arrivals, sizes, counts.

use crate::{bytes, everywhere, number, scrambled};
use parton_net::{Error, HostId, Net, Tag, Traffic};

crate::cases! {
    order_holds_within_a_tag;
    messages_of_later_rounds_wait_for_their_round;
    every_message_arrives_exactly_once;
    empty_messages_and_messages_to_oneself_arrive;
    a_host_that_waits_for_itself_is_told_at_once;
    traffic_is_counted_by_peer;
}

fn order_holds_within_a_tag() {
    let tags = [Tag::user(1, 0), Tag::user(2, 0)];
    let program = |net: &mut Net| {
        for peer in net.peers() {
            for position in 0..20 {
                for tag in tags {
                    net.send(peer, tag, bytes(position))?;
                }
            }
        }
        // The second tag first: its messages have to be kept apart from the others.
        for tag in tags.into_iter().rev() {
            for position in 0..20 {
                for peer in net.peers() {
                    assert_eq!(number(&net.receive(peer, tag)?), position);
                }
            }
        }
        Ok(())
    };
    everywhere(4, 100, program, |_, ()| ());
}

fn messages_of_later_rounds_wait_for_their_round() {
    let program = |net: &mut Net| {
        let (me, last) = (net.host(), HostId(net.num_hosts() as u16 - 1));
        // The last host hears nothing until all have sent ten rounds ahead, barrier included.
        if me != last {
            for round in 0..10 {
                net.send(last, Tag::user(0, round), bytes(round))?;
            }
        }
        net.barrier()?;
        let mut sum = 0;
        if me == last {
            for round in (0..10).rev() {
                for _ in net.peers() {
                    sum += number(&net.receive_any(Tag::user(0, round))?.1);
                }
            }
            assert_eq!(net.try_receive(Tag::user(0, 0))?, None);
        }
        Ok(sum)
    };
    everywhere(4, 100, program, |host, sum| {
        assert_eq!(sum, if host == HostId(3) { 3 * 45 } else { 0 });
    });
}

fn every_message_arrives_exactly_once() {
    // Two rounds of unequal numbers of messages; sums show losses, repeats and mix-ups.
    let program = |net: &mut Net| {
        let (me, hosts) = (u64::from(net.host().0), net.num_hosts() as u64);
        let count = |from: u64, to: u64, round| scrambled(&[from, to, round]) % 5;
        let mut sum = 0u64;
        for round in 0..2 {
            for to in 0..hosts {
                for copy in 0..count(me, to, round) {
                    let contents = bytes(scrambled(&[me, to, round, copy]));
                    net.send(HostId(to as u16), Tag::user(7, round), contents)?;
                }
            }
            for _ in 0..(0..hosts).map(|from| count(from, me, round)).sum() {
                let (from, contents) = net.receive_any(Tag::user(7, round))?;
                sum = sum.wrapping_add(scrambled(&[from.0.into(), number(&contents)]));
            }
            let mut expected = 0u64;
            for from in 0..hosts {
                for copy in 0..count(from, me, round) {
                    let contents = scrambled(&[from, me, round, copy]);
                    expected = expected.wrapping_add(scrambled(&[from, contents]));
                }
            }
            assert_eq!(std::mem::take(&mut sum), expected, "host {me}, round {round}");
        }
        Ok(())
    };
    for hosts in [1, 2, 5] {
        everywhere(hosts, 100, program, |_, ()| ());
    }
}

fn empty_messages_and_messages_to_oneself_arrive() {
    let tag = Tag::user(3, 1);
    let program = |net: &mut Net| {
        for host in HostId::all(net.num_hosts()) {
            net.send(host, tag, Vec::new())?;
        }
        net.send(net.host(), tag, vec![1, 2, 3])?;
        for host in HostId::all(net.num_hosts()) {
            assert_eq!(net.receive(host, tag)?, []);
        }
        assert_eq!(net.receive_any(tag)?, (net.host(), vec![1, 2, 3]));
        assert_eq!(net.try_receive(tag)?, None);
        Ok(net.traffic(net.host()))
    };
    let own = Traffic { messages_sent: 2, bytes_sent: 3, messages_received: 2, bytes_received: 3 };
    for hosts in [1, 3] {
        everywhere(hosts, 20, program, |_, traffic| assert_eq!(traffic, own));
    }
}

fn a_host_that_waits_for_itself_is_told_at_once() {
    let program = |net: &mut Net| {
        let error = net.receive(net.host(), Tag::user(0, 0)).unwrap_err();
        assert!(matches!(error, Error::Silent { from, .. } if from == Some(net.host())));
        if net.num_hosts() == 1 {
            assert!(net.receive_any(Tag::user(0, 0)).is_err());
        }
        Ok(())
    };
    for hosts in [1, 2] {
        everywhere(hosts, 1, program, |_, ()| ());
    }
}

fn traffic_is_counted_by_peer() {
    let tag = Tag::user(0, 0);
    let program = |net: &mut Net| {
        let me = net.host().index();
        for peer in net.peers() {
            for _ in 0..=peer.index() {
                net.send(peer, tag, vec![0; 10 + me])?;
            }
        }
        for peer in net.peers() {
            for _ in 0..=me {
                net.receive(peer, tag)?;
            }
        }
        for peer in net.peers() {
            let (sent, received) = (peer.0 as u64 + 1, me as u64 + 1);
            let expected = Traffic {
                messages_sent: sent,
                bytes_sent: sent * (10 + me as u64),
                messages_received: received,
                bytes_received: received * (10 + peer.0 as u64),
            };
            assert_eq!(net.traffic(peer), expected);
        }
        assert_eq!(net.traffic(net.host()), Traffic::default());
        assert_eq!(net.traffic(HostId(99)), Traffic::default());
        Ok(net.total_traffic())
    };
    everywhere(3, 20, program, |host, total| {
        let me = u64::from(host.0);
        // Of the 1 + 2 + 3 messages from each host and the 10 + 11 + 12 bytes to each, less its own.
        let (sent, bytes) = (6 - (me + 1), 33 - (10 + me));
        assert_eq!((total.messages_sent, total.bytes_sent), (sent, sent * (10 + me)));
        assert_eq!(
            (total.messages_received, total.bytes_received),
            (2 * (me + 1), (me + 1) * bytes)
        );
    });
}
