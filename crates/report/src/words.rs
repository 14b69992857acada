//! Numbers in words.

/// `1 test`, `2 tests`.
pub fn counted(count: u64, noun: &str) -> String {
    match noun.strip_suffix("ry") {
        _ if count == 1 => format!("{count} {noun}"),
        Some(stem) => format!("{count} {stem}ries"),
        None => format!("{count} {noun}s"),
    }
}

/// Small numbers as words, others as digits.
pub fn spelled(number: u32) -> String {
    const WORDS: [&str; 13] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    match WORDS.get(number as usize) {
        Some(word) => word.to_string(),
        None => number.to_string(),
    }
}

/// `0.012 s`, `3.4 s`, `2m 05s`, `3h 07m`.
pub fn time(seconds: f64) -> String {
    if seconds < 0.1 {
        return format!("{seconds:.3} s");
    }
    if seconds < 59.95 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds.round() as u64;
    let (minutes, rest) = (whole / 60, whole % 60);
    match minutes {
        0..60 => format!("{minutes}m {rest:02}s"),
        _ => format!("{}h {:02}m", minutes / 60, minutes % 60),
    }
}

/// A probability or share in percent, without digits that say nothing.
pub fn percent(value: f64) -> String {
    let text = if value >= 10.0 || value.fract() == 0.0 {
        format!("{value:.0}")
    } else if value >= 0.1 {
        format!("{value:.1}")
    } else {
        return "less than 0.1 %".into();
    };
    format!("{text} %")
}

/// The first line's worth of a text: what is beyond `width` characters is left out.
pub fn shortened(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_string();
    }
    let start: String = text.chars().take(width.saturating_sub(1)).collect();
    start + "…"
}

/// The part of a long line around a column, and where in it that column is.
pub fn around(line: &str, column: usize, width: usize) -> (String, usize) {
    if line.chars().count() <= width {
        return (line.to_string(), column);
    }
    let start = column.saturating_sub(width / 2);
    if start == 0 {
        return (shortened(line, width), column);
    }
    let rest: String = line.chars().skip(start + 1).collect();
    (format!("…{}", shortened(&rest, width - 1)), column - start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut_around_a_column() {
        let line = "0123456789abcdefghij";
        assert_eq!(around(line, 12, 20), (line.into(), 12));
        assert_eq!(around(line, 2, 8), ("0123456…".into(), 2));
        let (part, column) = around(line, 12, 8);
        assert_eq!((part.as_str(), column), ("…9abcde…", 4));
        assert_eq!(part.chars().nth(column), line.chars().nth(12));
        assert_eq!(around(line, 19, 8), ("…ghij".into(), 4));
    }

    #[test]
    fn numbers_in_words() {
        assert_eq!(counted(1, "test"), "1 test");
        assert_eq!(counted(0, "test"), "0 tests");
        assert_eq!(spelled(2), "two");
        assert_eq!(spelled(13), "13");
        assert_eq!(percent(1.46), "1.5 %");
        assert_eq!(percent(43.2), "43 %");
        assert_eq!(percent(0.01), "less than 0.1 %");
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(shortened("abcdef", 4), "abc…");
        assert_eq!(shortened("Größe", 5), "Größe");
    }

    #[test]
    fn times() {
        let shown = [0.0123, 0.25, 59.94, 59.96, 125.0, 3600.0, 11220.4].map(time);
        let expected = [
            "0.012 s", "0.2 s", "59.9 s", "1m 00s", "2m 05s", "1h 00m", "3h 07m",
        ];
        assert_eq!(shown, expected);
    }
}
