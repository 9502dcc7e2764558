//! Arrays on a device, of all sizes around the chunks in which they travel.

use parton_gpu::driver::Address;
use parton_gpu::emulated::Settings;
use parton_gpu::memory::{Buffer, PinnedBuffer, Uploader};

use crate::common::{emulated, on_each_driver};

#[test]
fn arrays_of_all_sizes_arrive() {
    on_each_driver(|driver| {
        let uploader = Uploader::with_chunks(driver, 1000);
        for len in [0, 1, 2, 124, 125, 126, 249, 250, 251, 999, 2001] {
            let elements: Vec<u64> = (0..len).map(|i| i * 0x0123_4567_89ab).collect();
            assert_eq!(uploader.buffer(&elements).unwrap().to_vec().unwrap(), elements);
            assert_eq!(Buffer::from_slice(driver, &elements).unwrap().to_vec().unwrap(), elements);
        }
        // Elements that do not fill a chunk.
        let odd: Vec<[u8; 7]> =
            (0..1000u32).map(|i| [i as u8, (i >> 8) as u8, 3, 4, 5, 6, 7]).collect();
        assert_eq!(uploader.buffer(&odd).unwrap().to_vec().unwrap(), odd);
        uploader.release();
        assert_eq!(uploader.buffer(&odd).unwrap().to_vec().unwrap(), odd);
    });
}

#[test]
fn large_arrays_arrive() {
    on_each_driver(|driver| {
        let elements: Vec<u32> =
            (0..25 << 20).map(|i: u32| i.wrapping_mul(2_654_435_761)).collect();
        let uploader = Uploader::new(driver);
        assert!(uploader.buffer(&elements).unwrap().to_vec().unwrap() == elements);
    });
}

#[test]
fn elements_are_made_on_their_way() {
    on_each_driver(|driver| {
        let uploader = Uploader::with_chunks(driver, 4096);
        let mut buffer = Buffer::<u32>::zeroed(driver, 10_000).unwrap();
        let square = |range: std::ops::Range<usize>, place: &mut [u32]| {
            place.iter_mut().zip(range).for_each(|(place, i)| *place = (i * i) as u32);
        };
        uploader.upload_with(&mut buffer, 500, 9000, square).unwrap();
        let expected =
            |i: usize| if (500..9500).contains(&i) { ((i - 500) * (i - 500)) as u32 } else { 0 };
        assert!(buffer.to_vec().unwrap().into_iter().eq((0..10_000).map(expected)));
    });
}

#[test]
fn arrays_grow() {
    on_each_driver(|driver| {
        let mut buffer = Buffer::from_slice(driver, &[1u32, 2, 3]).unwrap();
        buffer.resize(5).unwrap();
        buffer.upload(3, &[4, 5]).unwrap();
        let address = buffer.address();
        buffer.resize(6).unwrap();
        assert_eq!((buffer.address(), buffer.len(), buffer.bytes()), (address, 6, 24));
        buffer.resize(2).unwrap();
        buffer.resize(5).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [1, 2, 3, 4, 5]);

        let mut pinned = PinnedBuffer::<u64>::new(driver, 2).unwrap();
        pinned.reserve(3).unwrap();
        assert!(pinned.len() >= 3 && pinned.iter().all(|value| *value == 0));
    });
    // Where twice as much is too much, enough will do.
    let driver = emulated(Settings { memory: 1000, ..Settings::default() });
    let mut buffer = Buffer::<u8>::new(&driver, 400).unwrap();
    buffer.resize(600).unwrap();
    assert_eq!(driver.free_memory().unwrap(), 400);
    assert!(buffer.resize(601).is_err());
    assert_eq!(buffer.len(), 600);
}

#[test]
fn empty_arrays_have_no_memory() {
    on_each_driver(|driver| {
        let mut buffer = Buffer::<u32>::zeroed(driver, 0).unwrap();
        assert_eq!((buffer.address(), buffer.is_empty()), (Address(0), true));
        buffer.upload(0, &[]).unwrap();
        assert!(buffer.to_vec().unwrap().is_empty());
        let mut pinned = PinnedBuffer::<u32>::new(driver, 0).unwrap();
        buffer.queue_download(0..0, &mut pinned, 0).unwrap();
        buffer.queue_upload(0, &pinned, 0..0).unwrap();
        buffer.resize(1).unwrap();
        assert_ne!(buffer.address(), Address(0));
        assert_eq!(Buffer::<()>::new(driver, 5).unwrap().len(), 5);
    });
}

#[test]
#[should_panic(expected = "elements 2..4 of 3")]
fn an_upload_past_the_end_is_a_bug() {
    let driver = emulated(Settings::default());
    let _ = Buffer::<u32>::new(&driver, 3).unwrap().upload(2, &[1, 2]);
}
