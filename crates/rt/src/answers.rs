//! What comes from outside and is neither input nor given again: results of functions without
//! instrumentation or model, bytes of files and pipes that are no input. A digest of each goes into the
//! trace, so that a run which takes another path can be asked what differed first.

use nearmiss_abi::event::{Event, EventKind};
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::CONCRETE;

use crate::runtime::Runtime;
use crate::server;

/// Maximum number of answers in a trace.
const MOST: u32 = 1 << 16;
/// Bytes that a digest is made of.
const MOST_BYTES: u64 = 4096;

impl Runtime {
    /// Something that is not recorded answered with `value`.
    pub fn note_answer(&mut self, value: u64, site: SiteId) {
        // An exploration has inputs of its own only, and thousands of runs.
        if self.answers >= MOST || server::is_asked() {
            return;
        }
        self.answers += 1;
        let event = Event {
            aux: folded(value),
            ..Event::new(EventKind::Answer, false, CONCRETE, site)
        };
        // Not by `append`: whether something sensitive happened is for the next event of the path to say.
        if let Err(full) = self.trace.append_event(&event) {
            self.stop_full(full);
        }
    }

    /// Bytes came that are no input.
    ///
    /// # Safety
    /// They are readable.
    pub unsafe fn note_answer_bytes(&mut self, (address, size): (u64, u64), site: SiteId) {
        let mut digest = size;
        for place in address..address + size.min(MOST_BYTES) {
            // SAFETY: as promised by the caller.
            let byte = unsafe { (place as *const u8).read() };
            digest = (digest ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        self.note_answer(digest, site);
    }
}

/// Sixteen bits of a value, to which all of it contributes.
fn folded(value: u64) -> u16 {
    (value.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as u16
}

#[cfg(test)]
mod tests {
    use super::folded;

    #[test]
    fn near_values_have_different_digests() {
        let digests: std::collections::HashSet<u16> = (0..256).map(folded).collect();
        assert_eq!(digests.len(), 256);
        assert_ne!(folded(u64::MAX), folded(u64::MAX >> 1));
    }
}
