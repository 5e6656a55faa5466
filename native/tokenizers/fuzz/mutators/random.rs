/// Random numbers from libFuzzer's seed (xorshift64*).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u32) -> Self {
        Self(u64::from(seed) << 20 | 0x9e37)
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % end.max(1)
    }
}

/// Applies libFuzzer's default mutation, which may add some bytes.
pub fn mutate_bytes(bytes: &mut Vec<u8>) {
    const ROOM: usize = 64;
    let size = bytes.len();
    bytes.resize(size + ROOM, 0);
    let size = libfuzzer_sys::fuzzer_mutate(bytes, size, size + ROOM);
    bytes.truncate(size);
}

/// Replaces libFuzzer's input by `changed`, if it fits.
pub fn replace(data: &mut [u8], changed: &[u8], most: usize) -> Option<usize> {
    if changed.len() > most || changed.len() > data.len() {
        return None;
    }
    data[..changed.len()].copy_from_slice(changed);
    Some(changed.len())
}
