//! Answers one JSON object a line from standard input with one a line on standard output.
//!
//! A line that cannot be read is answered with its error, the rest is still answered, and the exit
//! status is 1.
//!
//! ```sh
//! cargo run --example decide < tests/cases/seeds.jsonl
//! ```

use std::{
    io::{self, BufRead as _, BufWriter, ErrorKind, Write as _},
    process::ExitCode,
};

use lifecycle_adapters::wire;

fn main() -> io::Result<ExitCode> {
    match filter() {
        // Whoever reads us has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        other => other,
    }
}

fn filter() -> io::Result<ExitCode> {
    let mut input = io::stdin().lock();
    let mut output = BufWriter::new(io::stdout().lock());
    let mut status = ExitCode::SUCCESS;
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        match wire::decide_bytes(&line, number) {
            None => continue,
            Some(Ok(answer)) => writeln!(output, "{answer}")?,
            Some(Err(error)) => {
                status = ExitCode::FAILURE;
                writeln!(output, "{error}")?;
            }
        }
    }
    output.flush()?;
    Ok(status)
}
