//! Tables of text: columns as wide as they must be.

/// Where the text of a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// At the left: names.
    Left(&'static str),
    /// At the right: numbers.
    Right(&'static str),
}

impl Column {
    fn title(self) -> &'static str {
        match self {
            Column::Left(title) | Column::Right(title) => title,
        }
    }

    fn padded(self, text: &str, width: usize) -> String {
        match self {
            Column::Left(_) => format!("{text:<width$}"),
            Column::Right(_) => format!("{text:>width$}"),
        }
    }
}

/// A line with titles, then one for each row.
pub fn table(columns: &[Column], rows: &[Vec<String>], indent: &str) -> String {
    let titles: Vec<String> = columns.iter().map(|it| it.title().to_string()).collect();
    let lines: Vec<&Vec<String>> = std::iter::once(&titles).chain(rows).collect();
    let width = |index: usize| {
        let widths = lines.iter().filter_map(|line| line.get(index));
        widths.map(|text| text.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let mut text = String::new();
    for line in lines {
        let cells = line.iter().zip(columns).zip(&widths);
        let cells: Vec<String> = cells
            .map(|((cell, column), width)| column.padded(cell, *width))
            .collect();
        text += format!("{indent}{}", cells.join("  ")).trim_end();
        text.push('\n');
    }
    text
}

/// The same for programs: titles and cells with tabs between them.
pub fn tab_separated(titles: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut text = titles.join("\t") + "\n";
    for row in rows {
        text += &row.join("\t");
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let row = |name: &str, number: u64| vec![name.to_string(), number.to_string()];
        let columns = [Column::Left("name"), Column::Right("n")];
        let rows = [row("a", 5), row("Größer", 100)];
        assert_eq!(
            table(&columns, &rows, " "),
            " name      n\n a         5\n Größer  100\n"
        );
        assert_eq!(
            tab_separated(&["name", "n"], rows.into_iter()),
            "name\tn\na\t5\nGrößer\t100\n"
        );
    }
}
