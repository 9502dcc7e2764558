//! A digest of an input that costs next to nothing, to tell later whether a file is still the same.
//!
//! It covers what is stored, packed or not: the size of every part, its first 64 KiB, and 64 blocks of
//! 4 KiB spread evenly over the rest, the last bytes among them. It finds another file and one that grew
//! or was cut; a change of a few bytes in the middle of a large file may escape it.

use super::{ByteSource, Part, Source};
use crate::Result;
use crate::hash::{GOLDEN_GAMMA, splitmix64};

/// Names the rule above; another rule gets another name.
const RULE: &str = "sampled-v1";
const HEAD_BYTES: u64 = 64 << 10;
const BLOCKS: u64 = 64;
const BLOCK_BYTES: u64 = 4 << 10;

impl Source {
    /// The digest, as `sampled-v1:` and 16 hexadecimal digits; `None` for what can be read only once.
    pub fn digest(&self) -> Result<Option<String>> {
        let mut digest = Digest(self.parts.len() as u64);
        for part in &self.parts {
            let Some(bytes) = part.stored()? else { return Ok(None) };
            digest.add_part(&bytes)?;
        }
        Ok(Some(format!("{RULE}:{:016x}", digest.0)))
    }
}

pub(super) struct Digest(pub(super) u64);

impl Digest {
    /// All of a part.
    pub(super) fn add_all(&mut self, bytes: &ByteSource<'_>) -> Result<()> {
        let mut blocks = (0..bytes.len()).step_by(HEAD_BYTES as usize);
        blocks.try_for_each(|at| self.add_range(bytes, at, HEAD_BYTES.min(bytes.len() - at)))
    }

    /// The size of a part, and samples of it.
    pub(super) fn add_part(&mut self, bytes: &ByteSource<'_>) -> Result<()> {
        let len = bytes.len();
        self.add_word(len);
        let head = len.min(HEAD_BYTES);
        self.add_range(bytes, 0, head)?;
        let block = (len - head).min(BLOCK_BYTES);
        let last = len - head - block;
        for number in 0..BLOCKS {
            let at = (u128::from(last) * u128::from(number) / u128::from(BLOCKS - 1)) as u64;
            self.add_range(bytes, head + at, block)?;
        }
        Ok(())
    }

    fn add_range(&mut self, bytes: &ByteSource<'_>, at: u64, len: u64) -> Result<()> {
        let mut buffer = vec![0; len as usize];
        bytes.read_at(at, &mut buffer)?;
        for chunk in buffer.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.add_word(u64::from_le_bytes(word));
        }
        Ok(())
    }

    fn add_word(&mut self, word: u64) {
        self.0 = splitmix64(self.0.wrapping_mul(GOLDEN_GAMMA) ^ word);
    }
}

impl Part {
    /// The bytes as they are stored; `None` for what can be read only once.
    pub(super) fn stored(&self) -> Result<Option<ByteSource<'static>>> {
        match self.is_stream() {
            true => Ok(None),
            false => {
                Part { compression: None, ..self.clone() }.bytes().map(|b| Some(b.into_owned()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_size_or_sampled_byte_is_another_digest() {
        let of = |bytes: &[u8]| Source::memory("x", bytes).unwrap().digest().unwrap().unwrap();
        let mut bytes: Vec<u8> = (0..300_000u32).map(|i| (i.wrapping_mul(i) >> 5) as u8).collect();
        let digest = of(&bytes);
        assert_eq!((digest.len(), &digest[..11]), (27, "sampled-v1:"));
        assert_eq!(of(&bytes), digest);
        for at in [0, 65_535, 299_999] {
            bytes[at] ^= 1;
            assert_ne!(of(&bytes), digest, "{at}");
            bytes[at] ^= 1;
        }
        assert_ne!(of(&bytes[..299_999]), digest);
        assert_ne!(of(b""), of(b"\0"));
    }
}
