//! Files that a thread of this process is making: others who need the same one wait for it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, LazyLock, Mutex, PoisonError};

static CLAIMED: LazyLock<Mutex<HashSet<PathBuf>>> = LazyLock::new(Mutex::default);
static RELEASED: Condvar = Condvar::new();

/// The right to make a file, until this is dropped.
#[derive(Debug)]
pub struct Claim(PathBuf);

impl Claim {
    /// Waits until nobody else makes the file.
    pub fn of(file: &Path) -> Claim {
        let mut claimed = CLAIMED.lock().unwrap_or_else(PoisonError::into_inner);
        while !claimed.insert(file.to_path_buf()) {
            claimed = RELEASED
                .wait(claimed)
                .unwrap_or_else(PoisonError::into_inner);
        }
        Claim(file.to_path_buf())
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut claimed = CLAIMED.lock().unwrap_or_else(PoisonError::into_inner);
        claimed.remove(&self.0);
        RELEASED.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn one_thread_at_a_time_makes_a_file() {
        let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let _claim = Claim::of(Path::new("file"));
                    most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::sleep(std::time::Duration::from_millis(2));
                    inside.fetch_sub(1, Ordering::SeqCst);
                });
            }
            // Another file is nobody's.
            let _other = Claim::of(Path::new("other"));
        });
        assert_eq!(most.into_inner(), 1);
    }
}
