//! Do the fuzz targets hold on stable Rust, over a corpus and random mutations of it?

use lifecycle_fuzz::{
    generate::{self, mutated},
    targets,
};

#[test]
fn lines_near_good_ones_are_answered_or_refused() {
    let corpus = lines()
        .chain((0..200).map(generate::line))
        .map(String::into_bytes);
    sweep(corpus, 20, targets::decide_line);
    sweep(
        JUNK.iter().map(|junk| junk.to_vec()),
        50,
        targets::decide_line,
    );
}

#[test]
fn policies_near_good_ones_are_accepted_as_the_reference_accepts_them() {
    let corpus = (0..1_000).map(|seed| {
        let line: serde_json::Value =
            serde_json::from_str(&generate::line(seed)).unwrap_or_default();
        line["policy"].to_string().into_bytes()
    });
    sweep(corpus, 20, targets::policy);
}

#[test]
fn numbers_and_words_write_what_they_were_read_from() {
    targets::tags(&(0..=u8::MAX).collect::<Vec<_>>());
    let words = lines().flat_map(|line| {
        line.split('"')
            .map(|word| word.as_bytes().to_vec())
            .collect::<Vec<_>>()
    });
    sweep(words, 1, targets::tags);
}

fn sweep(corpus: impl Iterator<Item = Vec<u8>>, mutations: u64, target: fn(&[u8])) {
    for (number, bytes) in (0_u64..).zip(corpus) {
        target(&bytes);
        for mutation in 0..mutations {
            target(&mutated(number * mutations + mutation, &bytes));
        }
    }
}

fn lines() -> impl Iterator<Item = String> {
    include_str!("../../tests/cases/seeds.jsonl")
        .lines()
        .chain(include_str!("../../tests/cases/field.jsonl").lines())
        .chain(include_str!("../../tests/cases/bad.jsonl").lines())
        .map(str::to_owned)
}

const JUNK: [&[u8]; 8] = [
    b"",
    b"\xff\xfe",
    b"\xe2\x80\x83",
    b"[[[[[[[[[[",
    b"{\"id\":1,\"id\":2,\"now\":3}",
    b"{\"now\":0,\"machine\":{\"status\":\"running\",\"status\":\"paused\"}}",
    b"\"\\ud800\"",
    b"{\"now\":1,\"machine\":{\"status\":\"running\",\"scope\":\"\\u0000\"}}",
];
