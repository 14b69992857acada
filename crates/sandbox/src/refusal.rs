//! Why there is no sandbox, and what the user can do about it.

use std::fs;
use std::io;
use std::path::Path;

use crate::spec::{Report, Unavailable};

/// Why the program is not run.
#[derive(Clone, Debug)]
pub(crate) struct Refusal(pub Report);

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Refusal {
        Refusal(Report::NotStarted(error.to_string()))
    }
}

/// Says which feature of the kernel is missing where a system call fails.
pub(crate) trait Needs<T> {
    /// The feature that this call needs.
    fn needs(self, feature: &str) -> Result<T, Refusal>;
}

impl<T> Needs<T> for io::Result<T> {
    fn needs(self, feature: &str) -> Result<T, Refusal> {
        self.map_err(|error| {
            Refusal(Report::Unavailable(Unavailable {
                feature: feature.to_string(),
                error: error.to_string(),
                advice: Surroundings::look().advice().to_string(),
            }))
        })
    }
}

/// What may keep an unprivileged user from having namespaces.
#[derive(Debug, Default)]
struct Surroundings {
    most_user_namespaces: Option<u64>,
    /// Debian's switch.
    allowed_to_clone: Option<u64>,
    /// Ubuntu's switch.
    restricted_by_apparmor: Option<u64>,
    container: bool,
}

impl Surroundings {
    fn look() -> Surroundings {
        let number = |name: &str| {
            let text = fs::read_to_string(Path::new("/proc/sys").join(name)).ok()?;
            text.trim().parse().ok()
        };
        let marks = ["/.dockerenv", "/run/.containerenv"];
        Surroundings {
            most_user_namespaces: number("user/max_user_namespaces"),
            allowed_to_clone: number("kernel/unprivileged_userns_clone"),
            restricted_by_apparmor: number("kernel/apparmor_restrict_unprivileged_userns"),
            container: marks.iter().any(|mark| Path::new(mark).exists()),
        }
    }

    fn advice(&self) -> &'static str {
        if self.most_user_namespaces == Some(0) {
            "as root: sysctl user.max_user_namespaces=10000"
        } else if self.allowed_to_clone == Some(0) {
            "as root: sysctl kernel.unprivileged_userns_clone=1"
        } else if self.restricted_by_apparmor == Some(1) {
            "as root: sysctl kernel.apparmor_restrict_unprivileged_userns=0"
        } else if self.container {
            "start the container with --security-opt seccomp=unconfined --cap-add SYS_ADMIN"
        } else {
            "use Linux 5.12 or newer with user namespaces and overlayfs, outside of containers"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_switch_that_is_off_is_named() {
        type Change = fn(&mut Surroundings);
        let with = |change: Change| {
            let mut surroundings = Surroundings {
                most_user_namespaces: Some(9000),
                ..Default::default()
            };
            change(&mut surroundings);
            surroundings.advice()
        };
        let cases: [(Change, &str); 4] = [
            (
                |it| it.most_user_namespaces = Some(0),
                "user.max_user_namespaces",
            ),
            (
                |it| it.allowed_to_clone = Some(0),
                "kernel.unprivileged_userns_clone",
            ),
            (
                |it| it.restricted_by_apparmor = Some(1),
                "apparmor_restrict_unprivileged_userns",
            ),
            (|it| it.container = true, "--security-opt"),
        ];
        for (change, expected) in cases {
            assert!(with(change).contains(expected), "{expected}");
        }
        assert!(with(|_| ()).contains("Linux 5.12"));
    }
}
