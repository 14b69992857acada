//! Lines, from what `llvm-cov` writes for lcov's tools.

use nearmiss_results::Covered;

use super::image::Function;

/// The lines of these functions that have code, and those of them that were run.
pub fn count<'a>(lcov: &str, functions: impl Iterator<Item = &'a Function>) -> Covered {
    let mut lines = Covered::default();
    for function in functions {
        let Some(whole) = function.mapping.regions.first() else {
            continue;
        };
        let own = |line: u32| (whole.start.0..=whole.end.0).contains(&line);
        for times in rows(lcov).filter(|(line, _)| own(*line)).map(|row| row.1) {
            lines.total += 1;
            lines.covered += u64::from(times > 0);
        }
    }
    lines
}

/// `DA:line,times`
fn rows(lcov: &str) -> impl Iterator<Item = (u32, u64)> {
    lcov.lines().filter_map(|line| {
        let (line, times) = line.strip_prefix("DA:")?.split_once(',')?;
        Some((line.parse().ok()?, times.trim().parse().ok()?))
    })
}

/// Static functions have the name of our own file before theirs; that says nothing to anybody.
pub fn plain_names(lcov: &str) -> String {
    let plain = |line: &str| match line.split_once(',') {
        Some((head, name)) if head.starts_with("FN:") || head.starts_with("FNDA:") => {
            let name = name.rsplit([':', ';']).next().unwrap_or(name);
            format!("{head},{name}\n")
        }
        _ => format!("{line}\n"),
    };
    lcov.lines().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_source() {
        let lcov = "SF:/x/f.c\nFN:4,harness.c:f\nFNDA:1,harness.c:f\nDA:4,1\n";
        assert_eq!(plain_names(lcov), "SF:/x/f.c\nFN:4,f\nFNDA:1,f\nDA:4,1\n");
        assert_eq!(rows(lcov).collect::<Vec<_>>(), [(4, 1)]);
    }
}
