//! Shows what every observation means for every machine, from the code.
//!
//! ```sh
//! cargo run --example status_mapping
//! cargo run --example status_mapping -- --format csv --compute-lost destroy
//! ```

mod cases;
mod draw;
mod mermaid;
mod rules;

use core::str::FromStr;
use std::{
    io::{self, ErrorKind, Write as _},
    process::ExitCode,
};

use clap::{
    Parser, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
use lifecycle_adapters::policies::table_of;
use lifecycle_core::{
    Cell, Choices, ComputeLost, LateArrival, Orphan, RevokeOnComputeLost, Table, Transition,
    UnknownWord, VolumeAfterQuarantine,
};

/// Shows what every observation means for every machine.
///
/// A choice that is given also replaces that choice in the policies of the cases.
#[derive(Parser, Debug)]
struct Flags {
    /// What to print: rules and cases as text or Markdown, every cell as csv, arrows as mermaid
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Compute is gone, the volume is there [keep]
    #[arg(long, value_name = "CHOICE", value_parser = word::<ComputeLost>(ComputeLost::WORDS))]
    compute_lost: Option<ComputeLost>,
    /// The quarantine is over and the volume is owned [destroy]
    #[arg(long, value_name = "CHOICE", value_parser = word::<VolumeAfterQuarantine>(VolumeAfterQuarantine::WORDS))]
    volume_after_quarantine: Option<VolumeAfterQuarantine>,
    /// A failed machine is seen after all [adopt]
    #[arg(long, value_name = "CHOICE", value_parser = word::<LateArrival>(LateArrival::WORDS))]
    late_arrival: Option<LateArrival>,
    /// A destroyed machine is seen alive [report]
    #[arg(long, value_name = "CHOICE", value_parser = word::<Orphan>(Orphan::WORDS))]
    orphan: Option<Orphan>,
    /// Whether credentials are revoked when compute is lost [false]
    #[arg(long, value_name = "CHOICE", value_parser = word::<RevokeOnComputeLost>(RevokeOnComputeLost::WORDS))]
    revoke_on_compute_lost: Option<RevokeOnComputeLost>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Text,
    Markdown,
    Csv,
    Mermaid,
}

fn main() -> io::Result<ExitCode> {
    let flags = Flags::parse();
    let table = table_of(flags.choices());
    let page = match flags.format {
        Format::Text => rules::text(table) + "\n" + &cases::text(&flags.given()),
        Format::Markdown => rules::markdown(table) + "\n" + &cases::markdown(&flags.given()),
        Format::Csv => csv(table),
        Format::Mermaid => mermaid::diagram(table),
    };
    match io::stdout().lock().write_all(page.as_bytes()) {
        // Whoever reads us has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        other => other.map(|()| ExitCode::SUCCESS),
    }
}

impl Flags {
    fn choices(&self) -> Choices {
        let default = Choices::DEFAULT;
        Choices {
            compute_lost: self.compute_lost.unwrap_or(default.compute_lost),
            volume_after_quarantine: self
                .volume_after_quarantine
                .unwrap_or(default.volume_after_quarantine),
            late_arrival: self.late_arrival.unwrap_or(default.late_arrival),
            orphan: self.orphan.unwrap_or(default.orphan),
            revoke_on_compute_lost: self
                .revoke_on_compute_lost
                .unwrap_or(default.revoke_on_compute_lost),
        }
    }

    /// Returns the choices that were given, as the overrides of a policy are written.
    fn given(&self) -> Vec<(&'static str, &'static str)> {
        [
            self.compute_lost
                .map(|choice| ("compute_lost", choice.word())),
            self.volume_after_quarantine
                .map(|choice| ("volume_after_quarantine", choice.word())),
            self.late_arrival
                .map(|choice| ("late_arrival", choice.word())),
            self.orphan.map(|choice| ("orphan", choice.word())),
            self.revoke_on_compute_lost
                .map(|choice| ("revoke_on_compute_lost", choice.word())),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// Writes every cell, the last column fastest.
fn csv(table: &Table) -> String {
    let mut page =
        String::from("status,sighting,volume,quarantine,compute,force,to,effects,rule\n");
    for cell in Cell::all() {
        let Cell {
            status,
            sighting,
            volume,
            quarantine,
            compute,
            force,
        } = cell;
        let Transition { to, effects, rule } = table.answer(cell);
        page += &format!(
            "{status},{sighting},{volume},{quarantine},{compute},{force},{to},{effects},{rule}\n"
        );
    }
    page
}

/// Accepts the words of an enum of ours.
fn word<T>(words: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = UnknownWord> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(words).try_map(|word| word.parse())
}
