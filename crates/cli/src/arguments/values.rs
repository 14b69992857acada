//! Values of flags: times, sizes, shares, kinds of failure, names.

use std::time::Duration;

use nearmiss_abi::check::Kind;
use nearmiss_paths::build::MarkPlace;

/// A number and what follows it.
fn split_unit(text: &str) -> (&str, &str) {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    text.split_at(digits.len())
}

/// `90`, `90s`, `1.5m`, `2h`, `500ms`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let expected = || "expected a number and one of ms, s, m, h".to_string();
    let (digits, unit) = split_unit(text);
    let unit = match unit {
        "" | "s" => 1.0,
        "ms" => 0.001,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err(expected()),
    };
    let number: f64 = digits.parse().map_err(|_| expected())?;
    Duration::try_from_secs_f64(number * unit)
        .ok()
        .filter(|time| *time <= Duration::from_secs(365 * 24 * 3600))
        .ok_or_else(|| "out of range".to_string())
}

/// `100000`, `500K`, `64M`, `2G`, `1.5T`.
pub fn size(text: &str) -> Result<u64, String> {
    let expected = || "expected a number of bytes, or one with K, M, G, T".to_string();
    let (digits, unit) = split_unit(text);
    let shift = match unit.to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" => 10,
        "M" | "MB" => 20,
        "G" | "GB" => 30,
        "T" | "TB" => 40,
        _ => return Err(expected()),
    };
    let number: f64 = digits.parse().map_err(|_| expected())?;
    let bytes = number * (1u64 << shift) as f64;
    if (0.0..=(1u64 << 60) as f64).contains(&bytes) {
        Ok(bytes as u64)
    } else {
        Err("out of range".to_string())
    }
}

/// `10%`, `2.5`.
pub fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).parse::<f64>();
    number
        .ok()
        .filter(|share| *share > 0.0 && *share <= 100.0)
        .ok_or_else(|| "expected a share above 0 % and up to 100 %".to_string())
}

/// A pattern of file names.
pub fn pattern(text: &str) -> Result<String, String> {
    let checked = glob::Pattern::new(text);
    checked.map_err(|error| error.to_string())?;
    Ok(text.to_string())
}

/// The name of a kind of failure.
pub fn kind(name: &str) -> Result<Kind, String> {
    Kind::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        format!("there is no such kind; there are {}", names.join(", "))
    })
}

/// A word of a list of checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckWord {
    /// What is looked for where nothing is said.
    Default,
    /// All kinds.
    All,
    /// Code behind `__builtin_unreachable`.
    Unreachable,
    /// A kind of failure.
    Kind(Kind),
}

/// A word of a list of checks.
pub fn check(word: &str) -> Result<CheckWord, String> {
    Ok(match word {
        "default" => CheckWord::Default,
        "all" => CheckWord::All,
        "unreachable" => CheckWord::Unreachable,
        _ => {
            CheckWord::Kind(kind(word).map_err(|why| format!("{why}, default, all, unreachable"))?)
        }
    })
}

impl CheckWord {
    /// The kinds of failure that are meant.
    pub fn kinds(self) -> Vec<Kind> {
        let all = Kind::ALL.iter().copied();
        match self {
            CheckWord::Default => all.filter(|kind| !SELDOM_MEANT.contains(kind)).collect(),
            CheckWord::All => all.collect(),
            CheckWord::Unreachable => vec![Kind::Abort],
            CheckWord::Kind(kind) => vec![kind],
        }
    }

    /// The kinds whose checks programs do not have unless they are asked for.
    pub fn on_demand(self) -> Vec<Kind> {
        match self {
            CheckWord::Default | CheckWord::Kind(Kind::Abort) => Vec::new(),
            word => word.kinds(),
        }
    }
}

/// Kinds that are defined in C.
const SELDOM_MEANT: [Kind; 2] = [Kind::UnsignedOverflow, Kind::Truncation];

/// A name of C.
pub fn identifier(name: &str) -> Result<String, String> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
    match name.chars().all(is_word) && !name.starts_with(|letter: char| letter.is_ascii_digit()) {
        true if !name.is_empty() => Ok(name.to_string()),
        _ => Err("expected a name as C has them".to_string()),
    }
}

/// A variable; one inside a function with the function's name before it, `next.total`: those that know the
/// program say what can be done about it.
pub fn variable(name: &str) -> Result<String, String> {
    let parts = name.split('.').map(identifier);
    match parts.collect::<Result<Vec<_>, _>>()?.len() {
        1 | 2 => Ok(name.to_string()),
        _ => Err("expected the name of a variable".to_string()),
    }
}

/// What was explored: a function, or a harness by the name of its file.
pub fn subject(name: &str) -> Result<String, String> {
    match name.is_empty() || name.contains('/') {
        true => Err("expected the name of a function, or of a file without its ending".into()),
        false => Ok(name.to_string()),
    }
}

/// A place in the source: `FILE:LINE`, a function or label, `FUNCTION:LABEL`.
pub fn place(text: &str) -> Result<MarkPlace, String> {
    let is_name = |word: &str| {
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        !word.is_empty() && word.chars().all(is_word) && !word.starts_with(char::is_numeric)
    };
    match text.rsplit_once(':') {
        Some((file, line)) if !file.is_empty() && line.parse::<u32>().is_ok() => {
            let line = line.parse().unwrap_or(0);
            Ok(MarkPlace::Line(file.into(), line))
        }
        Some((function, label)) if is_name(function) && is_name(label) => {
            Ok(MarkPlace::Label(function.into(), label.into()))
        }
        None if is_name(text) => Ok(MarkPlace::Name(text.into())),
        _ => Err("no place: FILE:LINE, FUNCTION, LABEL or FUNCTION:LABEL".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        for bad in ["", "s", "5x", "-1", "1e300h", "ms"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(size("1000"), Ok(1000));
        assert_eq!(size("2G"), Ok(2 << 30));
        assert_eq!(size("0.5m"), Ok(512 << 10));
        for bad in ["", "G", "-1", "5x", "nan", "1e30T"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn shares() {
        assert_eq!(percent("10%"), Ok(10.0));
        assert_eq!(percent("2.5"), Ok(2.5));
        for bad in ["", "%", "0%", "101%", "-3", "nan%"] {
            assert!(percent(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn identifiers() {
        for good in ["f", "_f2", "größe"] {
            assert_eq!(identifier(good).as_deref(), Ok(good));
        }
        for bad in ["", "2f", "f()", "a.b", "x y"] {
            assert!(identifier(bad).is_err(), "{bad}");
        }
    }
}
