//! How is a table of texts drawn?

use comfy_table::{ContentArrangement, LineStyle, Table, presets};

/// Draws a table for a terminal, as wide as its texts need.
pub(super) fn text<const COLUMNS: usize>(
    header: [&str; COLUMNS],
    rows: impl Iterator<Item = [String; COLUMNS]>,
) -> String {
    page(header, rows).trim_fmt() + "\n"
}

/// Draws a table for a terminal of this width, whatever the width of the one that is there.
pub(super) fn text_within<const COLUMNS: usize>(
    width: u16,
    header: [&str; COLUMNS],
    rows: impl Iterator<Item = [String; COLUMNS]>,
) -> String {
    let mut page = page(header, rows);
    page.set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width);
    page.trim_fmt() + "\n"
}

/// Draws a Markdown table.
pub(super) fn markdown<const COLUMNS: usize>(
    header: [&str; COLUMNS],
    rows: impl Iterator<Item = [String; COLUMNS]>,
) -> String {
    let mut page = format!(
        "| {} |\n|{}\n",
        header.join(" | "),
        " --- |".repeat(COLUMNS)
    );
    for row in rows {
        page += &format!("| {} |\n", row.join(" | "));
    }
    page
}

fn page<const COLUMNS: usize>(
    header: [&str; COLUMNS],
    rows: impl Iterator<Item = [String; COLUMNS]>,
) -> Table {
    let mut page = Table::new();
    page.load_style(presets::UTF8_HORIZONTAL_ONLY.row_separator(LineStyle::none()))
        .set_header(header)
        .add_rows(rows);
    page
}
