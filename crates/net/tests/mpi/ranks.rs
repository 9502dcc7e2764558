//! What only ranks have to show: messages of every size, slow receivers, idle waiting, launch after
//! launch.

use std::time::Duration;

use crate::{HOSTS, bytes, everywhere, number, scrambled};
use parton_net::{Error, HostId, Net, Tag};

crate::cases! {
    messages_of_all_sizes_keep_their_order;
    exchanges_larger_than_any_buffer_end;
    a_slow_receiver_slows_its_senders;
    a_waiting_host_leaves_its_core_to_others;
    a_message_may_be_larger_than_mpi_can_count;
    a_failed_launch_does_not_spoil_the_next;
}

const TAG: Tag = Tag::user(0, 0);

/// Something for a host, whose places matter.
fn contents(from: u64, length: usize) -> Vec<u8> {
    let mut state = scrambled(&[from, length as u64]);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state.to_le_bytes()
    };
    let mut contents: Vec<u8> = Vec::with_capacity(length + 8);
    while contents.len() < length {
        contents.extend(next());
    }
    contents.truncate(length);
    contents
}

fn messages_of_all_sizes_keep_their_order() {
    const FRAME: usize = 64 << 10;
    const PART: usize = 4 << 20;
    let sizes = [3, FRAME, 0, FRAME + 1, 1, PART, PART + 1, 7, 5 * PART - 1, 2, FRAME - 1];
    let program = |net: &mut Net| {
        for peer in net.peers() {
            for size in sizes {
                net.send(peer, TAG, contents(net.host().0.into(), size))?;
            }
        }
        for peer in net.peers() {
            for size in sizes {
                let received = net.receive(peer, TAG)?;
                assert!(received == contents(peer.0.into(), size), "{size} from {peer}");
            }
        }
        Ok(())
    };
    HOSTS.into_iter().for_each(|hosts| everywhere(hosts, 1, program, |_, ()| ()));
}

fn exchanges_larger_than_any_buffer_end() {
    // More than a host keeps and more than a window, from everyone to everyone, and nobody receives
    // before it has sent all.
    const LENGTH: usize = 90 << 20;
    let program = |net: &mut Net| {
        let (me, hosts) = (net.host().index(), net.num_hosts());
        let copies = 8 / hosts;
        for copy in 0..copies {
            for peer in net.peers() {
                let mut buffer = vec![me as u8; LENGTH];
                buffer[copy] = 100;
                net.send(peer, TAG, buffer)?;
            }
        }
        for copy in 0..copies {
            for peer in net.peers() {
                let received = net.receive(peer, TAG)?;
                assert!(received.len() == LENGTH && received[copy] == 100);
                assert!(received[copy + 1..].iter().all(|&byte| usize::from(byte) == peer.index()));
            }
        }
        Ok(())
    };
    everywhere(2, 1, program, |_, ()| ());
}

/// A line of what the system knows of this process, in kilobytes.
fn memory(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim_start_matches(':').trim().trim_end_matches(" kB").parse().unwrap()
}

fn a_slow_receiver_slows_its_senders() {
    const MESSAGES: u64 = 3000;
    const LENGTH: usize = 1 << 20;
    let program = |net: &mut Net| {
        let before = memory("VmRSS");
        let mut most = before;
        if net.host() == HostId(0) {
            for message in 0..MESSAGES {
                let mut buffer = vec![1; LENGTH];
                buffer[..8].copy_from_slice(&bytes(message));
                net.send(HostId(1), TAG, buffer)?;
                most = most.max(memory("VmRSS"));
            }
        } else if net.host() == HostId(1) {
            for message in 0..MESSAGES {
                // Slow in the beginning, so that everything piles up somewhere.
                if message < 10 {
                    std::thread::sleep(Duration::from_millis(50));
                }
                let received = net.receive(HostId(0), TAG)?;
                assert_eq!(number(&received[..8]), message);
                most = most.max(memory("VmRSS"));
            }
        }
        net.barrier()?;
        Ok((most - before) >> 10)
    };
    everywhere(2, 1, program, |host, megabytes| {
        assert!(megabytes < 900, "host {host} held {megabytes} of {MESSAGES} MiB");
    });
}

/// Seconds of all cores that this process has used.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<_> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: f64 = fields[11..13].iter().map(|field| field.parse::<f64>().unwrap()).sum();
    ticks / 100.0
}

fn a_waiting_host_leaves_its_core_to_others() {
    let program = |net: &mut Net| {
        net.barrier()?;
        if net.host() == HostId(0) {
            std::thread::sleep(Duration::from_secs(2));
            net.peers().try_for_each(|peer| net.send(peer, TAG, Vec::new()))?;
            return Ok(0.0);
        }
        let before = cpu_seconds();
        net.receive(HostId(0), TAG)?;
        Ok(cpu_seconds() - before)
    };
    // With as many ranks only as the smallest machine has cores, and with more.
    everywhere(4, 1, program, |host, used| assert!(used < 0.5, "host {host} used {used} s"));
}

fn a_message_may_be_larger_than_mpi_can_count() {
    let length = i32::MAX as usize + 9;
    let program = |net: &mut Net| {
        if net.host() == HostId(0) {
            let mut buffer = vec![0; length];
            (buffer[0], buffer[length - 1]) = (1, 2);
            net.send(HostId(2), TAG, buffer)?;
        } else if net.host() == HostId(2) {
            let received = net.receive(HostId(0), TAG)?;
            assert_eq!((received.len(), received[0], received[length - 1]), (length, 1, 2));
        }
        Ok(())
    };
    // Once will do.
    if std::env::var_os("OMPI_COMM_WORLD_SIZE").is_some() {
        everywhere(3, 1, program, |_, ()| ());
    }
}

fn a_failed_launch_does_not_spoil_the_next() {
    let failing = |net: &mut Net| {
        net.barrier()?;
        // What is under way when a host fails is nobody's in the next launch.
        for peer in net.peers() {
            net.send(peer, TAG, vec![9; 100_000])?;
        }
        if net.host() == HostId(1) {
            return Err(Error::HostLost { host: HostId(1) });
        }
        let error = net.barrier().unwrap_err();
        // Host 1 or one that missed it first.
        assert!(matches!(error, Error::HostLost { .. }), "{error}");
        Err(error)
    };
    let working = |net: &mut Net| {
        for peer in net.peers() {
            net.send(peer, TAG, bytes(7))?;
        }
        for peer in net.peers() {
            assert_eq!(number(&net.receive(peer, TAG)?), 7);
        }
        net.all_reduce(1u64, |a, b| a + b)
    };
    {
        let mut guard = crate::CLUSTER.lock().unwrap();
        let (cluster, _) = guard.as_mut().expect("a cluster");
        for _ in 0..20 {
            assert!(cluster.launch::<(), Error, _>(failing).is_err());
            assert_eq!(cluster.launch(working).unwrap(), [cluster.num_hosts() as u64]);
        }
    }
}
