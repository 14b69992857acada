//! The lines that a change adds: of a patch, or since a revision of git.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The lines that are new in C files. `change` is a file with a patch, or a revision.
pub fn changed_lines(change: &str) -> Result<Vec<(PathBuf, u32)>, String> {
    let (patch, root) = match Path::new(change).is_file() {
        true => {
            let text = std::fs::read(change).map_err(|error| format!("{change}: {error}"))?;
            (text, PathBuf::new())
        }
        false => {
            let root = git(&["rev-parse", "--show-toplevel"])?;
            let root = String::from_utf8_lossy(&root).trim().to_string();
            (
                git(&["diff", "-U0", "--no-color", "--no-ext-diff", change])?,
                root.into(),
            )
        }
    };
    let lines = lines(&String::from_utf8_lossy(&patch));
    let whole = |(file, line): (String, u32)| (root.join(file), line);
    Ok(lines.into_iter().map(whole).collect())
}

fn git(words: &[&str]) -> Result<Vec<u8>, String> {
    let output = Command::new("git").args(words).output();
    let output = output.map_err(|error| format!("git: {error}"))?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(format!(
            "--diff is a file with a patch or a revision: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        )),
    }
}

/// The new lines of a patch in the unified form, those of C files.
fn lines(patch: &str) -> Vec<(String, u32)> {
    let mut found = Vec::new();
    let mut file: Option<String> = None;
    let (mut line, mut left, mut old_left) = (0, 0, 0);
    for text in patch.lines() {
        if left == 0 && old_left == 0 {
            if let Some(name) = text.strip_prefix("+++ ") {
                file = new_name(name);
            } else if let Some(hunk) = hunk(text) {
                (old_left, line, left) = hunk;
            }
            continue;
        }
        match text.as_bytes().first() {
            Some(b'+') => {
                found.extend(file.clone().map(|file| (file, line)));
                (line, left) = (line + 1, left.saturating_sub(1));
            }
            Some(b'-') => old_left = u32::saturating_sub(old_left, 1),
            Some(b'\\') => {}
            _ => {
                (line, left) = (line + 1, u32::saturating_sub(left, 1));
                old_left = u32::saturating_sub(old_left, 1);
            }
        }
    }
    found
}

/// `b/lib/a.c`, without what git puts before it; `None` if it is no C file.
fn new_name(name: &str) -> Option<String> {
    let name = name.split('\t').next().unwrap_or(name);
    let name = name.strip_prefix("b/").unwrap_or(name);
    let extension = Path::new(name).extension()?.to_str()?;
    matches!(extension, "c" | "h" | "inc" | "y" | "l").then(|| name.to_string())
}

/// Of `@@ -3,2 +4,5 @@` how many old lines follow, the first new line and how many of them follow.
fn hunk(text: &str) -> Option<(u32, u32, u32)> {
    let (old, rest) = text.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let range = |words: &str| -> Option<(u32, u32)> {
        match words.split_once(',') {
            Some((first, count)) => Some((first.parse().ok()?, count.parse().ok()?)),
            None => Some((words.parse().ok()?, 1)),
        }
    };
    let ((_, old), (first, new)) = (range(old)?, range(new)?);
    Some((old, first, new))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_lines_are_counted_over_context_and_removed_ones() {
        let patch = "\
diff --git a/lib/a.c b/lib/a.c
--- a/lib/a.c
+++ b/lib/a.c
@@ -3,4 +3,5 @@ int f(void)
 same
-old
+new
+++ b/not a name.c
 same
 same
@@ -20 +21,0 @@
-gone
--- a/README
+++ b/README
@@ -1 +1 @@
-a
+b
--- /dev/null
+++ b/new.h
@@ -0,0 +1,2 @@
+one
+two
\\ No newline at end of file
";
        let found = lines(patch);
        let expected = [("lib/a.c", 4), ("lib/a.c", 5), ("new.h", 1), ("new.h", 2)];
        let found: Vec<(&str, u32)> = found.iter().map(|it| (it.0.as_str(), it.1)).collect();
        assert_eq!(found, expected);
    }
}
