//! What every driver promises: copies, order, errors that say what happened, and that a lost device ends
//! in an error at whatever call it was lost.

use std::sync::Arc;

use bytemuck::bytes_of;
use parton_gpu::discover;
use parton_gpu::driver::Driver;
use parton_gpu::emulated::{Emulated, Settings};
use parton_gpu::memory::{Buffer, PinnedBuffer};
use parton_gpu::module::Module;
use parton_gpu::{Error, Result};

use crate::common::{emulated, grid, on_each_driver};

/// Adds a number to each element.
const ADD: &str =
    "extern \"C\" __global__ void add(unsigned int* values, unsigned int count, unsigned int by)
    {
        unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < count) values[i] += by;
    }";

#[test]
fn work_is_done_in_order() {
    on_each_driver(|driver| {
        let module = Module::load(driver, ADD, &["add"]).unwrap();
        let mut values = Buffer::<u32>::new(driver, 1000).unwrap();
        let mut pinned = PinnedBuffer::<u32>::new(driver, 1000).unwrap();
        let (count, by) = (1000u32, 7u32);
        for (index, value) in pinned.iter_mut().enumerate() {
            *value = index as u32;
        }
        values.queue_upload(0, &pinned, 0..1000).unwrap();
        for _ in 0..3 {
            let arguments = [values.argument(), bytes_of(&count), bytes_of(&by)];
            module.launch("add", grid(16, 64), &arguments).unwrap();
        }
        values.queue_fill_part(10..20, 0xff).unwrap();
        let mut copy = Buffer::<u32>::new(driver, 500).unwrap();
        copy.queue_copy(0, &values, 5..505).unwrap();
        values.queue_download(0..1000, &mut pinned, 0).unwrap();
        driver.synchronize().unwrap();
        let expected = |i: usize| if (10..20).contains(&i) { u32::MAX } else { i as u32 + 21 };
        assert!(pinned.iter().copied().eq((0..1000).map(expected)));
        assert!(copy.to_vec().unwrap().into_iter().eq((5..505).map(expected)));
    });
}

#[test]
fn kernels_write_to_pinned_memory() {
    on_each_driver(|driver| {
        let module = Module::load(driver, ADD, &["add"]).unwrap();
        let pinned = PinnedBuffer::<u32>::new(driver, 3).unwrap();
        let arguments = [pinned.argument(), bytes_of(&3u32), bytes_of(&5u32)];
        module.launch("add", grid(1, 32), &arguments).unwrap();
        driver.synchronize().unwrap();
        assert_eq!(pinned[..], [5; 3]);
        assert_eq!(pinned.poll(2), 5);
    });
}

#[test]
fn several_hosts_share_a_device() {
    on_each_driver(|driver| {
        let open = || match driver.info().name.as_str() {
            "emulated:0" => emulated(Settings::default()),
            name => discover::open(name).unwrap(),
        };
        std::thread::scope(|scope| {
            for host in 0..4u32 {
                scope.spawn(move || {
                    let driver = open();
                    let module = Module::load(&driver, ADD, &["add"]).unwrap();
                    let values = Buffer::<u32>::zeroed(&driver, 64).unwrap();
                    for _ in 0..100 {
                        let arguments = [values.argument(), bytes_of(&64u32), bytes_of(&host)];
                        module.launch("add", grid(1, 64), &arguments).unwrap();
                    }
                    assert_eq!(values.to_vec().unwrap(), [host * 100; 64]);
                });
            }
        });
    });
}

#[test]
fn a_driver_follows_its_host_to_another_thread() {
    on_each_driver(|driver| {
        let values = Buffer::from_slice(driver, &[1u32, 2, 3]).unwrap();
        let found = std::thread::scope(|scope| scope.spawn(|| values.to_vec()).join().unwrap());
        assert_eq!(found.unwrap(), [1, 2, 3]);
    });
}

#[test]
fn too_little_memory_is_an_error_with_numbers() {
    on_each_driver(|driver| {
        let all = driver.info().memory;
        let found = Buffer::<u8>::new(driver, all as usize + 1).map(drop);
        let Err(Error::OutOfMemory { needed, free, .. }) = found else {
            panic!("{found:?}");
        };
        assert!(needed == all + 1 && free <= all && free > 0, "{needed} {free}");
        // The device goes on.
        assert_eq!(Buffer::from_slice(driver, &[5u8; 3]).unwrap().to_vec().unwrap(), [5; 3]);
    });
    let driver = emulated(Settings { memory: 1000, ..Settings::default() });
    let first = Buffer::<u32>::new(&driver, 200).unwrap();
    assert_eq!(driver.free_memory().unwrap(), 200);
    assert!(Buffer::<u32>::new(&driver, 51).is_err());
    drop(first);
    Buffer::<u32>::new(&driver, 250).unwrap();
}

#[test]
fn a_text_that_does_not_compile_is_shown() {
    on_each_driver(|driver| {
        let text = "extern \"C\" __global__ void k() {\n    undeclared = 1;\n}";
        let message = Module::load(driver, text, &["k"]).map(drop).unwrap_err().to_string();
        assert!(message.contains("do not compile") && message.contains("undeclared"), "{message}");
        assert!(message.contains("    2 |     undeclared = 1;"), "{message}");
        let message = Module::load(driver, ADD, &["other"]).map(drop).unwrap_err().to_string();
        assert!(message.contains("other"), "{message}");
    });
}

#[test]
fn arguments_of_other_sizes_are_refused() {
    let driver = emulated(Settings::default());
    let module = Module::load(&driver, ADD, &["add"]).unwrap();
    let message = module.launch("add", grid(1, 1), &[&[0; 8], &[0; 4]]).unwrap_err().to_string();
    assert!(message.contains("[8, 4, 4]") && message.contains("got [8, 4]"), "{message}");
}

#[test]
fn copies_outside_of_memory_are_refused() {
    let driver = emulated(Settings::default());
    let memory = driver.allocate(100).unwrap();
    assert!(driver.upload(memory.plus(50), &[0; 51]).is_err());
    assert!(driver.queue_fill(memory, 0, 101).is_err());
    assert!(driver.queue_copy(memory, memory.plus(60), 50).is_err());
    driver.upload(memory.plus(50), &[0; 50]).unwrap();
    driver.free(memory);
    assert!(driver.download(memory, &mut [0; 1]).is_err());
    // Freeing it again is a mistake that the next call reports.
    driver.free(memory);
    assert!(driver.synchronize().unwrap_err().to_string().contains("not allocated"));
}

#[test]
fn a_host_that_does_not_wait_reads_the_past() {
    let driver = emulated(Settings::default());
    let values = Buffer::from_slice(&driver, &[9u32]).unwrap();
    let mut pinned = PinnedBuffer::new(&driver, 1).unwrap();
    values.queue_download(0..1, &mut pinned, 0).unwrap();
    assert_eq!(pinned[0], 0);
    driver.synchronize().unwrap();
    assert_eq!(pinned[0], 9);
}

/// A little of everything.
fn use_everything(driver: &Arc<dyn Driver>) -> Result<Vec<u32>> {
    let module = Module::load(driver, ADD, &["add"])?;
    let mut values = Buffer::<u32>::zeroed(driver, 8)?;
    let mut pinned = PinnedBuffer::<u32>::new(driver, 8)?;
    values.upload(0, &[1; 8])?;
    module.launch("add", grid(1, 8), &[values.argument(), bytes_of(&8u32), bytes_of(&2u32)])?;
    values.resize(20)?;
    values.queue_download(0..8, &mut pinned, 0)?;
    driver.synchronize()?;
    driver.free_memory()?;
    Ok(pinned.to_vec())
}

#[test]
fn a_device_may_be_lost_at_any_call() {
    let whole = Arc::new(Emulated::new(Settings::default()));
    let driver: Arc<dyn Driver> = whole.clone();
    assert_eq!(use_everything(&driver).unwrap(), [3; 8]);
    let num_calls = whole.num_calls();
    assert!(num_calls > 10);
    for calls in 0..num_calls {
        let driver: Arc<dyn Driver> = Arc::new(Emulated::failing_after(calls));
        let message = use_everything(&driver).unwrap_err().to_string();
        assert!(message.ends_with("lost"), "{calls}: {message}");
    }
    let driver: Arc<dyn Driver> = Arc::new(Emulated::failing_after(num_calls));
    use_everything(&driver).unwrap();
}

#[test]
fn a_failure_stays() {
    let driver = emulated(Settings::default());
    let text = "extern \"C\" __global__ void k() { __trap(); }";
    Module::load(&driver, text, &["k"]).unwrap().launch("k", grid(1, 1), &[]).unwrap();
    for _ in 0..2 {
        assert!(driver.synchronize().unwrap_err().to_string().contains("__trap"));
    }
    assert!(driver.allocate(1).is_err());
}

#[test]
fn devices_have_names() {
    assert_eq!(discover::open("emulated").unwrap().info().name, "emulated:0");
    for unknown in ["gpu:x", "tpu", ""] {
        let message = discover::open(unknown).map(drop).unwrap_err().to_string();
        assert!(message.contains("there is no device"), "{message}");
    }
    match discover::list() {
        Ok(devices) => assert!(devices.iter().all(|device| device.name.starts_with("gpu:"))),
        Err(reason) => {
            let reason = reason.to_string();
            assert!(reason.contains("GPU") || reason.contains("libnvrtc"), "{reason}");
            assert_eq!(discover::open("gpu").map(drop).unwrap_err().to_string(), reason);
        }
    }
}
