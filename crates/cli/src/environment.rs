//! What the surroundings say: the only place that looks at them.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use nearmiss_cc::Language;
use nearmiss_engine::EngineError;
use nearmiss_sandbox::Sandbox;
use nearmiss_search::Drill;

use crate::compiler::Driver;

/// The configuration of the compiler driver.
pub fn compiler_config() -> Result<nearmiss_compile::Config, String> {
    let directory = executables()?;
    let lookup = |name: &str| std::env::var(name).ok();
    Ok(nearmiss_compile::Config::from_lookup(&directory, lookup))
}

/// The user's compiler, to be wrapped: what the wrapper's name says, or `NEARMISS_CC` (for C++ `NEARMISS_CXX`), or the
/// system's.
pub fn wrapper_config(driver: &Driver) -> Result<nearmiss_cc::Config, String> {
    let variable = match driver.language {
        Language::C => "NEARMISS_CC",
        Language::Cplusplus => "NEARMISS_CXX",
    };
    let said = || {
        std::env::var(variable)
            .ok()
            .filter(|words| !words.trim().is_empty())
    };
    let named = driver.named.clone().or_else(said);
    let named = named.unwrap_or_else(|| driver.language.default_compiler().to_string());
    let first = named.split_whitespace().next().unwrap_or_default();
    let is_ours = Path::new(first)
        .file_name()
        .is_none_or(|name| name.to_string_lossy().starts_with("nearmiss"));
    if is_ours {
        return Err(format!(
            "{variable}: `{named}` is no compiler to wrap; name the compiler itself, such as gcc"
        ));
    }
    let directory = executables()?;
    Ok(nearmiss_cc::Config {
        compiler: named.split_whitespace().map(str::to_string).collect(),
        language: driver.language,
        library_directory: nearmiss_compile::config::library_directory(&directory),
        variables: header_variable(&directory).into_iter().collect(),
        keeps_sources: true,
    })
}

/// The variable by which harnesses find `nearmiss.h`, behind the directories that the user names.
fn header_variable(executables: &Path) -> Option<(&'static str, OsString)> {
    const NAME: &str = "C_INCLUDE_PATH";
    let headers = nearmiss_compile::config::include_directory(executables)?;
    let users = std::env::var_os(NAME).filter(|list| !list.is_empty());
    let mut list = users.map_or_else(OsString::new, |mut list| {
        list.push(":");
        list
    });
    list.push(headers);
    Some((NAME, list))
}

/// The directory in which this program lies.
fn executables() -> Result<PathBuf, String> {
    let this = std::env::current_exe().map_err(|error| format!("cannot find itself: {error}"))?;
    Ok(this.parent().unwrap_or(Path::new("/")).to_path_buf())
}

/// Where invented inputs are run.
pub fn sandbox(without: bool) -> Result<Sandbox, String> {
    if without {
        return Ok(Sandbox::none());
    }
    let this = std::env::current_exe().map_err(|error| format!("cannot find itself: {error}"))?;
    Ok(Sandbox::confined(vec![
        this.into(),
        crate::commands::sandbox::COMMAND.into(),
    ]))
}

/// The environment as it is.
pub fn variables() -> Vec<(OsString, OsString)> {
    std::env::vars_os().collect()
}

/// The working directory.
pub fn directory() -> Result<PathBuf, String> {
    std::env::current_dir().map_err(|error| format!("the working directory: {error}"))
}

/// For tests: a signal that this process sends itself behind a number of runs, as in
/// `NEARMISS_SIGNAL_AT=INT:60`.
pub fn drill() -> Option<Drill> {
    let text = std::env::var("NEARMISS_SIGNAL_AT").ok()?;
    let (signal, runs) = text.split_once(':')?;
    let act = match signal {
        "INT" => || crate::signals::send_to_self(libc::SIGINT),
        "KILL" => || crate::signals::send_to_self(libc::SIGKILL),
        _ => return None,
    };
    let runs = runs.parse().ok()?;
    Some(Drill { runs, act })
}

/// The time of day: `2026-11-16T08:00:00Z`.
pub fn now() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    date_and_time(since.map_or(0, |since| since.as_secs()))
}

/// So many seconds after the beginning of 1970, by the calendar.
fn date_and_time(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let is_leap =
        |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let (mut year, mut day) = (1970, days);
    while day >= 365 + u64::from(is_leap(year)) {
        day -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while day >= lengths[month] {
        day -= lengths[month];
        month += 1;
    }
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    let (month, day) = (month + 1, day + 1);
    format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Standard input, to be handed on.
pub fn stdin() -> Result<File, String> {
    let stdin = io::stdin();
    let copy = stdin.as_fd().try_clone_to_owned();
    copy.map(File::from)
        .map_err(|error| format!("standard input: {error}"))
}

/// The file of a program that was named as a shell would take it.
pub fn find_program(name: &OsStr) -> Result<PathBuf, EngineError> {
    let missing = || EngineError::NoSuchProgram(PathBuf::from(name));
    if Path::new(name).components().count() > 1 || name.as_encoded_bytes().contains(&b'/') {
        return std::path::absolute(name).map_err(|_| missing());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|directory| directory.join(name))
        .find(|candidate| candidate.is_file())
        .ok_or_else(missing)
}

/// A recording needs shadow memory, most of it never touched: more addresses than a limit on them
/// leaves. Said here, since a program that cannot record looks like one without checks.
pub fn check_address_space() -> Result<(), String> {
    let mut limit = libc::rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: the structure is plain data, and the call fills no more than it.
    let got = unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) };
    if got != 0 || limit.rlim_cur == libc::RLIM_INFINITY {
        return Ok(());
    }
    Err(format!(
        "the address space is limited to {} KiB (ulimit -v), and recording needs terabytes of addresses, not of \
         memory: ulimit -v unlimited",
        limit.rlim_cur / 1024
    ))
}

/// Whether this is a build on a server, where nobody looks at progress.
pub fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false")
}

/// Whether the terminal can draw over what it shows.
pub fn can_move_cursor() -> bool {
    std::env::var_os("TERM").is_some_and(|name| !name.is_empty() && name != "dumb")
}

/// How many columns the terminal at standard error has.
pub fn width() -> usize {
    // SAFETY: the structure is plain data, and the call fills no more than it.
    let columns = unsafe {
        let mut size: libc::winsize = std::mem::zeroed();
        match libc::ioctl(libc::STDERR_FILENO, libc::TIOCGWINSZ, &mut size) {
            0 => size.ws_col,
            _ => 0,
        }
    };
    match columns {
        0 => 80,
        columns => usize::from(columns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(date_and_time(seconds), expected);
        }
    }
}
