//! Lines, from what `llvm-cov` writes for lcov's tools.

use std::path::Path;

use nearmiss_results::Covered;

use super::image::Function;

/// What ends the part about a file.
const END: &str = "end_of_record\n";

/// The lines of these functions that have code, and those of them that were run.
pub fn count<'a>(lcov: &str, functions: impl Iterator<Item = &'a Function>) -> Covered {
    let mut lines = Covered::default();
    for function in functions {
        let Some(whole) = function.mapping.regions.first() else {
            continue;
        };
        let own = |line: u32| (whole.start.0..=whole.end.0).contains(&line);
        let file = of_files(lcov, |name| is_named(&function.path, name));
        for times in rows(&file).filter(|(line, _)| own(*line)).map(|row| row.1) {
            lines.total += 1;
            lines.covered += u64::from(times > 0);
        }
    }
    lines
}

/// Whether clang's name of a file, which may be relative to where it is used, is that of this one.
pub fn is_named(path: &Path, name: &str) -> bool {
    let same = || Some(path.canonicalize().ok()? == Path::new(name).canonicalize().ok()?);
    path.ends_with(name) || same().unwrap_or(false)
}

/// `DA:line,times`
fn rows(lcov: &str) -> impl Iterator<Item = (u32, u64)> {
    lcov.lines().filter_map(|line| {
        let (line, times) = line.strip_prefix("DA:")?.split_once(',')?;
        Some((line.parse().ok()?, times.trim().parse().ok()?))
    })
}

/// The parts about these files, with the names that functions have there: static ones have that of
/// our own file before theirs.
pub fn of_files(lcov: &str, is_wanted: impl Fn(&str) -> bool) -> String {
    let wanted = |part: &&str| {
        let name = part.lines().find_map(|line| line.strip_prefix("SF:"));
        name.is_some_and(&is_wanted)
    };
    let parts = lcov.split_inclusive(END).filter(wanted);
    parts.flat_map(str::lines).map(plain_name).collect()
}

fn plain_name(line: &str) -> String {
    match line.split_once(',') {
        Some((head, name)) if head.starts_with("FN:") || head.starts_with("FNDA:") => {
            let name = name.rsplit([':', ';']).next().unwrap_or(name);
            format!("{head},{name}\n")
        }
        _ => format!("{line}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_users_file_with_its_own_names() {
        let lcov = "SF:/x/h.c\nDA:2,1\nend_of_record\n\
                    SF:/x/f.c\nFN:4,harness.c:f\nFNDA:1,harness.c:f\nDA:4,1\nend_of_record\n";
        let own = of_files(lcov, |name| name == "/x/f.c");
        let expected = "SF:/x/f.c\nFN:4,f\nFNDA:1,f\nDA:4,1\nend_of_record\n";
        assert_eq!(own, expected);
        assert_eq!(rows(&own).collect::<Vec<_>>(), [(4, 1)]);
    }
}
