//! How long does a look-up take beside the plain match, and does it allocate?
//!
//! ```sh
//! cargo bench --bench table
//! ```

use core::{hint::black_box, time::Duration};
use std::{alloc::System, process::ExitCode, sync::LazyLock, time::Instant};

use lifecycle_core::{
    Answer, Asked, Cell, Choices, Machine, Observation, Policy, Power, Source, Table, Timestamp,
    answer, decide,
};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() -> ExitCode {
    // What the timing itself needs is allocated before anything is counted.
    let cells = LazyLock::force(&CELLS).as_slice();
    let now = Timestamp::from_millis(10_000_000);
    let machine = Machine::new("account-1/eu", None, Timestamp::from_millis(0));
    let seen = Observation::of(
        &machine,
        Answer::Present(Power::Running),
        now,
        Source::Sweep,
    );

    let region = Region::new(ALLOCATOR);
    let look_up = fastest(cells, |cell| {
        black_box(Table::DEFAULT).answer(cell).to as u32
    });
    let plain_match = fastest(cells, |cell| {
        answer(cell, black_box(Choices::DEFAULT)).to as u32
    });
    let decision = fastest(cells, |cell| {
        let machine = Machine {
            status: cell.status,
            volume: cell.volume,
            compute: cell.compute,
            ..machine
        };
        decide(
            &machine,
            Some(&seen),
            Asked::NOTHING,
            now,
            &Policy::CAUTIOUS,
        )
        .transition
        .to as u32
    });
    let allocations = region.change().allocations;

    println!("table look-up {look_up:8.2} ns");
    println!("plain match   {plain_match:8.2} ns");
    println!("decide        {decision:8.2} ns");
    println!("allocations   {allocations:8}");
    if allocations == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Returns the nanoseconds of one call in the fastest of many passes over every cell.
fn fastest(cells: &[Cell], ask: impl Fn(Cell) -> u32) -> f64 {
    let pass = || {
        let start = Instant::now();
        for cell in cells {
            black_box(ask(black_box(*cell)));
        }
        start.elapsed()
    };
    let best = (0..PASSES).map(|_| pass()).min().unwrap_or(Duration::MAX);
    best.as_secs_f64() * 1e9 / CELLS.len() as f64
}

const PASSES: usize = 2_000;

/// Every cell once, in an order that no branch predictor can learn from the row before.
static CELLS: LazyLock<Vec<Cell>> = LazyLock::new(|| {
    // 1117 shares no factor with 4704, so that the steps meet every cell.
    (0..Cell::COUNT)
        .map(|place| Cell::nth(place * 1_117 % Cell::COUNT))
        .collect()
});
