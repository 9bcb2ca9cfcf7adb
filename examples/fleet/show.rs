//! What is there to see at the end?

use comfy_table::{ContentArrangement, LineStyle, Table, presets};
use lifecycle_adapters::{store::Store as _, wire};
use lifecycle_core::{Effect, Status};
use serde_json::Value;

use super::{Failure, service::Service, story::Events};

/// Shows everything; tells whether the ledger and the rows agree.
pub(crate) async fn everything(service: &Service, events: &Events) -> Result<bool, Failure> {
    mapping(service, events).await?;
    reports(service, events).await?;
    ledger(service, events).await?;
    let kept = service.store.kept_volumes().await?;
    let kept: Vec<String> = kept
        .iter()
        .map(|one| format!("{} ({})", one.machine, one.volume))
        .collect();
    println!(
        "\nVolumes that outlived their machines: {}",
        kept.join(", ")
    );
    check(service, events).await
}

/// The decisions, each decided once more from its journal entry.
async fn mapping(service: &Service, events: &Events) -> Result<(), Failure> {
    let mut table = table(&[
        "machine",
        "what happened",
        "observation",
        "sighting",
        "rule",
        "status",
        "effects",
    ]);
    for (id, event) in events {
        for entry in service.store.journal(id).await? {
            let (Some(rule), Some(Ok(answer))) = (entry.rule, wire::decide_line(&entry.input, 1))
            else {
                continue;
            };
            let input: Value = serde_json::from_str(&entry.input)?;
            table.add_row([
                id.to_string(),
                (*event).to_owned(),
                observed(&input, &answer),
                word(&answer["sighting"]),
                rule.to_string(),
                word(&answer["to"]),
                answer["effects"]
                    .as_array()
                    .map(|all| all.iter().map(word).collect::<Vec<_>>().join(" "))
                    .unwrap_or_default(),
            ]);
        }
    }
    println!("\nWhat was seen, and what that meant\n{table}");
    Ok(())
}

fn observed(input: &Value, decided: &Value) -> String {
    let seen = &input["observation"];
    let answer = ["present", "absent", "unknown"]
        .iter()
        .find(|kind| seen[**kind].is_string())
        .map(|kind| match (*kind, decided["sighting"].as_str()) {
            ("present", Some("gone")) => "present, under another's marker".to_owned(),
            _ => format!("{kind} {}", word(&seen[*kind])),
        });
    let asked = [&input["asked"], &input["force"]]
        .into_iter()
        .find(|asked| asked.is_string());
    match (answer, asked) {
        (Some(answer), Some(asked)) => format!("{answer}, asked {}", word(asked)),
        (Some(answer), None) => answer,
        (None, Some(asked)) => format!("asked {}", word(asked)),
        (None, None) => "not asked".to_owned(),
    }
}

async fn reports(service: &Service, events: &Events) -> Result<(), Failure> {
    let mut table = table(&["machine", "phase", "desired", "actual", "detail"]);
    for id in events.keys() {
        let report = service.reconciler.report(id).await?;
        table.add_row([
            id.to_string(),
            report.phase.to_string(),
            report.desired.to_string(),
            report.actual.to_string(),
            report.detail.to_string(),
        ]);
    }
    println!("\nWhat is shown of each machine\n{table}");
    Ok(())
}

async fn ledger(service: &Service, events: &Events) -> Result<(), Failure> {
    let mut table = table(&[
        "machine",
        "generation",
        "fact",
        "at",
        "source",
        "rule",
        "volume",
    ]);
    for id in events.keys() {
        for fact in service.store.ledger(id).await? {
            table.add_row([
                id.to_string(),
                fact.generation.to_string(),
                fact.fact.to_string(),
                fact.at.to_string(),
                fact.source.to_string(),
                fact.rule.map(|rule| rule.to_string()).unwrap_or_default(),
                fact.volume.to_string(),
            ]);
        }
    }
    println!("\nThe ledger\n{table}");
    Ok(())
}

async fn check(service: &Service, events: &Events) -> Result<bool, Failure> {
    let (mut facts, mut destroyed, mut outlived, mut live) = (0, 0, 0, 0);
    for id in events.keys() {
        facts += service
            .store
            .ledger(id)
            .await?
            .iter()
            .filter(|fact| fact.fact == Effect::RecordDestroyed)
            .count();
        let status = service.row(id).await?.facts.machine().status;
        let tokens = service.tokens.live(id).await?;
        if status == Status::Destroyed {
            destroyed += 1;
            outlived += tokens;
        }
        live += tokens;
    }
    println!("Tokens that live: {live}; of destroyed machines: {outlived}");
    println!("destroy facts: {facts}, machines destroyed: {destroyed}");
    Ok(facts == destroyed && outlived == 0)
}

fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_HORIZONTAL_ONLY.row_separator(LineStyle::none()))
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(header);
    table
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or("-").to_owned()
}
