//! The meeting place: whether an ancestor of this process wants it captured, and where to.

use nearmiss_abi::capture::MEETING_PREFIX;

use super::kernel::{self, kind, open};
use crate::auxiliary;
use crate::system;
use crate::text::{Text, parse_number};

/// How many ancestors are asked.
const MOST_ANCESTORS: u32 = 256;
/// How often the walk starts anew because somebody on the way ended.
const TRIES: u32 = 8;

/// What a meeting place says: `DIRECTORY\0OPTIONS\0`.
pub type Message = Text<8192>;

/// Looks for the meeting place of an ancestor; its content is then in `message`.
pub fn find(message: &mut Message) -> bool {
    let user = auxiliary::value(auxiliary::kind::USER) as u32;
    let mut place = Text::<128>::EMPTY;
    if !(place.push(MEETING_PREFIX.as_bytes()) && place.push_number(user)) {
        return false;
    }
    let how = open::PATH | open::DIRECTORY | open::NOFOLLOW | open::CLOEXEC;
    // SAFETY: a text ends with a zero.
    let Ok(fd) = (unsafe { system::open(place.as_ptr(), how, 0) }) else {
        return false;
    };
    let is_safe = belongs_to(fd, kind::DIRECTORY, user);
    system::close(fd);
    is_safe && (0..TRIES).find_map(|_| walk(&mut place, user, message)) == Some(true)
}

/// Whether the open file is of this kind, is the user's, and nobody else can write to it.
fn belongs_to(fd: i32, kind: u32, user: u32) -> bool {
    kernel::details(fd).is_ok_and(|details| {
        details.kind() == kind && details.owner() == user && details.permissions() & 0o022 == 0
    })
}

/// Asks one ancestor after the other. `None` if one of them was gone: its children have
/// another parent by then.
fn walk(place: &mut Text<128>, user: u32, message: &mut Message) -> Option<bool> {
    let mut process = kernel::parent();
    let directory = place.text().len();
    for _ in 0..MOST_ANCESTORS {
        if process == 0 {
            return Some(false);
        }
        let ancestor = Ancestor::read(process)?;
        let named = place.push(b"/")
            && place.push_number(process)
            && place.push(b"-")
            && push_large_number(place, ancestor.start);
        let found = named && read_message(place, user, message);
        place.shorten(directory);
        if found {
            return Some(true);
        }
        process = ancestor.parent;
    }
    Some(false)
}

/// Appends a number that may have more than 32 bits.
pub fn push_large_number<const N: usize>(text: &mut Text<N>, number: u64) -> bool {
    const BILLION: u64 = 1_000_000_000;
    if number < BILLION {
        return text.push_number(number as u32);
    }
    let mut digits = [b'0'; 9];
    let mut rest = number % BILLION;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    push_large_number(text, number / BILLION) && text.push(&digits)
}

fn read_message(place: &Text<128>, user: u32, message: &mut Message) -> bool {
    let how = open::NOFOLLOW | open::CLOEXEC | open::NONBLOCK;
    // SAFETY: a text ends with a zero.
    let Ok(fd) = (unsafe { system::open(place.as_ptr(), how, 0) }) else {
        return false;
    };
    let read = belongs_to(fd, kind::REGULAR, user)
        && message.write(|bytes| {
            // SAFETY: a slice has room for its size.
            unsafe { system::pread(fd, bytes.as_mut_ptr(), bytes.len(), 0) }
        });
    system::close(fd);
    read
}

/// What `/proc/PID/stat` says of a process.
#[derive(Debug, PartialEq, Eq)]
pub struct Ancestor {
    /// Its parent.
    pub parent: u32,
    start: u64,
}

impl Ancestor {
    /// Reads it; `None` if the process is gone.
    pub fn read(process: u32) -> Option<Ancestor> {
        let mut path = Text::<32>::EMPTY;
        let fits = path.push(b"/proc/") && path.push_number(process) && path.push(b"/stat");
        if !fits {
            return None;
        }
        // SAFETY: a text ends with a zero.
        let fd = unsafe { system::open(path.as_ptr(), open::CLOEXEC, 0) }.ok()?;
        let mut content = [0u8; 1024];
        // SAFETY: the array has room for its size.
        let read = unsafe { system::pread(fd, content.as_mut_ptr(), content.len(), 0) };
        system::close(fd);
        Ancestor::parse(content.get(..read.ok()?)?)
    }

    /// The name, field 2, is in parentheses and may have anything in it, also parentheses.
    fn parse(line: &[u8]) -> Option<Ancestor> {
        let name_end = line.iter().rposition(|&byte| byte == b')')?;
        // What follows is a space and field 3.
        let fields = line.get(name_end + 2..)?;
        let field = |number: usize| fields.split(|&byte| byte == b' ').nth(number - 3);
        Some(Ancestor {
            parent: parse_number(field(4)?)? as u32,
            start: parse_number(field(22)?)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_processes_may_have_anything_in_them() {
        let line = b"12 (a) b (c)) S 34 1 1 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654321012 5 6";
        let expected = Ancestor {
            parent: 34,
            start: 987654321012,
        };
        assert_eq!(Ancestor::parse(line), Some(expected));
        for size in 0..60 {
            assert_eq!(Ancestor::parse(&line[..size]), None, "{size}");
        }
    }

    #[test]
    fn this_process_has_a_parent() {
        let ancestor = Ancestor::read(std::process::id()).unwrap();
        assert_eq!(ancestor.parent, std::os::unix::process::parent_id());
        assert_ne!(ancestor.start, 0);
    }

    #[test]
    fn large_numbers() {
        for number in [0, 999_999_999, 1_000_000_000, 20_000_000_003, u64::MAX] {
            let mut text = Text::<32>::EMPTY;
            assert!(push_large_number(&mut text, number));
            assert_eq!(text.text(), number.to_string().as_bytes());
        }
    }
}
