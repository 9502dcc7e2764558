//! Contents of messages whose sums tell whether each arrived exactly once.

/// A number that depends on a few others in no simple way.
pub(crate) fn scrambled(numbers: &[u64]) -> u64 {
    numbers.iter().fold(0x9e37_79b9_7f4a_7c15, |hash, number| {
        (hash ^ number).wrapping_mul(0xbf58_476d_1ce4_e5b9).rotate_left(31)
    })
}

/// A number as a message.
pub(crate) fn bytes(number: u64) -> Vec<u8> {
    number.to_le_bytes().to_vec()
}

/// A message as a number.
pub(crate) fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().unwrap())
}
